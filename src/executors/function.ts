import type { Executor } from '../core/executor.ts';
import { isPromise, type JsonValue, type MaybePromise } from '../core/json.ts';
import { PARSED, type ToolCall } from '../core/tool-call.ts';
import type { ToolResult } from '../core/tool-result.ts';
import type { Run } from '../core/tool-spec.ts';
import { toResult } from '../runtime/to-result.ts';

/** How a function of this process runs. */
interface FunctionRun extends Run {
  readonly kind: 'function';
  readonly run: (input: never, call: ToolCall) => unknown;
}

/** How many values an iterator may yield before timers and other work get a turn. */
const YIELDS_PER_TURN = 256;

/** Runs functions of this process: sync, async, and async iterators whose values are progress. */
export function functionExecutor(): Executor {
  return {
    kind: 'function',
    runSchema: { type: 'object', required: ['run'] },
    execute(call, run) {
      const { run: work } = run as FunctionRun; // the kind was looked up by the pipeline
      const value = work(call[PARSED] as never, call); // validated against the very schema its type comes from
      return isPromise(value) ? value.then((settled) => finish(settled, call)) : finish(value, call);
    },
  };
}

function finish(value: unknown, call: ToolCall): MaybePromise<ToolResult> {
  return isAsyncIterable(value) ? collect(value, call).then(toResult) : toResult(value);
}

/** Reports each value as progress; the answer is what the generator returns, else the list of what it yielded. */
async function collect(values: AsyncIterable<unknown>, call: ToolCall): Promise<unknown> {
  const iterator = values[Symbol.asyncIterator]();
  const collected: unknown[] = [];
  const { signal } = call;
  while (!signal.aborted) {
    const step = await iterator.next();
    if (signal.aborted) break;
    if (step.done === true) return step.value === undefined ? collected : step.value;
    collected.push(step.value);
    call.report(step.value as JsonValue); // progress is shown, not stored: the result is checked to be JSON
    // An iterator that never really waits would otherwise starve the timer that is to stop it.
    if (collected.length % YIELDS_PER_TURN === 0) await new Promise(setImmediate);
  }
  await iterator.return?.();
  throw signal.reason;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
