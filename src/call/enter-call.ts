import { endUnbegun, newFacts } from '../core/begun-runs.ts';
import type { Caller } from '../core/caller.ts';
import { frozenCopy, type JsonObject, type MaybePromise, NotJsonError } from '../core/json.ts';
import { clampTuning } from '../core/policy.ts';
import type { Submission, TaskRun } from '../core/ports/stored-tasks.ts';
import type { Profile } from '../core/profile.ts';
import { defined, didYouMean } from '../core/read-options.ts';
import { type ToolError, toolError } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { createRun, RUN, type ToolSpec } from '../core/tool-spec.ts';
import type { View } from '../core/view.ts';
import { Call, type CallHost, type CallOrigin } from './call.ts';
import { type CallOptions, unwrapCall } from './call-input.ts';
import { invalid, NO_OPTIONS, Refusal, readCallOptions } from './call-options.ts';
import { type DryRun, judgeCall } from './dry-run.ts';
import type { Pipeline } from './pipeline.ts';

/** The entrance for calls of one chest. */
export interface Entrance {
  readonly caller: Caller;
  readonly host: CallHost;
  view(): View;
  pipeline(): Pipeline;
  now(): number;
  isClosed(): boolean;
  /** True while a source fetches its first list, shortly after the start. */
  isStarting(): boolean;
}

export interface Entering {
  readonly name: string;
  readonly input: unknown;
  readonly options: CallOptions | undefined;
  readonly parent: Call | undefined;
  /** Present if the call is refused before it begins. It is recorded. */
  readonly refusal?: ToolError;
  /** Present if the call is stored to run later. */
  readonly submission?: Submission;
  /** Present if a task makes the call. */
  readonly task?: TaskRun;
  /** Present if the call is only judged: nothing runs, is charged, is asked or is recorded. It receives the verdicts. */
  readonly dryRun?: DryRun;
}

const NO_INPUT: JsonObject = Object.freeze({});
const NO_SETTINGS: Readonly<Record<string, unknown>> = Object.freeze({});
const MAX_NESTING = 16;
/** With more tools, no similar name is searched, so that unknown names stay cheap. */
const MANY_TOOLS = 2000;

/** Start of every call: reads the options, copies the arguments and looks up the tool in the view. Gates decide the rest. */
export function enterCall(entrance: Entrance, entering: Entering): MaybePromise<ToolResult> {
  const view = entrance.view();
  const options = readCallOptions(entering.options);
  const { name, input } = readTarget(entering, view);
  const spec = view.get(name);
  const known = options instanceof Refusal ? NO_OPTIONS : options;
  const origin: CallOrigin = {
    options: known,
    caller: entrance.caller,
    profile: view.profile.name,
    settings: view.profile.settings ?? NO_SETTINGS,
    parent: entering.parent,
    host: entrance.host,
    id: known.id,
    facts: newFacts(entrance.now()),
  };
  if (known.onQuestion !== undefined) origin.facts.onQuestion = known.onQuestion;
  const tuned = spec === undefined ? unknownSpec(name, view.profile) : tune(spec, known);
  const call = new Call(tuned, input instanceof Refusal ? NO_INPUT : input, origin);
  const pipeline = entrance.pipeline();
  if (entering.dryRun !== undefined) {
    const refusal =
      (options instanceof Refusal ? options.error : undefined) ??
      (spec === undefined ? unknownTool(tuned.name, view) : undefined) ??
      (input instanceof Refusal ? input.error : undefined);
    return judgeCall(call, pipeline.gatesOf(call), { refusal, dryRun: entering.dryRun });
  }
  // A running call may finish its nested calls while the crib closes.
  if (entrance.isClosed() && entering.parent === undefined)
    return pipeline.refuse(call, toolError('unavailable', 'The crib is closed.'));
  if (options instanceof Refusal) return pipeline.refuse(call, options.error);
  if (known.batch !== undefined && entering.parent === undefined) return pipeline.refuse(call, ONLY_NESTED);
  if (entering.refusal !== undefined) return pipeline.refuse(call, entering.refusal);
  if (spec === undefined) {
    return pipeline.refuse(call, entrance.isStarting() ? notListedYet(tuned.name) : unknownTool(tuned.name, view));
  }
  if (input instanceof Refusal) return pipeline.refuse(call, input.error);
  if (entering.parent !== undefined && depthOf(call) > MAX_NESTING) {
    return pipeline.refuse(call, toolError('denied', `Nested calls may be at most ${MAX_NESTING} levels deep.`));
  }
  const { reason } = call.cancellation;
  if (reason !== undefined) return pipeline.refuse(call, reason);
  const { submission, task } = entering;
  if (task !== undefined) origin.facts.task = task;
  if (submission !== undefined) return pipeline.submit(call, () => entrance.host.keepTask(call, submission));
  return task === undefined ? pipeline.run(call) : runTask(call, task, pipeline);
}

