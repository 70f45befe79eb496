import { beginRun, endCall, mayBeRepeated } from '../core/begun-runs.ts';
import type { Executor } from '../core/executor.ts';
import { BUILT_IN, type Extension, RATE_LIMIT_PRIORITY, SUBMIT_PRIORITY, toPriority } from '../core/extension.ts';
import { isPromise, type MaybePromise } from '../core/json.ts';
import { PendingResult, type StepGuard } from '../core/ports/pending-result.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import { messageOf, passingReason, ToolcribError, type ToolError, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';
import { RUN, type ToolSpec, UNCONFIRMED, WITHHELD } from '../core/tool-spec.ts';
import { missingNeed, notAgain, restoreWithheld, unasked, unconfirmed } from './before-execute.ts';
import { Call } from './call.ts';
import { createTelling, observersAmong } from './tell-observers.ts';

/** Its result is checked, and it never throws. */
type Step = (call: Call) => ToolResult | PendingResult;

/** The chain for all tools to which the same extensions apply. */
interface Chain {
  readonly run: Step;
  readonly observers: readonly Extension[];
}

/** The only path of a call: extensions around an executor. Immutable; other extensions need another pipeline. */
export interface Pipeline {
  run(call: Call): MaybePromise<ToolResult>;
  /** Refuses a call without a tool or with invalid arguments. Observers and the rate limit still see it. */
  refuse(call: Call, error: ToolError): MaybePromise<ToolResult>;
  /** Judges a background call, then stores it by `keep` instead of running it. */
  submit(call: Call, keep: () => Promise<ToolResult>): MaybePromise<ToolResult>;
  /** The gates that a call would pass, outermost first. */
  gatesOf(call: Call): readonly Extension[];
  /** Number of chains created. */
  readonly chainCount: number;
}

export interface PipelineOptions {
  /** By descending priority. */
  readonly extensions: readonly Extension[];
  readonly executors: ReadonlyMap<string, Executor>;
  warn(message: string): void;
}

/** Creates a pipeline. Chains are created lazily, one per set of extensions. */
export function createPipeline(options: PipelineOptions): Pipeline {
  const { extensions, executors } = options;
  const chainByShape = new Map<string, Chain>();
  const chainBySpec = new WeakMap<ToolSpec, Chain>();
  const execute = executeStep(executors);
  const { tellStarts, tellEnds } = createTelling(options.warn);

  const chainFor = (spec: ToolSpec): Chain => {
    const known = chainBySpec.get(spec);
    if (known !== undefined) return known;
    const taking = extensions.map((extension) => takesPart(extension, spec));
    const shape = taking.map(Number).join('');
    let chain = chainByShape.get(shape);
    if (chain === undefined) {
      const present = extensions.filter((_, index) => taking[index]);
      chain = { run: linkGates(present, execute), observers: observersAmong(present) };
      chainByShape.set(shape, chain);
    }
    chainBySpec.set(spec, chain);
    return chain;
  };

  // A gate whose `applies` fails takes part (fail closed). Only `false` excludes it.
  const takesPart = (extension: Extension, spec: ToolSpec): boolean => {
    try {
      return extension.applies?.(spec) !== false;
    } catch (cause) {
      options.warn(`"applies" of the extension "${extension.name}" failed for "${spec.name}": ${messageOf(cause)}`);
      return true;
    }
  };

  const runChain = (chain: Chain, call: Call): MaybePromise<ToolResult> => {
    tellStarts(chain.observers, call);
    const result = chain.run(call);
    const end = (settled: ToolResult): ToolResult => {
      release(call);
      return tellEnds(chain.observers, call, settled);
    };
    return result instanceof PendingResult ? untilCancelled(result, call, end) : end(result);
  };

  /** Runs the gates with at least this priority, then `innermost`. */
  const runOuter = (call: Call, priority: number, work: () => MaybePromise<ToolResult>): MaybePromise<ToolResult> => {
    const innermost = guarded(work, toFailure);
    const taking = extensions.filter((extension) => takesPart(extension, call.spec));
    const gates = taking.filter((extension) => toPriority(extension.priority) >= priority);
    return runChain({ run: linkGates(gates, innermost), observers: observersAmong(taking) }, call);
  };

  return {
    run: (call) => runChain(chainFor(call.spec), call),
    refuse: (call, error) => runOuter(call, RATE_LIMIT_PRIORITY, () => failed(error)),
    submit: (call, keep) => runOuter(call, SUBMIT_PRIORITY, keep),
    gatesOf: ({ spec }) => extensions.filter((extension) => extension.wrap !== undefined && takesPart(extension, spec)),
    get chainCount() {
      return chainByShape.size;
    },
  };
}

function linkGates(extensions: readonly Extension[], innermost: Step): Step {
  return extensions.filter((extension) => extension.wrap !== undefined).reduceRight(gateStep, innermost);
}

function gateStep(inner: Step, gate: Extension): Step {
  const message = `The extension "${gate.name}" failed, so the call was refused.`;
  const guard: StepGuard = {
    read: requireResult,
    refuse: (cause) => failed(toolError('internal', message, { cause })),
  };
  return gate[BUILT_IN] === true ? builtInStep(inner, gate, guard) : givenStep(inner, gate, guard);
}

