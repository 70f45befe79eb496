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
import type { StoredTask } from '../../core/ports/stored-tasks.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { failed, type ToolResult, type WaitingResult } from '../../core/tool-result.ts';
import { systemClock } from '../../system/clock.ts';

interface AnswerPorts {
  readonly approvals: Pick<StoredApprovals, 'get' | 'answer' | 'ofBatch'>;
  readonly poller: Pick<ApprovalPoller, 'watch'>;
}

/**
 * Lets the caller or the host of this call answer. Undefined after an answer; otherwise the result of the call. The answer
 * that came with the call counts for one request, `meant`, and for none that its worker makes later.
 */
export async function answerHere(
  id: string,
  call: ToolCall,
  { approvals, poller, meant }: AnswerPorts & { readonly meant?: string },
): Promise<ToolResult | undefined> {
  const approval = await approvals.get(id);
  if (approval?.state !== 'waiting') return undefined; // answered meanwhile
  const question = { reason: approval.reason, ground: approval.ground };
  const { approvers, notByCaller } = approversOf(call, question);
  const own = ownAnswerOf(call, approval.approvers) === undefined ? undefined : ownAnswerOf(call, approvers);
  if (own !== undefined && id === meant) {
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

/** Lets the caller or the host of this call answer what a script waits for. Undefined if everything is answered; otherwise the result of the call. */
export async function answerBatch(
  { id, batch = '', approvalId }: Pick<StoredTask, 'id' | 'batch' | 'approvalId'>,
  call: ToolCall,
  ports: AnswerPorts,
): Promise<ToolResult | undefined> {
  const { approvals } = ports;
  const open = (await approvals.ofBatch(batch)).filter(({ state }) => state === 'waiting');
  const [first] = open;
  if (first === undefined) return undefined;
  const answer = call.answers?.approval;
  // An answer counts for what the client was asked, and for nothing that the script asks later.
  const isAsked = call.approvalId !== undefined && call.approvalId === approvalId;
  if (isAsked && answer !== undefined && open.every(({ approvers }) => approvers.includes('caller'))) {
    for (const one of open)
      await approvals.answer(one.id, { decision: answer ? 'approve' : 'deny', by: callerOf(call) });
    return undefined;
  }
  if (call.caller.approve !== undefined) {
    for (const one of open) {
      const outcome = await answerHere(one.id, call, ports);
      if (outcome !== undefined) return outcome;
    }
    return undefined;
  }
  if (!call.mayPark && call.approvalId === undefined) return nobodyToAsk(call, first, first.notByCaller);
  return waitingForBatch({ id, approvalId: approvalId ?? batch }, open);
}

/** The result of a call of a script that waits for these requests. */
export function waitingForBatch(
  { id, approvalId }: { readonly id: string; readonly approvalId: string },
  open: readonly StoredApproval[],
): WaitingResult {
  const expiresAt = Math.min(...open.map((approval) => approval.expiresAt));
  const note = open.find(({ notByCaller }) => notByCaller !== undefined)?.notByCaller;
  return {
    ok: false,
    status: 'waiting',
    waiting: { for: 'approval', id: approvalId, expiresAt, callId: id, ...(note !== undefined && { note }) },
  };
}

/** Withdraws what a task waits for. */
export async function withdraw(
  { batch, approvalId }: Pick<StoredTask, 'batch' | 'approvalId'>,
  approvals: Pick<StoredApprovals, 'ofBatch' | 'end'>,
): Promise<void> {
  const ofBatch = batch === undefined ? [] : await approvals.ofBatch(batch);
  const ids = batch === undefined && approvalId !== undefined ? [approvalId] : ofBatch.map(({ id }) => id);
  for (const id of ids) await approvals.end(id, 'withdrawn');
}

function waitingFor({ id, expiresAt, notByCaller }: StoredApproval): WaitingResult {
  const note = notByCaller === undefined ? {} : { note: notByCaller };
  return { ok: false, status: 'waiting', waiting: { for: 'approval', id, expiresAt, ...note } };
}
