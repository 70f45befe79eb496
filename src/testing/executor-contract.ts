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

/** One law, for any test runner: `test(name, run)`. */
export interface ContractTest {
  readonly name: string;
  /** Rejects if the executor breaks it. */
  run(): Promise<void>;
}

/** A law that is tested with an executor of its own. */
type Law = (name: string, test: (executor: Executor) => MaybePromise<void>) => ContractTest;

/** What every executor keeps to: how its runs are checked, how it answers, and that nothing outlives a call. */
export function executorContract(subject: ExecutorSubject): readonly ContractTest[] {
  const law: Law = (name, test) => ({ name, run: () => withExecutor(subject, test) });
  return [runLaws, answerLaws, endingLaws].flatMap((laws) => laws(law, subject));
}

/** What an executor says about runs before anything runs. */
function runLaws(law: Law, { works, badRuns, unspeakable = [] }: ExecutorSubject): readonly ContractTest[] {
  return [
    law('it has a kind, a schema of its runs and a way to execute them', requireShape),
    law('it finds nothing wrong with runs that work', (executor) => {
      for (const work of works) {
        const issues = issuesOf(executor, work);
        ok(issues.length === 0, `A run that works is refused: ${issues.join('; ')}`);
      }
    }),
    ...badRuns.map((bad) =>
      law(`it refuses a run before it is called: ${bad.what}`, (executor) => {
        const issues = issuesOf(executor, bad);
        ok(issues.length > 0, 'Neither runSchema nor check() finds anything wrong.');
        for (const issue of issues) sayNothing(issue, unspeakable);
      }),
    ),
  ];
}

function requireShape({ kind, runSchema, execute, check, close }: Executor): void {
  ok(typeof kind === 'string' && /^[A-Za-z][\w-]*$/.test(kind), `kind is no plain word: ${JSON.stringify(kind)}`);
  ok(typeof execute === 'function', 'execute is no function.');
  ok(check === undefined || typeof check === 'function', 'check is no function.');
  ok(close === undefined || typeof close === 'function', 'close is no function.');
  ok(runSchema?.type === 'object', 'runSchema must describe an object: { type: "object", ... }.');
  compile(runSchema);
}

/** What the executor itself says against a run, in the order in which a crib asks. */
function issuesOf(executor: Executor, { run, spec }: Pick<ContractCase, 'run' | 'spec'>): readonly string[] {
  const validate = compile(executor.runSchema);
  if (!validate({ ...run }))
    return (validate.errors ?? []).map(({ instancePath, message }) => `run${instancePath} ${message}`);
  const whole = testSpec({ run, ...(spec !== undefined && { spec }) });
  const issues = executor.check?.(run, whole) ?? [];
  ok(
    Array.isArray(issues) && issues.every((issue) => typeof issue === 'string' && issue !== ''),
    'check() must return sentences.',
  );
  return issues;
}

function compile(schema: Executor['runSchema']) {
  try {
    return new Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false }).compile(schema);
  } catch (cause) {
    throw new Error(`runSchema is no JSON Schema: ${messageOf(cause)}`, { cause });
  }
}

/** How often each working call is made at the same time as all others. */
const AT_ONCE = 8;

/** How an executor answers. */
function answerLaws(law: Law, subject: ExecutorSubject): readonly ContractTest[] {
  const { works, fails = [], floods, unspeakable = [] } = subject;
  return [
    law('it answers with a result whose data is JSON', async (executor) => {
      for (const work of works) await requireAnswer(executor, work);
    }),
    law('it changes neither the arguments nor the run', async (executor) => {
      for (const work of works) await requireUntouched(executor, work);
    }),
    law('calls that run at once are not mixed up', async (executor) => {
      const all = Array.from({ length: AT_ONCE }, () => works).flat();
      await Promise.all(all.map((work) => requireAnswer(executor, work)));
    }),
    ...(fails.length === 0
      ? []
      : [
          law('it fails in words that tell neither how the tool runs nor a secret', async (executor) => {
            for (const failing of fails) await requireFailure(executor, failing, unspeakable);
          }),
          law('a call that fails leaves the next one unharmed', async (executor) => {
            await Promise.all(fails.map((failing) => callOnce(executor, failing)));
            await requireAnswer(executor, works[0]);
          }),
        ]),
    ...(floods === undefined
      ? []
      : [
          law('an answer without end is given up as too_large', async (executor) => {
            await requireTooLarge(executor, floods);
            await requireAnswer(executor, works[0]);
          }),
        ]),
  ];
}

