import { equal, ok } from 'node:assert/strict';
import type { Executor } from '../core/executor.ts';
import { canonicalJson } from '../core/json.ts';
import { textOf } from '../core/tool-result.ts';
import type { ContractTest } from './executor-contract.ts';
import type { ContractCase, ExecutorSubject, FailingCase, WorkingCase } from './executor-subject.ts';
import { callOnce, sayNothing, settle, withExecutor } from './one-call.ts';
import { testCall } from './test-call.ts';

/** How often each working call is made at the same time as all others. */
const AT_ONCE = 8;

/** How an executor answers. */
export function answerLaws(subject: ExecutorSubject): readonly ContractTest[] {
  const { works, fails = [], floods, unspeakable = [] } = subject;
  const law = (name: string, test: (executor: Executor) => Promise<void>): ContractTest => ({
    name,
    run: () => withExecutor(subject, test),
  });
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
