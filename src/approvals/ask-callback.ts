import { type Ask, type HostAnswer, type Question, readHostAnswer } from '../core/approval-request.ts';
import { whyNotByCaller } from '../core/approval-text.ts';
import type { ApprovalRequest, Approve } from '../core/caller.ts';
import { isPromise } from '../core/json.ts';
import type { Approver, Policy } from '../core/policy.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import type { NewApproval } from '../core/ports/stored-approvals.ts';
import { defined } from '../core/read-options.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { ToolcribError, type ToolError, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed } from '../core/tool-result.ts';
import { visibleLines } from '../core/visible-text.ts';

/** Doors whose calls are run by a server. */
export const SERVER_DOORS: readonly string[] = ['rest', 'mcp'];
/** The door of calls made by code. Only a crib with the same tools can run them later. */
export const LIBRARY_DOOR = 'library';

/** The outcome of waiting for the host's answer. */
export type Ending =
  | { readonly answer: HostAnswer }
  | { readonly failure: unknown }
  | { readonly reason: ToolError }
  | 'late'
  | 'elsewhere';

/** Options for waiting for an answer. */
export interface Waiting {
  readonly call: ToolCall;
  /** The host's approval callback. If absent, the answer can only come through the store. */
  readonly approve: Approve | undefined;
  readonly request: Omit<ApprovalRequest, 'signal'>;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Watches for an answer through the store; returns a function that stops it. */
  follow?(settled: () => void): () => void;
  /** Called if the answer does not come synchronously. */
  onSlow?(): void;
}

/** Upper bound of the time to answer: dates beyond it cannot be shown. */
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

/** Time in milliseconds to answer a request about a tool with this policy. */
export function timeToAnswer({ approvalTimeoutMs }: Policy, usualMs: number): number {
  return Math.min(approvalTimeoutMs ?? usualMs, YEAR_MS);
}

/** Requests approval through the caller's callback, in memory. For cribs without a store. */
export function askCallback({ clock, timeoutMs: usual }: { readonly clock: Clock; readonly timeoutMs: number }): Ask {
  return (call, question) => {
    const { name, policy } = call.spec;
    const timeoutMs = timeToAnswer(policy, usual);
    const { approvers, notByCaller } = approversOf(call, question);
    const own = ownAnswerOf(call, approvers);
    if (own !== undefined) return own ? { id: call.id, by: callerOf(call) } : denied(`The caller denied "${name}".`);
    if (call.approvalId !== undefined)
      return denied(`The approval "${call.approvalId}" was not found: this crib has no store.`);
    const { approve } = call.caller;
    if (approve === undefined) return call.mayPark ? noStore(call, question) : nobodyToAsk(call, question, notByCaller);
    const request = { ...describeCall(call, question), id: call.id, expiresAt: Math.round(clock.now() + timeoutMs) };
    return waitForAnswer({ call, approve, request, clock, timeoutMs }).then((ending) => {
      if (typeof ending === 'string') return nobodyAnswered(name, timeoutMs);
      if ('answer' in ending)
        return ending.answer.isYes ? { id: call.id, by: ending.answer.by } : saidNo(name, ending.answer.note);
      return 'reason' in ending ? failed(ending.reason) : couldNotAsk(name, ending.failure);
    });
  };
}

/** The calling client's own answer. It counts only if the policy lets the caller approve its own calls. */
export function ownAnswerOf({ answers }: ToolCall, approvers: readonly Approver[]): boolean | undefined {
  return approvers.includes('caller') ? answers?.approval : undefined;
}

/** The approvers besides the operator. The caller is removed if the approval text is too long for it. */
export function approversOf(call: ToolCall, question: Question): Pick<NewApproval, 'approvers' | 'notByCaller'> {
  const { approvers = [] } = call.spec.policy;
  if (!approvers.includes('caller')) return { approvers };
  const notByCaller = whyNotByCaller(describeCall(call, question));
  if (notByCaller === undefined) return { approvers };
  return { approvers: approvers.filter((who) => who !== 'caller'), notByCaller };
}

/** The name under which a caller's own answer is recorded. */
export function callerOf({ caller }: ToolCall): string {
  return caller.id ?? 'caller';
}