async function requireAnswer(executor: Executor, work: WorkingCase): Promise<void> {
  const result = await callOnce(executor, work);
  ok(result.ok, `A call that should work does not: ${textOf(result)}`);
  await work.expect(result);
}

async function requireUntouched(executor: Executor, { run, input: given = {}, spec = {} }: WorkingCase): Promise<void> {
  const input = structuredClone(given); // not frozen: a change shows, and does not only fail
  const before = canonicalJson([{ ...run }, input]);
  await settle(executor, testCall({ run, input, spec }), run);
  equal(canonicalJson([{ ...run }, input]), before);
}

async function requireFailure(executor: Executor, failing: FailingCase, unspeakable: readonly string[]): Promise<void> {
  const result = await callOnce(executor, failing);
  ok(!result.ok, `A call that should fail does not: ${textOf(result)}`);
  sayNothing(JSON.stringify(result), unspeakable, failing);
  await failing.expect?.(result);
}

async function requireTooLarge(executor: Executor, floods: ContractCase): Promise<void> {
  const result = await callOnce(executor, floods);
  ok(result.status === 'failed', 'An answer without end ends well.');
  equal(result.error.code, 'too_large');
}

/** How calls and the executor itself end. */
function endingLaws(law: Law, { works, hangs }: ExecutorSubject): readonly ContractTest[] {
  return [
    law('a call that was aborted before it began does not succeed', async (executor) => {
      // Whoever only listens for the event would wait for ever.
      const { result } = startCall(executor, hangs ?? works[0], (call) => call.abort());
      ok(!(await result).ok, 'It runs what was called off.');
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
    law('a call that is aborted ends, and nothing of its work is left', async (executor) => {
      const { call, result } = await begin(executor, hangs);
      call.abort();
      ok(!(await result).ok, 'A call that was aborted succeeds.');
      await requireGone(hangs);
    }),
    law('one call is aborted, and another goes on', async (executor) => {
      const first = await begin(executor, hangs);
      const second = await begin(executor, hangs);
      let isSettled = false;
      const settle = () => {
        isSettled = true;
      };
      second.result.then(settle, settle);
      first.call.abort();
      await first.result;
      ok(!isSettled, 'A call ends with another one.');
      second.call.abort();
      await second.result;
      await requireGone(hangs);
    }),
    law('closing it ends the calls that still run', async (executor) => {
      const { result } = await begin(executor, hangs);
      await within(Promise.resolve(executor.close?.()), 'close() waits for a call that never ends.');
      ok(!(await result).ok, 'A call that was cut off succeeds.');
      await requireGone(hangs);
    }),
  ];
}

async function begin(executor: Executor, hangs: HangingCase): Promise<StartedCall> {
  const started = startCall(executor, hangs);
  const early = started.result.then(({ status }) => {
    throw new Error(`A call that should never end by itself has ended: ${status}.`);
  });
  early.catch(() => {}); // from now on it is meant to end, and whoever waits for the result is told
  await within(Promise.race([early, hangs.begun()]), 'The work does not begin.');
  return started;
}

async function requireGone(hangs: HangingCase): Promise<void> {
  ok(await within(Promise.resolve(hangs.isGone()), 'isGone() does not answer.'), 'Something of the work is left.');
}