/** The step of a gate of the crib. It always names the call with which it goes on, so all calls share one `next`. */
function builtInStep(inner: Step, gate: Extension, guard: StepGuard): Step {
  const next = (call?: ToolCall): MaybePromise<ToolResult> => {
    const inside = inner(call as Call); // a gate of the crib always passes one
    if (!(inside instanceof PendingResult)) return inside;
    inside.guard = guard;
    return inside as PromiseLike<ToolResult> as Promise<ToolResult>; // it treats it like the promise that it stands for
  };
  return function step(call) {
    try {
      const result: unknown = gate.wrap?.(call, next);
      if (result instanceof PendingResult) return result;
      return isPromise(result) ? new PendingResult(result, guard) : requireResult(result);
    } catch (cause) {
      return guard.refuse(cause);
    }
  };
}

/** The step of any other gate. It gets promises, and goes on with the call or a copy that the call has made. */
function givenStep(inner: Step, gate: Extension, guard: StepGuard): Step {
  return function step(call) {
    let passed: ToolResult | PendingResult | undefined;
    let shown: unknown; // what the gate gets of it
    try {
      const result: unknown = gate.wrap?.(call, (derived) => {
        const inside = inner(derived === undefined || derived === call ? call : ownCopy(derived, call));
        const given = inside instanceof PendingResult ? inside.toPromise() : inside;
        passed = inside;
        shown = given;
        return given;
      });
      if (passed !== undefined && result === shown) return passed;
      return isPromise(result) ? new PendingResult(result, guard) : requireResult(result);
    } catch (cause) {
      return guard.refuse(cause);
    }
  };
}

function executeStep(executors: ReadonlyMap<string, Executor>): Step {
  return guarded((call) => {
    const run = call.spec[RUN];
    const executor = executors.get(run.kind);
    if (executor === undefined) {
      return failed(
        toolError('unavailable', `"${call.spec.name}" cannot be run: this crib has no executor for its kind.`),
      );
    }
    const { reason } = call.cancellation;
    if (reason !== undefined) return failed(reason); // cancelled while waiting, so it does not begin
    if (run[UNCONFIRMED] === true) return unconfirmed(call.spec);
    const { asks, approval } = call[FACTS];
    if (asks !== undefined && approval === undefined) return unasked(call.spec, asks);
    const missing = run.needs === undefined ? undefined : missingNeed(call, run.needs);
    if (missing !== undefined) return missing;
    const withheld = run[WITHHELD];
    const whole = withheld === undefined ? call : restoreWithheld(call, withheld);
    return beginRun(call) ? executor.execute(whole, run) : notAgain(call);
  }, toFailure);
}

/** With the guards of gates the only catch-all: turns a throw into a failed result. */
function guarded(
  work: (call: Call) => MaybePromise<ToolResult>,
  refuse: (cause: unknown, call: Call) => FailedResult,
): Step {
  return function step(call) {
    try {
      const result = work(call);
      if (!isPromise(result)) return requireResult(result);
      return new PendingResult(result, { read: requireResult, refuse: (cause) => refuse(cause, call) });
    } catch (cause) {
      return refuse(cause, call);
    }
  };
}

function requireResult(value: unknown): ToolResult {
  if (isResult(value)) return value;
  throw new ToolcribError('not_a_result', 'the returned value is not a ToolResult');
}

function isResult(value: unknown): value is ToolResult {
  if (typeof value !== 'object' || value === null) return false;
  const { ok, status, content, error, waiting } = value as Record<string, unknown>; // read as unknown, then checked
  if (ok === true) return status === 'done' && Array.isArray(content);
  if (ok !== false) return false;
  const reason = status === 'failed' ? error : status === 'waiting' ? waiting : undefined;
  return typeof reason === 'object' && reason !== null;
}

// Another copy has lost its getters, or carries unchecked arguments.
function ownCopy(derived: ToolCall, call: Call): Call {
  if (Call.isCopyOf(call, derived)) return derived;
  throw new ToolcribError('not_a_call', 'next() takes the call itself or the result of call.with()');
}

function toFailure(cause: unknown, call: Call): FailedResult {
  // After an abort the work may throw anything; the reason of the abort counts.
  const { reason } = call.cancellation;
  if (reason !== undefined) return failed(reason);
  const passing = passingReason(cause);
  // A request may have arrived although its connection was lost.
  const retryable = passing === 'marked' || (passing === 'connection' && mayBeRepeated(call.spec));
  return failed(toolError('tool_error', messageOf(cause, 'The tool failed without a message.'), { retryable, cause }));
}

function release(call: Call): void {
  endCall(call);
  call.cancellation.release();
}

/** Ends the call when it is cancelled, even if gates or the tool go on. */
function untilCancelled(
  result: PendingResult,
  call: Call,
  end: (result: ToolResult) => ToolResult,
): Promise<ToolResult> {
  const { inFlight } = call.origin.host;
  inFlight.enter();
  return new Promise((resolve) => {
    const endNow = result.addEnd((settled) => {
      resolve(end(settled));
      inFlight.leave();
      return settled;
    });
    call.onAbort((reason) => endNow(failed(reason)));
  });
}