/** Waits for an answer from the caller's callback or the store, until the timeout or until the call is cancelled. */
export function waitForAnswer(waiting: Waiting): Promise<Ending> {
  const { call, clock } = waiting;
  return new Promise((resolve) => {
    const fork = call.fork();
    const stops: (() => void)[] = [];
    let isOver = false;
    const end = (ending: Ending): void => {
      if (isOver) return;
      isOver = true;
      for (const stop of stops) stop();
      if (typeof ending === 'string' || !('answer' in ending)) fork.abort(noLongerAsked(ending));
      fork.release();
      resolve(ending);
    };
    stops.push(clock.setTimer(waiting.timeoutMs, () => end('late')));
    stops.push(call.onAbort((reason) => end({ reason })));
    if (waiting.follow !== undefined) stops.push(waiting.follow(() => end('elsewhere')));
    if (isOver)
      for (const stop of stops) stop(); // the call ended before the question was asked
    else ask({ ...waiting.request, signal: fork.call.signal }, waiting, end);
  });
}

function ask(request: ApprovalRequest, { approve, onSlow }: Waiting, end: (ending: Ending) => void): void {
  if (approve === undefined) {
    onSlow?.();
    return;
  }
  try {
    const answer: unknown = approve(request);
    if (isPromise(answer)) {
      const read = Promise.resolve(answer).then(readHostAnswer);
      read.then((said) => end({ answer: said })).catch((failure) => end({ failure }));
      onSlow?.();
    } else end({ answer: readHostAnswer(answer) });
  } catch (failure) {
    end({ failure });
  }
}

function noLongerAsked(ending: Exclude<Ending, { answer: HostAnswer }>): ToolError {
  if (typeof ending === 'object' && 'reason' in ending) return ending.reason;
  return toolError('cancelled', 'The answer is no longer needed: the call has ended.');
}

/** The parts of a call that an approver is shown. */
export function describeCall(call: ToolCall, { reason, asked }: Question): ShownCall {
  const { spec, caller, answers } = call;
  const { responses } = answers?.input ?? {};
  const inside = ancestorsOf(call).map((ancestor) => ancestor.spec.name);
  return {
    tool: spec.name,
    ...defined(spec, ['title', 'description']),
    arguments: call.input,
    caller: defined(caller, ['id', 'roles']),
    profile: call.profile,
    reason,
    ...(asked !== undefined && { question: asked }),
    door: call.door,
    ...defined(call, ['conversation', 'turn', 'timeZone', 'idempotencyKey']),
    ...(responses !== undefined && { inputResponses: responses }),
    ...(inside.length > 0 && { inside }),
  };
}

type ShownCall = Omit<ApprovalRequest, 'id' | 'expiresAt' | 'signal'>;

/** The calls that this call is nested in, innermost first. */
export function ancestorsOf({ parent }: ToolCall): readonly ToolCall[] {
  return parent === undefined ? [] : [parent, ...ancestorsOf(parent)];
}

export function denied(message: string, cause?: unknown): FailedResult {
  return failed(toolError('denied', message, { cause }));
}

export function nobodyToAsk({ spec }: ToolCall, { reason }: Question, notByCaller?: string): FailedResult {
  const message = `"${spec.name}" requires approval because ${reason}, but no approver is available.`;
  const told = `${message} ${notByCaller ?? 'Pass approve() or park: true.'}`;
  return denied(told, new ToolcribError('no_approver', told));
}

function noStore({ spec }: ToolCall, { reason }: Question): FailedResult {
  const message = `"${spec.name}" requires approval because ${reason}, but this crib has no store to park the call in. Set one: createCrib({ store: 'memory' }), or a path or URL for a store that survives a restart.`;
  return denied(message, new ToolcribError('no_approver', message));
}

export function nobodyAnswered(tool: string, timeoutMs: number): FailedResult {
  return denied(`The approval request for "${tool}" was not answered within ${timeoutMs} ms.`);
}

export function saidNo(tool: string, note: string | undefined): FailedResult {
  return denied(`The approver denied "${tool}"${note === undefined ? '' : `: ${visibleLines(note)}`}.`);
}

export function couldNotAsk(tool: string, cause: unknown): FailedResult {
  return denied(`The approval callback failed, so "${tool}" was not run.`, cause);
}
