import type { Caller } from '../core/caller.ts';
import type { StoredApproval, StoredApprovals } from '../core/ports/stored-approvals.ts';
import { redactResult } from '../core/redact-result.ts';
import { FACTS } from '../core/tool-call.ts';
import { type ToolError, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';
import { type Approval, toShownApproval } from './approvals.ts';
import { denied, LIBRARY_DOOR, nobodyAnswered, saidNo } from './ask-callback.ts';
import type { Asking, Step } from './settle-request.ts';

/** How much longer than its time the end of a call is waited for. */
const GRACE_MS = 60_000;
const ASK_AGAIN_MS = 1000;

/** The result of a parked call that was taken up, for the same call sent again; waits until it is there. Without an approval named, it is handed over once: a later call is another one. */
export async function returnParkedResult(asking: Asking, approval: StoredApproval): Promise<Step> {
  const { call, context } = asking;
  const { id } = approval;
  // A server that came second to run it takes nothing: the result is for whoever asked.
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

/** Waits for the end of a call, as long as it can take; where its process is gone, for that being noticed. */
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
  const message = `The call of "${tool}" under the approval "${id}" is still running; ask again for its result.`;
  return failed(toolError('conflict', message, { retryable: true, retryAfterMs: ASK_AGAIN_MS }));
}

/** What is known of a call under an approval whose process is gone. */
export function lostResult({ tool, id }: StoredApproval): FailedResult {
  const message = `A call of "${tool}" took up the approval "${id}", and its process ended before it did; see whether it was done before you ask for another.`;
  return failed(toolError('unknown_outcome', message));
}

/** What is said to who comes with an approval that was taken up. */
export function usedUp(tool: string, { id, outcome }: StoredApproval): FailedResult {
  if (outcome !== undefined && outcome !== 'unknown_outcome') {
    const message = `The approval "${id}" has been used: that call of "${tool}" ended as ${outcome}.`;
    return failed(toolError('conflict', message));
  }
  const message = `A call of "${tool}" took up the approval "${id}" and has not reported back; see whether it was done before you ask for another.`;
  return failed(toolError('unknown_outcome', message));
}

/** Where a call stands that was parked for a server. */
export interface ParkedState {
  /** `running` from the yes on. */
  readonly state: 'waiting' | 'running' | 'ended';
  readonly approval: Approval;
  /** There when it has ended, for a day. */
  readonly result?: ToolResult;
}

/** What became of a parked call, for who made it or an operator; somebody else's is answered like one that never was. */
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

/** A call that was parked, and its result once it is over. */
export interface ParkedCall {
  readonly callId: string;
  readonly result?: ToolResult;
}

/** The parked call of this id, or the one that waits for the approval of this id. The result of a library's call counts as handed over from then on. */
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

/** What whoever asked would be told, where the call did not run. */
function refusalOf(approval: StoredApproval): ToolResult | undefined {
  const { state, tool, answer, lifetimeMs } = approval;
  if (state === 'denied') return saidNo(tool, answer?.note);
  if (state === 'expired' && answer === undefined) return nobodyAnswered(tool, lifetimeMs);
  const isOver = state === 'expired' || state === 'withdrawn';
  return isOver ? denied(`The approval to run "${tool}" was not taken up.`) : undefined;
}
