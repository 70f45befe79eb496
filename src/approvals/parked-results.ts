import type { Caller } from '../core/caller.ts';
import type { StoredApproval, StoredApprovals } from '../core/ports/stored-approvals.ts';
import { redactResult } from '../core/redact-result.ts';
import { FACTS } from '../core/tool-call.ts';
import { type ToolError, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';
import { denied, LIBRARY_DOOR, nobodyAnswered, saidNo } from './ask-callback.ts';
import type { Asking, Step } from './settle-request.ts';
import { type Approval, toShownApproval } from './shown-approvals.ts';

/** Time to wait for a running call beyond its own timeout. */
const GRACE_MS = 60_000;
const ASK_AGAIN_MS = 1000;

/** Returns the result of a parked call when the same call is sent again; waits until it is available. Without an approval id the result is returned once: a later call is a new call. */
export async function returnParkedResult(asking: Asking, approval: StoredApproval): Promise<Step> {
  const { call, context } = asking;
  const { id } = approval;
  // A server that lost the race to run the call does not take the result; it belongs to the caller.
  if (approval.parked?.callId === call.id) return usedUp(call.spec.name, approval);
  const ending = approval.state === 'done' ? 'ended' : await untilEnded(asking, approval);
  if (typeof ending === 'object') return failed(ending);
  if (ending === 'late') return stillRunning(call.spec.name, id);
  if (ending === 'given back') return 'again';
  const result = await context.approvals.takeResult(id, call.approvalId === undefined ? 'first' : 'any');
  if (result !== undefined) {
    call[FACTS].replayed = 'repeat';
    return result;
  }
  return call.approvalId === undefined
    ? 'again'
    : usedUp(call.spec.name, (await context.approvals.get(id)) ?? approval);
}

type Ended = 'ended' | 'given back' | 'late' | ToolError;

/** Waits for a running call to end, or for the detection that its process is gone. */
function untilEnded({ call, context }: Asking, { id, claim }: StoredApproval): Promise<Ended> {
  const { poller, clock } = context;
  const { timeoutMs = 0 } = call.spec.policy;
  const leftMs = Math.max(0, (claim?.at ?? clock.now()) + timeoutMs + GRACE_MS - clock.now());
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const watching = poller.watch(id, (state) => {
    if (state !== 'claimed') resolve(state === 'done' ? 'ended' : 'given back');
  });
  const stops = [watching.stop, clock.setTimer(leftMs, () => resolve('late')), call.onAbort(resolve)];
  void watching.look();
  return promise.finally(() => {
    for (const stop of stops) stop();
  });
}

function stillRunning(tool: string, id: string): FailedResult {
  const message = `The call of "${tool}" under the approval "${id}" is still running. Ask again for its result.`;
  return failed(toolError('conflict', message, { retryable: true, retryAfterMs: ASK_AGAIN_MS }));
}

/** The result of a call whose process ended before the call did. */
export function lostResult({ tool, id }: StoredApproval): FailedResult {
  const message = `A call of "${tool}" used the approval "${id}", and its process ended before the call did. Check whether it took effect before you call again.`;
  return failed(toolError('unknown_outcome', message));
}

/** The error for an approval that was already used. */
export function usedUp(tool: string, { id, outcome }: StoredApproval): FailedResult {
  if (outcome !== undefined && outcome !== 'unknown_outcome') {
    const message = `The approval "${id}" was already used: that call of "${tool}" ended as ${outcome}.`;
    return failed(toolError('conflict', message));
  }
  const message = `A call of "${tool}" used the approval "${id}" and has not reported a result. Check whether it took effect before you call again.`;
  return failed(toolError('unknown_outcome', message));
}

/** State of a parked call. */
export interface ParkedState {
  /** `running` starts with the approval. */
  readonly state: 'waiting' | 'running' | 'ended';
  /** Absent after the store has removed it. */
  readonly approval?: Approval;
  /** Present for a day after the call ended. */
  readonly result?: ToolResult;
}

/** The state of a parked call, for its caller and the operator. For other callers it is undefined, as for an unknown id. */
export async function parkedStateOf(
  callId: string,
  by: Caller,
  { approvals, redact }: ParkedReading,
): Promise<ParkedState | undefined> {
  const found = await approvals.ofCall(callId);
  if (found === undefined) return undefined;
  const isOwner = found.approval.callerId === (by.id ?? '');
  if (!isOwner && by.operator !== true) return undefined;
  const approval = toShownApproval(found.approval, redact);
  const result = found.result ?? refusalOf(found.approval);
  if (found.result !== undefined && isOwner) await approvals.takeResult(approval.id, 'any');
  if (result !== undefined) return { state: 'ended', approval, result };
  const { state } = approval;
  if (state === 'done') return { state: 'ended', approval };
  return { state: state === 'waiting' ? 'waiting' : 'running', approval };
}

/** A parked call, with its result after it ended. */
export interface ParkedCall {
  readonly callId: string;
  readonly result?: ToolResult;
}

/** Finds a parked call by its own id or by the id of its approval. The result of a library call then counts as handed over. */
export async function parkedCallOf(id: string, { approvals, redact }: ParkedReading): Promise<ParkedCall | undefined> {
  const found = await approvals.ofCall((await approvals.get(id))?.parked?.callId ?? id);
  const callId = found?.approval.parked?.callId;
  if (found === undefined || callId === undefined) return undefined;
  const result = found.result ?? refusalOf(found.approval);
  if (found.result !== undefined && found.approval.door === LIBRARY_DOOR)
    await approvals.takeResult(found.approval.id, 'any');
  return { callId, ...(result !== undefined && { result: redactResult(result, redact) }) };
}

interface ParkedReading {
  readonly approvals: StoredApprovals;
  redact(text: string): string;
}

/** The error for a call that did not run. */
function refusalOf(approval: StoredApproval): ToolResult | undefined {
  const { state, tool, answer, lifetimeMs } = approval;
  if (state === 'denied') return saidNo(tool, answer?.note);
  if (state === 'expired' && answer === undefined) return nobodyAnswered(tool, lifetimeMs);
  const isOver = state === 'expired' || state === 'withdrawn';
  return isOver ? denied(`The approval for "${tool}" was not used.`) : undefined;
}
