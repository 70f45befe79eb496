import { isAbsolute, join } from 'node:path';
import type { Kind, KindPorts } from '../../config/records.ts';
import { deferRun } from '../../core/begun-runs.ts';
import type { Executor } from '../../core/executor.ts';
import { isPromise, type JsonValue, type MaybePromise } from '../../core/json.ts';
import { PARSED, type ToolCall } from '../../core/tool-call.ts';
import { toolError } from '../../core/tool-error.ts';
import { failed, type ToolResult, toResult } from '../../core/tool-result.ts';
import type { Run } from '../../core/tool-spec.ts';
import { resolveModule } from '../../system/modules/import-module.ts';
import type { ExportedFunctions, NamedRun } from './exported-functions.ts';

/** The `run` of a function: given directly, or exported by a module that a spec names. */
interface FunctionRun extends Run {
  readonly kind: 'function';
  readonly run?: (input: never, call: ToolCall) => unknown;
}

/** The schema of a `run` that names a module; a function given directly needs no check. */
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

/** Functions of this process. */
export const functionKind: Kind<'function'> = {
  kind: 'function',
  pathFields: ['module'],
  findsModules: 'byName',
  runsOwnCode: true,
  failsWith: 'nothing',
  open: async ({ noteCode }) => ({ executor: functionExecutor(noteCode) }),
};

/** Number of values an iterator may yield before the event loop gets a turn. */
const YIELDS_PER_TURN = 256;

/** Runs functions of this process: sync, async, and async iterators, whose values are reported as progress. */
export function functionExecutor(noteCode?: KindPorts['noteCode']): Executor {
  let exported: Promise<ExportedFunctions> | undefined;
  const load = async (): Promise<ExportedFunctions> =>
    (await import('./exported-functions.ts')).createExportedFunctions();
  return {
    kind: 'function',
    runSchema: RUN_SCHEMA,
    check(run, spec) {
      noteCode?.(spec, codeOf(run as NamedRun)); // checked by the schema above
      return [];
    },
    runsFiles: () => true,
    async close() {
      (await exported)?.close();
    },
    execute(call, run) {
      const { run: work } = run as FunctionRun; // the pipeline selected the executor by kind
      if (work === undefined) {
        exported ??= load();
        return exported.then((functions) => runExported(functions, call, run));
      }
      const value = work(call[PARSED] as never, call); // validated against the schema that its type comes from
      return isPromise(value) ? value.then((settled) => finish(settled, call)) : finish(value, call);
    },
  };
}

/** The files that decide what an import of the module runs. */
function codeOf({ module, folder = '.' }: NamedRun): readonly string[] {
  const packages = isAbsolute(module) || module.startsWith('.') ? [] : [join(folder, 'node_modules')];
  try {
    return [...packages, resolveModule(module, folder)];
  } catch {
    return packages; // a package that is not installed
  }
}

async function runExported(functions: ExportedFunctions, call: ToolCall, run: Run): Promise<ToolResult> {
  const deferred = deferRun(call);
  const found = await functions.find(run);
  if ('problem' in found)
    return failed(toolError('unavailable', `"${call.spec.name}" cannot be called: ${found.problem}.`));
  if (!deferred.begin()) throw call.signal.reason; // cancelled while its module was loading
  return finish(await found.work(call[PARSED], call), call);
}

function finish(value: unknown, call: ToolCall): MaybePromise<ToolResult> {
  const { output } = call.spec;
  return isAsyncIterable(value)
    ? collect(value, call).then((collected) => toResult(collected, output))
    : toResult(value, output);
}

/** Reports each value as progress. The result is the generator's return value, or the list of its values. */
async function collect(values: AsyncIterable<unknown>, call: ToolCall): Promise<unknown> {
  const iterator = values[Symbol.asyncIterator]();
  const collected: unknown[] = [];
  const { signal } = call;
  while (!signal.aborted) {
    const step = await iterator.next();
    if (signal.aborted) break;
    if (step.done === true) return step.value === undefined ? collected : step.value;
    collected.push(step.value);
    call.report(step.value as JsonValue); // progress is only shown; the result is checked to be JSON
    // An iterator that never waits would otherwise block the timer that stops it.
    if (collected.length % YIELDS_PER_TURN === 0) await new Promise(setImmediate);
  }
  await iterator.return?.();
  throw signal.reason;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
