import type { Kind } from '../../config/records.ts';
import { deferRun } from '../../core/begun-runs.ts';
import type { Executor } from '../../core/executor.ts';
import { isPromise, type JsonValue, type MaybePromise } from '../../core/json.ts';
import { PARSED, type ToolCall } from '../../core/tool-call.ts';
import { toolError } from '../../core/tool-error.ts';
import { failed, type ToolResult, toResult } from '../../core/tool-result.ts';
import type { Run } from '../../core/tool-spec.ts';
import type { ExportedFunctions } from './exported-functions.ts';

/** How a function of this process runs: it is here, or exported by a module that a spec names. */
interface FunctionRun extends Run {
  readonly kind: 'function';
  readonly run?: (input: never, call: ToolCall) => unknown;
}

/** What a spec says of a function that a module exports; one that is here needs no check. */
const RUN_SCHEMA = {
  type: 'object',
  required: ['module'],
  properties: {
    kind: { const: 'function' },
    module: { type: 'string', minLength: 1 },
    export: { type: 'string', minLength: 1 },
    folder: { type: 'string', minLength: 1 },
  },
  additionalProperties: false,
} as const;

/** Functions of this process. Every crib has their executor, with a configuration or without. */
export const functionKind: Kind<'function'> = {
  kind: 'function',
  pathFields: ['module'],
  findsModules: 'byName',
  runsOwnCode: true,
  failsWith: 'nothing',
};

/** How many values an iterator may yield before timers and other work get a turn. */
const YIELDS_PER_TURN = 256;

/** Runs functions of this process: sync, async, and async iterators whose values are progress. */
export function functionExecutor(): Executor {
  let exported: Promise<ExportedFunctions> | undefined;
  const load = async (): Promise<ExportedFunctions> =>
    (await import('./exported-functions.ts')).createExportedFunctions();
  return {
    kind: 'function',
    runSchema: RUN_SCHEMA,
    async close() {
      (await exported)?.close();
    },
    execute(call, run) {
      const { run: work } = run as FunctionRun; // the kind was looked up by the pipeline
      if (work === undefined) {
        exported ??= load();
        return exported.then((functions) => runExported(functions, call, run));
      }
      const value = work(call[PARSED] as never, call); // validated against the very schema its type comes from
      return isPromise(value) ? value.then((settled) => finish(settled, call)) : finish(value, call);
    },
  };
}

async function runExported(functions: ExportedFunctions, call: ToolCall, run: Run): Promise<ToolResult> {
  const deferred = deferRun(call);
  const found = await functions.find(run);
  if ('problem' in found)
    return failed(toolError('unavailable', `"${call.spec.name}" cannot be called: ${found.problem}.`));
  if (!deferred.begin()) throw call.signal.reason; // ended while its module was being loaded
  return finish(await found.work(call[PARSED], call), call);
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