/** Runs the call of a task, and tells whether its tool began. If not, it can no longer begin. */
async function runTask(call: Call, task: TaskRun, pipeline: Pipeline): Promise<ToolResult> {
  const result = await pipeline.run(call);
  task.hasBegun = !endUnbegun(call);
  return result;
}

interface Target {
  readonly name: string;
  readonly input: JsonObject | Refusal;
}

/** The called tool and its arguments. */
function readTarget({ name, input: given }: Entering, view: View): Target {
  const input = copyInput(given);
  if (name !== 'call_tool' || input instanceof Refusal || !view.has(name)) return { name, input };
  const inner = unwrapCall(input);
  return 'code' in inner ? { name, input: new Refusal(inner) } : inner;
}

function copyInput(input: unknown): JsonObject | Refusal {
  if (input === undefined) return NO_INPUT;
  try {
    const copy = frozenCopy(input);
    if (typeof copy === 'object' && copy !== null && !Array.isArray(copy)) return copy as JsonObject; // neither a list nor null
    return invalid(`The arguments must be a JSON object, not ${shapeOf(copy)}.`);
  } catch (cause) {
    if (!(cause instanceof NotJsonError)) return invalid('The arguments cannot be read: a getter throws.', cause);
    const { message, path, what } = cause;
    return invalid(`The arguments cannot be read: ${message}.`, cause, [{ path, message: what }]);
  }
}

function shapeOf(value: unknown): string {
  if (typeof value !== 'string') return Array.isArray(value) ? 'a list' : String(value);
  try {
    JSON.parse(value);
    return 'a string that holds JSON; send the object itself';
  } catch (cause) {
    return `a string that is not JSON (${cause instanceof Error ? cause.message : 'unreadable'})`;
  }
}

function tune(spec: ToolSpec, { timeoutMs, retries, approvalId }: CallOptions): ToolSpec {
  if (timeoutMs === undefined && retries === undefined && approvalId === undefined) return spec;
  const policy = {
    ...spec.policy,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(retries !== undefined && { retries }),
    // A call that names an approval must use it, even if the tool no longer requires approval.
    ...(approvalId !== undefined && { approval: 'always' as const }),
  };
  return { ...spec, policy: clampTuning(policy) };
}

const ONLY_NESTED = toolError('invalid_input', 'The option "batch" of a call is for calls inside a script only.');

const MAX_UNKNOWN_NAME = 200;
const UNKNOWN_RUN = createRun({ kind: 'unknown' });

// It has no source and the profile's rates: enough for the rate limit and the records.
function unknownSpec(name: unknown, profile: Profile): ToolSpec {
  const text = typeof name === 'string' ? cutName(name) : '';
  const policy = profile.policy?.rates === undefined ? {} : { rates: profile.policy.rates };
  return {
    name: text,
    description: '',
    input: {},
    effects: {},
    policy,
    tags: [],
    source: '',
    origin: text,
    [RUN]: UNKNOWN_RUN,
  };
}

// Marked as cut, so that redaction recognizes the beginning of a secret.
function cutName(name: string): string {
  return name.length > MAX_UNKNOWN_NAME ? `${name.slice(0, MAX_UNKNOWN_NAME)}…` : name;
}

function unknownTool(name: string, view: View): ToolError {
  const guess = view.names.length > MANY_TOOLS ? '' : didYouMean(name, view.names);
  return toolError('unknown_tool', `The tool "${name}" was not found.${guess}`);
}

const RETRY_MS = 1000;

/** Uses the same text for a tool that does not exist and one that the caller may not see. */
export function notListedYet(name: string): ToolError {
  const message = `The tool "${name}" cannot be called yet: some sources are still starting. Call it again in a second.`;
  return toolError('unavailable', message, { retryable: true, retryAfterMs: RETRY_MS });
}

function depthOf(call: Call): number {
  let depth = 0;
  for (let ancestor = call.parent; ancestor !== undefined; ancestor = ancestor.parent) depth++;
  return depth;
}

/** The options that a nested call inherits. */
export function inheritedOptions(call: Call): CallOptions {
  const { conversation, turn, timeZone, door } = call.said;
  const { context, onQuestion, batch } = call.origin.options;
  // A call that waits in a batch waits before its tool runs; the calls inside it cannot wait, except that of `delegate`.
  const park = batch === undefined ? call.origin.options.park : false;
  return defined({ conversation, turn, timeZone, door, park, context, onQuestion });
}
