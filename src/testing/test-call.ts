import { newFacts } from '../core/begun-runs.ts';
import type { JsonObject } from '../core/json.ts';
import { type CallFacts, FACTS, PARSED, type Progress, SETTLE, TAKE_UP, type ToolCall } from '../core/tool-call.ts';
import { type ToolError, toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';
import { createRun, RUN, type Run, type ToolSpec } from '../core/tool-spec.ts';

/** Options for creating a test call; all are optional. */
export interface TestCallOptions {
  readonly input?: JsonObject;
  /** The run of the tool; it is also attached to the spec. */
  readonly run?: Run;
  /** Further members of the spec. */
  readonly spec?: Partial<ToolSpec>;
  /** Further members of the call: caller, settings, services, traceparent, tools. */
  readonly call?: Partial<ToolCall>;
}

/** A call without a crib. It can be aborted, and records reported progress. */
export interface TestCall extends ToolCall {
  abort(reason?: ToolError): void;
  readonly reported: readonly Progress[];
}

/** Creates a call for `executor.execute`, as if it had passed all gates. */
export function testCall(options: TestCallOptions = {}): TestCall {
  const { input = {}, call: given = {} } = options;
  const spec = testSpec(options);
  const reported: Progress[] = [];
  const facts = newFacts(0);
  facts.input = input;
  const ending = createEnding();
  return callOf({ spec, input, reported, facts, given }, ending);
}

/** Creates the spec of a tool with this run. */
export function testSpec({ run = { kind: 'test' }, spec = {} }: TestCallOptions): ToolSpec {
  return Object.freeze({
    name: 'tested',
    description: 'A tool under test',
    input: { type: 'object' },
    effects: {},
    policy: {},
    tags: [],
    source: 'test',
    origin: 'tested',
    ...spec,
    [RUN]: createRun(run),
  });
}

interface Parts {
  readonly spec: ToolSpec;
  readonly input: JsonObject;
  readonly reported: Progress[];
  readonly facts: CallFacts;
  readonly given: Partial<ToolCall>;
}

function callOf(parts: Parts, ending: Ending): TestCall {
  const { spec, input, reported, facts, given } = parts;
  const context = given.context ?? {};
  return {
    id: 'test',
    caller: {},
    profile: 'test',
    door: 'library',
    services: {},
    settings: {},
    state: undefined,
    mayPark: false,
    hasOwnContext: false,
    takesWhole: false,
    tools: NO_TOOLS,
    ...given,
    spec,
    input,
    context,
    [PARSED]: input,
    [FACTS]: facts,
    reported,
    signal: ending.signal,
    abort: ending.abort,
    onAbort: ending.onAbort,
    report: (progress) => void reported.push(progress),
    confirm: given.confirm ?? (async () => false),
    delegate: async () => ({ ok: false, error: toolError('unavailable', 'A test call has no other profiles.') }),
    with: (more) => callOf({ ...parts, given: { ...given, context: { ...context, ...more } } }, ending),
    fork() {
      const own = createEnding();
      const release = ending.onAbort(own.abort);
      return { call: callOf(parts, own), abort: own.abort, release };
    },
    [SETTLE]: (settled) => callOf({ ...parts, input: settled }, ending),
    [TAKE_UP]: (parked) => callOf({ ...parts, given: { ...given, ...parked } }, ending),
  };
}

const NO_TOOLS: ToolCall['tools'] = {
  list: () => [],
  get: () => undefined,
  shown: () => [],
  instructions: () => '',
  search: async () => [],
  bundles: () => [],
  call: async (name) =>
    failed(toolError('unknown_tool', `The tool "${name}" was not found: a test call has no other tools.`)),
};

interface Ending {
  readonly signal: AbortSignal;
  abort(reason?: ToolError): void;
  onAbort(listener: (reason: ToolError) => void): () => void;
}

function createEnding(): Ending {
  const controller = new AbortController();
  const listeners = new Set<(reason: ToolError) => void>();
  let ended: ToolError | undefined;
  return {
    signal: controller.signal,
    abort(reason = toolError('cancelled', 'The call was cancelled.')) {
      if (ended !== undefined) return;
      ended = reason;
      controller.abort(Object.assign(new Error(reason.message), { name: 'AbortError' }));
      for (const listener of listeners) listener(reason);
    },
    onAbort(listener) {
      const reason = ended;
      if (reason !== undefined)
        queueMicrotask(() => listener(reason)); // asynchronous, as in a crib
      else listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
