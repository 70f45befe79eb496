import { ok } from 'node:assert/strict';
import type { Executor } from '../core/executor.ts';
import type { ContractTest } from './executor-contract.ts';
import type { ExecutorSubject, HangingCase } from './executor-subject.ts';
import { callOnce, type StartedCall, startCall, withExecutor, within } from './one-call.ts';

/** How calls and the executor itself end. */
export function endingLaws(subject: ExecutorSubject): readonly ContractTest[] {
  const { works, hangs } = subject;
  const law = (name: string, test: (executor: Executor) => Promise<void>): ContractTest => ({
    name,
    run: () => withExecutor(subject, test),
  });
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

function hangingLaws(
  law: (name: string, test: (executor: Executor) => Promise<void>) => ContractTest,
  hangs: HangingCase,
): readonly ContractTest[] {
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
