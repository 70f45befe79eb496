import {
  approversOf,
  callerOf,
  couldNotAsk,
  nobodyToAsk,
  ownAnswerOf,
  waitForAnswer,
} from '../../approvals/ask-callback.ts';
import type { ApprovalPoller } from '../../approvals/poller.ts';
import { toRequest } from '../../approvals/settle-request.ts';
import { holdCallTime } from '../../core/begun-runs.ts';
import type { StoredApproval, StoredApprovals } from '../../core/ports/stored-approvals.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { failed, type ToolResult, type WaitingResult } from '../../core/tool-result.ts';
import { systemClock } from '../../system/clock.ts';

interface AnswerPorts {
  readonly approvals: Pick<StoredApprovals, 'get' | 'answer'>;
  readonly poller: Pick<ApprovalPoller, 'watch'>;
}

/** Lets the caller or the host of this call answer. Undefined after an answer; otherwise the result of the call. */
export async function answerHere(
  id: string,
  call: ToolCall,
  { approvals, poller }: AnswerPorts,
): Promise<ToolResult | undefined> {
  const approval = await approvals.get(id);
  if (approval?.state !== 'waiting') return undefined; // answered meanwhile
  const question = { reason: approval.reason, ground: approval.ground };
  const { approvers, notByCaller } = approversOf(call, question);
  const own = ownAnswerOf(call, approval.approvers) === undefined ? undefined : ownAnswerOf(call, approvers);
  if (own !== undefined) {
    await approvals.answer(id, { decision: own ? 'approve' : 'deny', by: callerOf(call) });
    return undefined;
  }
  const mayWait = call.mayPark || call.approvalId !== undefined;
  if (call.caller.approve === undefined)
    return mayWait ? waitingFor(approval) : nobodyToAsk(call, question, notByCaller);
  const goOn = holdCallTime(call);
  const ending = await waitForAnswer({
    call,
    approve: call.caller.approve,
    request: toRequest(approval),
    clock: systemClock,
    timeoutMs: Math.max(1, approval.expiresAt - systemClock.now()),
    follow: (settled) => poller.watch(id, (state) => void (state === 'waiting' || settled())).stop,
  }).finally(goOn);
  if (typeof ending === 'string') return undefined; // the task ends as denied, or runs
  if ('reason' in ending) return failed(ending.reason);
  if ('failure' in ending) return couldNotAsk(call.spec.name, ending.failure);
  const { isYes, ...answer } = ending.answer;
  await approvals.answer(id, { decision: isYes ? 'approve' : 'deny', ...answer });
  return undefined;
}

function waitingFor({ id, expiresAt, notByCaller }: StoredApproval): WaitingResult {
  const note = notByCaller === undefined ? {} : { note: notByCaller };
  return { ok: false, status: 'waiting', waiting: { for: 'approval', id, expiresAt, ...note } };
}
