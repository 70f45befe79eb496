import { newFacts } from '../core/begun-runs.ts';
import type { JsonObject } from '../core/json.ts';
import { type CallFacts, FACTS, PARSED, type Progress, SETTLE, TAKE_UP, type ToolCall } from '../core/tool-call.ts';
import { type ToolError, toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';
import { createRun, RUN, type Run, type ToolSpec } from '../core/tool-spec.ts';

/** What a call for tests is made of; everything has a default. */
export interface TestCallOptions {
  readonly input?: JsonObject;
  /** How the tool runs; it hangs under the spec, too. */
  readonly run?: Run;
  /** What else the spec says. */
  readonly spec?: Partial<ToolSpec>;
  /** Whatever else the call says: caller, settings, services, traceparent, tools. */
  readonly call?: Partial<ToolCall>;
}

/** A call without a crib: it can be aborted, and remembers what was reported. */
export interface TestCall extends ToolCall {
  abort(reason?: ToolError): void;
  readonly reported: readonly Progress[];
}

/** Makes a call to hand to `executor.execute`, as if it had passed all gates. */
export function testCall(options: TestCallOptions = {}): TestCall {
  const { input = {}, call: given = {} } = options;
  const spec = testSpec(options);
  const reported: Progress[] = [];
  const facts = newFacts(0);
  facts.input = input;
  const ending = createEnding();
  return callOf({ spec, input, reported, facts, given }, ending);
}

/** A spec of a tool that runs so. */
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
    delegate: async () => ({ ok: false, error: toolError('unavailable', 'There are no other profiles in a test.') }),
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
  search: async () => [],
  bundles: () => [],
  call: async (name) => failed(toolError('unknown_tool', `There is no tool "${name}" in a test.`)),
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
        queueMicrotask(() => listener(reason)); // as in a crib: never before its caller goes on
      else listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
