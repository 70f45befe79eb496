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

/** Runs Python functions in warm workers: sync, async, and generators, whose values are reported as progress. */
export function pythonExecutor(workers: PythonWorkers, noteCode?: NoteCode): Executor {
  return {
    kind: 'python',
    runSchema: RUN_SCHEMA,
    check(run, spec) {
      const { module, folder } = run as PythonRun; // checked against the schema
      noteCode?.(spec, codeOf(run as PythonRun)); // checked above
      if (folder === undefined && !isAbsolute(module))
        return ['run names no folder to import its module from; set folder, or use an absolute path as module'];
      return needProblems(run as PythonRun); // checked above
    },
    runsFiles: () => true,
    precheck: (call, run) => refuseServices(call, run),
    execute: (call, run) => runPython(workers, call, run as PythonRun), // checked when the spec was loaded
    close: workers.close,
  };
}

/** Rejects, at load time, a tool that cannot receive what it needs. */
function needProblems(run: PythonRun): readonly string[] {
  const { needs = [], function: name } = run;
  if (needs.length === 0 || !surelyTakesNoCall(placeOf(run))) return [];
  const needed = needs.map((need) => `"${need}"`).join(', ');
  return [
    `it needs ${needed}, but the function "${name}" has no parameter toolcrib_call to receive it; add the parameter (services are in toolcrib_call["services"], settings in toolcrib_call["settings"]), or remove needs`,
  ];
}

type NoteCode = (spec: ToolSpec, files: readonly string[]) => void;

/** The files that Python reads for a module: the module or package, and its compiled files. */
function codeOf({ module, folder }: PythonRun): readonly string[] {
  if (isAbsolute(module)) return [module, join(dirname(module), '__pycache__')];
  if (folder === undefined) return [];
  const [name = ''] = module.endsWith('.py') ? [module] : module.split('.');
  return (module.endsWith('.py') ? [name, '__pycache__'] : [name, `${name}.py`, '__pycache__']).map((file) =>
    join(folder, file),
  );
}

/** The available services that a tool needs. */
function servicesOf(call: ToolCall, { needs = [] }: Run): readonly (readonly [Need, unknown])[] {
  const asked = needs.map((need) => readNeed(need)).filter(({ isSetting }) => !isSetting);
  return asked.map((need) => [need, call.services[need.name]] as const).filter(([, service]) => service !== undefined);
}

/** Rejects services that are not JSON, since only data can be sent to another process. */
function refuseServices(call: ToolCall, run: Run): ToolError | undefined {
  const [refused] = servicesOf(call, run).find(([need, service]) => !need.isOptional && !isJson(service)) ?? [];
  if (refused === undefined) return undefined;
  const message = `"${call.spec.name}" needs the service "${refused.name}", which is not JSON and cannot be passed to Python.`;
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
        hasBegun ||= deferred.begin(); // only once, although a worker may ask to have the call sent again in another way
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
    if (hasBegun && (cause.kind === 'unreachable' || cause.kind === 'busy')) deferred.takeBack(); // no worker ran it
    if (yieldedBytes <= MAX_ANSWER_BYTES) return failed(pythonFailure(cause, spec));
    return failed(toolError('too_large', `The values that "${spec.name}" yielded are too large; ask for less.`));
  }
}

/** Adds a hint about missing network variables, which only the operator can fix. */
function withHint(result: FailedResult, { describeWithheld }: PythonWorkers): FailedResult {
  const { error } = result;
  const hint = describeWithheld?.(error.message) ?? '';
  return hint === '' ? result : { ...failed({ ...error, message: `${error.message}\n${hint}` }) };
}

/** The value of the parameter `toolcrib_call`. */
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
    settings: settings as JsonObject, // from the configuration, which is JSON
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
      return toResult(answer.value, spec.output);
    case 'end':
      return toResult(answer.value ?? yielded, spec.output);
    case 'fail':
      return failed(answerFailure(answer, spec, module));
  }
}

/** Translates a failure of a worker for the caller. A lost call is retryable only if it is idempotent or read-only. */
function pythonFailure(failure: PythonFailure, spec: ToolSpec): ToolError {
  const { name } = spec;
  const cause = failure;
  switch (failure.kind) {
    case 'unreachable':
      return toolError('unavailable', `"${name}" cannot be called: ${failure.message}.`, { cause });
    case 'busy':
      return toolError(
        'unavailable',
        `"${name}" cannot be called at the moment: ${failure.message}; try again later.`,
        {
          retryable: true,
          cause,
        },
      );
    case 'lost':
      return mayBeRepeated(spec)
        ? toolError('unavailable', `The Python process of "${name}" ended before it answered.`, {
            retryable: true,
            cause,
          })
        : toolError(
            'unknown_outcome',
            `The Python process of "${name}" ended before it answered. The call may have taken effect: check before you try again.`,
            { cause },
          );
    case 'cancelled':
      return toolError('cancelled', `The call to "${name}" was cancelled.`, { cause });
  }
}

type Failing = Extract<PythonAnswer, { readonly kind: 'fail' }>;

/** Translates a failure of a function for the caller. The stack trace goes only to the log. */
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
      return toolError('invalid_input', `The arguments of "${tool}" are not valid: ${message}.`);
    case 'value':
      return toolError(
        'invalid_output',
        `The result of the tool cannot be sent: ${message}; a tool must return JSON, text or nothing.`,
      );
    case 'large':
      return toolError('too_large', `The answer of "${tool}" is too large (${message}); ask for less.`);
    case 'missing':
      return toolError('unavailable', `"${tool}" cannot be called: its module ${basename(module)} ${message}.`);
  }
}

/** The `run` of a Python function. */
export interface PythonRun extends Run {
  readonly kind: 'python';
  /** A module name as in `import`, or the path of a file. */
  readonly module: string;
  /** A function, or a method as `Class.method`. */
  readonly function: string;
  /** The folder to import the module from: the folder of the file that names it. */
  readonly folder?: string;
}

/** The location of a function. */
export interface PythonPlace {
  readonly folder: string;
  readonly module: string;
  readonly function: string;
}

/** A file is imported from its own folder, a module name from the folder of the spec. */
export function placeOf({ module, function: name, folder = '' }: PythonRun): PythonPlace {
  return { module, function: name, folder: isAbsolute(module) ? dirname(module) : folder };
}
