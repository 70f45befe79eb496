import { type Executor, REPLACES } from '../core/executor.ts';
import { describe } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { toResult } from '../core/tool-result.ts';

/** Runs a call of the fake. Its return value becomes the result, as with a function tool. */
type Fake = (...args: Parameters<Executor['execute']>) => unknown;

/** A fake executor for tests, for `createCrib({ executors })`. It replaces the executor of its kind; specs are still validated. */
export function fakeExecutor(kind: string, execute: Fake): Executor {
  if (typeof kind !== 'string' || kind === '')
    throw new ToolcribError('invalid_option', `fakeExecutor takes the name of a kind, got ${describe(kind)}.`);
  if (typeof execute !== 'function')
    throw new ToolcribError(
      'invalid_option',
      `fakeExecutor takes a function that runs calls, got ${describe(execute)}.`,
    );
  return Object.freeze({
    kind,
    runSchema: { type: 'object' },
    execute: async (...args: Parameters<Fake>) => toResult(await execute(...args)),
    [REPLACES]: true as const,
  });
}
