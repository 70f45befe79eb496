import type { Caller } from '../core/caller.ts';
import type { StoredApproval, StoredApprovals } from '../core/ports/stored-approvals.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { type Approval, toShownApproval } from './approvals.ts';
import { denied, nobodyAnswered, saidNo } from './ask-callback.ts';

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
  { approvals, redact }: { readonly approvals: StoredApprovals; redact(text: string): string },
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

/** What whoever asked would be told, where the call did not run. */
function refusalOf(approval: StoredApproval): ToolResult | undefined {
  const { state, tool, answer, lifetimeMs } = approval;
  if (state === 'denied') return saidNo(tool, answer?.note);
  if (state === 'expired' && answer === undefined) return nobodyAnswered(tool, lifetimeMs);
  const isOver = state === 'expired' || state === 'withdrawn';
  return isOver ? denied(`The approval to run "${tool}" was not taken up.`) : undefined;
}
