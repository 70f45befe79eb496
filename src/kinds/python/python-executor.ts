import { basename, dirname, isAbsolute, join } from 'node:path';
import { deferRun, mayBeRepeated } from '../../core/begun-runs.ts';
import type { Executor } from '../../core/executor.ts';
import { isJson, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { type ToolError, toolError } from '../../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult, toResult } from '../../core/tool-result.ts';
import { type Need, type Run, readNeed, type ToolSpec } from '../../core/tool-spec.ts';
import { surelyTakesNoCall } from './python-signature.ts';
import { MAX_ANSWER_BYTES, PythonFailure } from './python-worker.ts';
import type { PythonAnswer, PythonWorkers } from './python-workers.ts';

const NAME = '[\\p{L}_][\\p{L}\\p{N}_]*';
const RUN_SCHEMA = {
  type: 'object',
  required: ['module', 'function'],
  properties: {
    kind: { const: 'python' },
    module: { type: 'string', pattern: `^(${NAME}(\\.${NAME})*|.*\\.py)$` },
    function: { type: 'string', pattern: `^${NAME}(\\.${NAME})*$` },
    folder: { type: 'string', minLength: 1 },
  },
  additionalProperties: false,
} as const;

/** Runs Python functions in workers that stay warm: sync, async, and generators whose values are progress. */
export function pythonExecutor(workers: PythonWorkers, noteCode?: NoteCode): Executor {
  return {
    kind: 'python',
    runSchema: RUN_SCHEMA,
    check(run, spec) {
      const { module, folder } = run as PythonRun; // checked against the schema before
      noteCode?.(spec, codeOf(run as PythonRun)); // as above
      if (folder === undefined && !isAbsolute(module)) return ['run names no folder in which its module is found'];
      return needProblems(run as PythonRun); // as above
    },
    precheck: (call, run) => refuseServices(call, run),
    execute: (call, run) => runPython(workers, call, run as PythonRun), // checked when the spec was let in
    close: workers.close,
  };
}

/** A tool that cannot get what it needs is refused before anybody calls it. */
function needProblems(run: PythonRun): readonly string[] {
  const { needs = [], function: name } = run;
  if (needs.length === 0 || !surelyTakesNoCall(placeOf(run))) return [];
  const needed = needs.map((need) => `"${need}"`).join(', ');
  return [
    `it needs ${needed}, and the function "${name}" has no parameter toolcrib_call that could take it; add the parameter (services are in toolcrib_call["services"], settings in toolcrib_call["settings"]), or leave out needs`,
  ];
}

type NoteCode = (spec: ToolSpec, files: readonly string[]) => void;

/** The files that Python reads for a module: the module or package, and what was compiled of it. */
function codeOf({ module, folder }: PythonRun): readonly string[] {
  if (isAbsolute(module)) return [module, join(dirname(module), '__pycache__')];
  if (folder === undefined) return [];
  const [name = ''] = module.endsWith('.py') ? [module] : module.split('.');
  return (module.endsWith('.py') ? [name, '__pycache__'] : [name, `${name}.py`, '__pycache__']).map((file) =>
    join(folder, file),
  );
}

/** The services that a tool asks for, as far as they are there. */
function servicesOf(call: ToolCall, { needs = [] }: Run): readonly (readonly [Need, unknown])[] {
  const asked = needs.map((need) => readNeed(need)).filter(({ isSetting }) => !isSetting);
  return asked.map((need) => [need, call.services[need.name]] as const).filter(([, service]) => service !== undefined);
}

/** Only data goes to another process. */
function refuseServices(call: ToolCall, run: Run): ToolError | undefined {
  const [refused] = servicesOf(call, run).find(([need, service]) => !need.isOptional && !isJson(service)) ?? [];
  if (refused === undefined) return undefined;
  const message = `"${call.spec.name}" needs the service "${refused.name}", which is not JSON and cannot be handed to Python.`;
  return toolError('unavailable', message);
}

async function runPython(workers: PythonWorkers, call: ToolCall, run: PythonRun): Promise<ToolResult> {
  const yielded: unknown[] = [];
  let yieldedBytes = 0;
  let callOff = () => {};
  const onYield = (value: unknown, size: number): void => {
    yieldedBytes += size;
    if (yieldedBytes > MAX_ANSWER_BYTES) {
      callOff();
      return;
    }
    yielded.push(value);
    call.report(value as JsonValue); // parsed from JSON
  };
  const refusal = refuseServices(call, run);
  if (refusal !== undefined) return failed(refusal);
  const deferred = deferRun(call);
  let hasBegun = false;
  try {
    const answer = await workers.call({
      ...placeOf(run),
      args: call.input,
      about: () => aboutCall(call, run),
      mustTakeCall: servicesOf(call, run).length > 0,
      begin() {
        hasBegun ||= deferred.begin(); // once, though workers may send it back to be sent in another way
        return hasBegun;
      },
      onYield,
      onAbort(listener) {
        callOff = listener;
        return call.onAbort(listener);
      },
    });
    const result = toToolResult(answer, call, { module: run.module, yielded });
    return result.status === 'failed' ? withHint(result, workers) : result;
  } catch (cause) {
    if (!(cause instanceof PythonFailure)) throw cause;
    const { spec } = call;
    if (hasBegun && (cause.kind === 'unreachable' || cause.kind === 'busy')) deferred.takeBack(); // no worker has run it
    if (yieldedBytes <= MAX_ANSWER_BYTES) return failed(pythonFailure(cause, spec));
    return failed(toolError('too_large', `"${spec.name}" yielded more than can be taken; ask for less.`));
  }
}

/** A worker without network fails for reasons that only its owner can mend. */
function withHint(result: FailedResult, { describeWithheld }: PythonWorkers): FailedResult {
  const { error } = result;
  const hint = describeWithheld?.(error.message) ?? '';
  return hint === '' ? result : { ...failed({ ...error, message: `${error.message}\n${hint}` }) };
}

/** What a function learns that has a parameter `toolcrib_call`. */
function aboutCall(call: ToolCall, run: Run): JsonObject {
  const services = servicesOf(call, run).flatMap(([{ name }, value]) =>
    isJson(value) ? [[name, value] as const] : [],
  );
  const { id, caller, profile, conversation, timeZone, traceparent, settings } = call;
  return {
    id,
    tool: call.spec.name,
    caller: { id: caller.id ?? null, roles: caller.roles ?? [] },
    profile,
    conversation: conversation ?? null,
    timeZone: timeZone ?? null,
    traceparent: traceparent ?? null,
    settings: settings as JsonObject, // of a configuration, which is JSON
    services: Object.fromEntries(services),
  };
}

interface Asked {
  readonly module: string;
  readonly yielded: readonly unknown[];
}

function toToolResult(answer: PythonAnswer, { spec }: ToolCall, { module, yielded }: Asked): ToolResult {
  switch (answer.kind) {
    case 'ok':
      return toResult(answer.value);
    case 'end':
      return toResult(answer.value ?? yielded);
    case 'fail':
      return failed(answerFailure(answer, spec, module));
  }
}

/** What a worker that gave no answer means for whoever called. A call that was lost may be tried again only if doing it twice does no harm. */
function pythonFailure(failure: PythonFailure, spec: ToolSpec): ToolError {
  const { name } = spec;
  const cause = failure;
  switch (failure.kind) {
    case 'unreachable':
      return toolError('unavailable', `"${name}" cannot be called: ${failure.message}.`, { cause });
    case 'busy':
      return toolError('unavailable', `"${name}" cannot be called now, since ${failure.message}; try again later.`, {
        retryable: true,
        cause,
      });
    case 'lost':
      return mayBeRepeated(spec)
        ? toolError('unavailable', `The Python process of "${name}" ended before it answered.`, {
            retryable: true,
            cause,
          })
        : toolError(
            'unknown_outcome',
            `The Python process of "${name}" ended before it answered. It may have done what was asked: look before you try again.`,
            { cause },
          );
    case 'cancelled':
      return toolError('cancelled', `The call of "${name}" was cancelled.`, { cause });
  }
}

type Failing = Extract<PythonAnswer, { readonly kind: 'fail' }>;

/** What a function that gave no result means for whoever called. Where in its program it failed is for the log alone. */
function answerFailure({ reason, message, trace, passing }: Failing, spec: ToolSpec, module: string): ToolError {
  const { name: tool } = spec;
  const retryable = passing === 'marked' || (passing === 'connection' && mayBeRepeated(spec));
  const cause = trace === undefined ? undefined : new Error(trace);
  switch (reason) {
    case 'raised':
      return toolError('tool_error', message, { retryable, cause });
    case 'cancelled':
      return toolError('tool_error', `"${tool}" cancelled itself.`);
    case 'invalid':
      return toolError('invalid_input', `The arguments of "${tool}" do not fit: ${message}.`);
    case 'value':
      return toolError(
        'invalid_output',
        `The tool returned something of which ${message}; a tool must return JSON, text or nothing.`,
      );
    case 'large':
      return toolError('too_large', `"${tool}" answered with more than can be taken (${message}); ask for less.`);
    case 'missing':
      return toolError('unavailable', `"${tool}" cannot be called: its module ${basename(module)} ${message}.`);
  }
}

/** How a Python function runs. */
export interface PythonRun extends Run {
  readonly kind: 'python';
  /** A name as `import` takes it, or the path of a file. */
  readonly module: string;
  /** A function, or a method as `Class.method`. */
  readonly function: string;
  /** Where the module is looked for first: the folder of the file that names it. */
  readonly folder?: string;
}

/** Where a function is found. */
export interface PythonPlace {
  readonly folder: string;
  readonly module: string;
  readonly function: string;
}

/** A file is found from its own folder, a name from the folder of whoever names it. */
export function placeOf({ module, function: name, folder = '' }: PythonRun): PythonPlace {
  return { module, function: name, folder: isAbsolute(module) ? dirname(module) : folder };
}
