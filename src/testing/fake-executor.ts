import { type Executor, REPLACES } from '../core/executor.ts';
import { describe } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { toResult } from '../core/tool-result.ts';

/** What a fake runs instead: its value becomes a result as that of a function does. */
type Fake = (...args: Parameters<Executor['execute']>) => unknown;

/** An executor for tests that takes the place of the one of its kind in `createCrib({ executors })`. Specs are checked as before; nothing of the replaced executor runs. */
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
