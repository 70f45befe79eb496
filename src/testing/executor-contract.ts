import { equal, ok } from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Executor } from '../core/executor.ts';
import { canonicalJson, type MaybePromise } from '../core/json.ts';
import { messageOf } from '../core/tool-error.ts';
import { textOf } from '../core/tool-result.ts';
import {
  type ContractCase,
  callOnce,
  type ExecutorSubject,
  type FailingCase,
  type HangingCase,
  type StartedCall,
  sayNothing,
  settle,
  startCall,
  type WorkingCase,
  withExecutor,
  within,
} from './one-call.ts';
import { testCall, testSpec } from './test-call.ts';

/** One contract test, for any test runner: `test(name, run)`. */
export interface ContractTest {
  readonly name: string;
  /** Rejects if the executor breaks the contract. */
  run(): Promise<void>;
}

/** Creates a contract test that gets its own executor. */
type Law = (name: string, test: (executor: Executor) => MaybePromise<void>) => ContractTest;

/** The contract of executors: runs are validated, results are well-formed, and nothing outlives a call. */
export function executorContract(subject: ExecutorSubject): readonly ContractTest[] {
  const law: Law = (name, test) => ({ name, run: () => withExecutor(subject, test) });
  return [runLaws, answerLaws, endingLaws].flatMap((laws) => laws(law, subject));
}

/** Tests of validation before a call. */
function runLaws(law: Law, { works, badRuns, unspeakable = [] }: ExecutorSubject): readonly ContractTest[] {
  return [
    law('it has a kind, a schema of its runs and a way to execute them', requireShape),
    law('it accepts valid runs', (executor) => {
      for (const work of works) {
        const issues = issuesOf(executor, work);
        ok(issues.length === 0, `The executor refuses a valid run: ${issues.join('; ')}`);
      }
    }),
    ...badRuns.map((bad) =>
      law(`it refuses an invalid run before a call: ${bad.what}`, (executor) => {
        const issues = issuesOf(executor, bad);
        ok(issues.length > 0, 'Neither runSchema nor check() reports a problem.');
        for (const issue of issues) sayNothing(issue, unspeakable);
      }),
    ),
  ];
}

function requireShape({ kind, runSchema, execute, check, close }: Executor): void {
  ok(
    typeof kind === 'string' && /^[A-Za-z][\w-]*$/.test(kind),
    `kind must be a letter followed by letters, digits, "_" or "-", not ${JSON.stringify(kind)}.`,
  );
  ok(typeof execute === 'function', 'execute is not a function.');
  ok(check === undefined || typeof check === 'function', 'check is not a function.');
  ok(close === undefined || typeof close === 'function', 'close is not a function.');
  ok(runSchema?.type === 'object', 'runSchema must describe an object: { type: "object", ... }.');
  compile(runSchema);
}

/** The issues of a run, checked in the same order as in a crib. */
function issuesOf(executor: Executor, { run, spec }: Pick<ContractCase, 'run' | 'spec'>): readonly string[] {
  const validate = compile(executor.runSchema);
  if (!validate({ ...run }))
    return (validate.errors ?? []).map(({ instancePath, message }) => `run${instancePath} ${message}`);
  const whole = testSpec({ run, ...(spec !== undefined && { spec }) });
  const issues = executor.check?.(run, whole) ?? [];
  ok(
    Array.isArray(issues) && issues.every((issue) => typeof issue === 'string' && issue !== ''),
    'check() must return a list of non-empty texts.',
  );
  return issues;
}

function compile(schema: Executor['runSchema']) {
  try {
    return new Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false }).compile(schema);
  } catch (cause) {
    throw new Error(`runSchema is not a valid JSON Schema: ${messageOf(cause)}`, { cause });
  }
}

/** Number of concurrent repetitions of each working call. */
const AT_ONCE = 8;

