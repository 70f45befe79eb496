import { randomUUID } from 'node:crypto';
import type { Confirm, Question } from '../core/approval-request.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import type { StoredApproval } from '../core/ports/stored-approvals.ts';
import { describeBound } from '../core/ports/stored-results.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { describeCall, type Ending, timeToAnswer, waitForAnswer } from './ask-callback.ts';
import { subjectOf } from './bind-request.ts';
import { type ApprovalContext, type Asking, toRequest } from './settle-request.ts';

function questionOf(asked: string): Question {
  return { reason: 'it asks a question during its call', ground: 'confirm', asked };
}

/** Asks through the host's callback, in memory. For cribs without a store. */
export function confirmByCallback({
  clock,
  timeoutMs,
}: {
  readonly clock: Clock;
  readonly timeoutMs: number;
}): Confirm {
  return async (call, asked, approve) => {
    if (approve === undefined) return false;
    const timeMs = timeToAnswer(call.spec.policy, timeoutMs);
    const shown = describeCall(call, questionOf(asked));
    const request = { ...shown, id: randomUUID(), expiresAt: Math.round(clock.now() + timeMs) };
    return isYes(await waitForAnswer({ call, approve, request, clock, timeoutMs: timeMs }));
  };
}

/** Asks through a request in the store, which the host's callback or any approver can answer. The call waits in memory; any failure counts as a no. */
export function confirmThroughStore(context: ApprovalContext): Confirm {
  return async (call, asked, approve) => {
    const about = `The question of "${call.spec.name}" could not be asked`;
    try {
      const asking = toAsking(call, questionOf(asked), context);
      const added = await context.approvals.add({ ...asking.subject, isParked: false }, context.bounds);
      if (added.ok) return await awaitYes(asking, added.approval, approve);
      const why = describeBound(added.broken, context.bounds, 'approval requests that are waiting or running');
      context.warn(`${about}: ${why}.`);
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause;
      context.warn(`${about}, or its answer could not be read: ${messageOf(cause)}`);
    }
    return false;
  };
}

/** Binds the request to a definition hash that no tool has, so a yes to a question can never approve a call. */
function toAsking(call: ToolCall, question: Question, context: ApprovalContext): Asking {
  const subject = subjectOf(call, question, context.timeoutMs);
  return { call, question, context, subject: { ...subject, definitionHash: `question ${subject.definitionHash}` } };
}

async function awaitYes(asking: Asking, approval: StoredApproval, approve: Parameters<Confirm>[2]): Promise<boolean> {
  const { call, context } = asking;
  const { approvals, clock, poller } = context;
  const { id, lifetimeMs } = approval;
  call[FACTS].onQuestion?.(id);
  const ending = await waitForAnswer({
    call,
    approve,
    request: toRequest(approval),
    clock,
    timeoutMs: lifetimeMs,
    follow: (settled) =>
      poller.watch(id, (state) => void (state === undefined || state === 'waiting' || settled())).stop,
    onSlow: () => context.announce?.(approval),
  });
  if (ending === 'elsewhere') return takeYes(asking, id);
  if (ending === 'late') return (await approvals.end(id, 'expired')) ? false : takeYes(asking, id);
  if (!('answer' in ending)) {
    await approvals.end(id, 'withdrawn');
    return false;
  }
  const { isYes, remember: _remember, ...answer } = ending.answer;
  const decision = isYes ? 'approve' : 'deny';
  const answered = await approvals.answer(id, { ...answer, decision }, call.id);
  if (answered === undefined) return takeYes(asking, id); // another answer came first
  return isYes && noteHeard(asking, id);
}

/** A yes given through the store counts after it was claimed. */
async function takeYes({ call, subject, context }: Asking, id: string): Promise<boolean> {
  const { approvals, recheck } = context;
  const approval = await approvals.get(id);
  if (approval?.state !== 'approved') return false;
  if ((await recheck(approval.unlisted.caller, approval.profile)) !== undefined) return false; // the caller has lost its access
  if ((await approvals.claim(id, subject, call.id)) === undefined) return false;
  return noteHeard({ context }, id);
}

async function noteHeard({ context }: Pick<Asking, 'context'>, id: string): Promise<true> {
  const { approvals, warn } = context;
  await approvals
    .finish(id, 'done')
    .catch((cause) =>
      warn(`The answer to the question ${id} was received but could not be marked as used: ${messageOf(cause)}`),
    );
  return true;
}

function isYes(ending: Ending): boolean {
  return typeof ending === 'object' && 'answer' in ending && ending.answer.isYes;
}