/** Tests of results. */
function answerLaws(law: Law, subject: ExecutorSubject): readonly ContractTest[] {
  const { works, fails = [], floods, unspeakable = [] } = subject;
  return [
    law('it returns a result whose data is JSON', async (executor) => {
      for (const work of works) await requireAnswer(executor, work);
    }),
    law('it changes neither the arguments nor the run', async (executor) => {
      for (const work of works) await requireUntouched(executor, work);
    }),
    law('concurrent calls are not mixed up', async (executor) => {
      const all = Array.from({ length: AT_ONCE }, () => works).flat();
      await Promise.all(all.map((work) => requireAnswer(executor, work)));
    }),
    ...(fails.length === 0
      ? []
      : [
          law('its errors reveal neither how the tool runs nor a secret', async (executor) => {
            for (const failing of fails) await requireFailure(executor, failing, unspeakable);
          }),
          law('a failed call does not affect the next one', async (executor) => {
            await Promise.all(fails.map((failing) => callOnce(executor, failing)));
            await requireAnswer(executor, works[0]);
          }),
        ]),
    ...(floods === undefined
      ? []
      : [
          law('an endless result fails as too_large', async (executor) => {
            await requireTooLarge(executor, floods);
            await requireAnswer(executor, works[0]);
          }),
        ]),
  ];
}

async function requireAnswer(executor: Executor, work: WorkingCase): Promise<void> {
  const result = await callOnce(executor, work);
  ok(result.ok, `A call that should succeed failed: ${textOf(result)}`);
  await work.expect(result);
}

async function requireUntouched(executor: Executor, { run, input: given = {}, spec = {} }: WorkingCase): Promise<void> {
  const input = structuredClone(given); // not frozen, so that a change is visible instead of throwing
  const before = canonicalJson([{ ...run }, input]);
  await settle(executor, testCall({ run, input, spec }), run);
  equal(canonicalJson([{ ...run }, input]), before);
}

async function requireFailure(executor: Executor, failing: FailingCase, unspeakable: readonly string[]): Promise<void> {
  const result = await callOnce(executor, failing);
  ok(!result.ok, `A call that should fail succeeded: ${textOf(result)}`);
  sayNothing(JSON.stringify(result), unspeakable, failing);
  await failing.expect?.(result);
}

async function requireTooLarge(executor: Executor, floods: ContractCase): Promise<void> {
  const result = await callOnce(executor, floods);
  ok(result.status === 'failed', 'A call with an endless result did not fail.');
  equal(result.error.code, 'too_large');
}

/** Tests of cancellation and of closing. */
function endingLaws(law: Law, { works, hangs }: ExecutorSubject): readonly ContractTest[] {
  return [
    law('a call that is aborted before its start does not succeed', async (executor) => {
      // An executor that only listens for the abort event would hang.
      const { result } = startCall(executor, hangs ?? works[0], (call) => call.abort());
      ok(!(await result).ok, 'An aborted call succeeded.');
    }),
    law('it can be closed twice, and before its first call', async (executor) => {
      await executor.close?.();
      await executor.close?.();
    }),
    law('it can be closed after a call', async (executor) => {
      await callOnce(executor, works[0]);
      await Promise.all([executor.close?.(), executor.close?.()]);
    }),
    ...(hangs === undefined ? [] : hangingLaws(law, hangs)),
  ];
}

function hangingLaws(law: Law, hangs: HangingCase): readonly ContractTest[] {
  return [
    law('an aborted call ends and leaves no work behind', async (executor) => {
      const { call, result } = await begin(executor, hangs);
      call.abort();
      ok(!(await result).ok, 'An aborted call succeeded.');
      await requireGone(hangs);
    }),
    law('aborting one call does not affect another', async (executor) => {
      const first = await begin(executor, hangs);
      const second = await begin(executor, hangs);
      let isSettled = false;
      const settle = () => {
        isSettled = true;
      };
      second.result.then(settle, settle);
      first.call.abort();
      await first.result;
      ok(!isSettled, 'Aborting one call ended another one.');
      second.call.abort();
      await second.result;
      await requireGone(hangs);
    }),
    law('closing it ends running calls', async (executor) => {
      const { result } = await begin(executor, hangs);
      await within(Promise.resolve(executor.close?.()), 'close() waits for a call that never ends.');
      ok(!(await result).ok, 'A call succeeded although its executor was closed.');
      await requireGone(hangs);
    }),
  ];
}

async function begin(executor: Executor, hangs: HangingCase): Promise<StartedCall> {
  const started = startCall(executor, hangs);
  const early = started.result.then(({ status }) => {
    throw new Error(`A call that should hang has ended: ${status}.`);
  });
  early.catch(() => {}); // later the call is supposed to end; errors reach the result
  await within(Promise.race([early, hangs.begun()]), 'The work does not start.');
  return started;
}

async function requireGone(hangs: HangingCase): Promise<void> {
  ok(await within(Promise.resolve(hangs.isGone()), 'isGone() does not return.'), 'The work left something behind.');
}
