import type { HostAnswer, Permit, Question } from '../core/approval-request.ts';
import type { Recheck } from '../core/caller.ts';
import { freezeJson } from '../core/json.ts';
import type { Clock, Schemas } from '../core/ports/crib-context.ts';
import { isGrantTerms } from '../core/ports/remember.ts';
import type { NewApproval, ParkedEnd, StoredApproval, StoredApprovals } from '../core/ports/stored-approvals.ts';
import type { KeepBounds } from '../core/ports/stored-results.ts';
import { defined } from '../core/read-options.ts';
import { redactResult } from '../core/redact-result.ts';
import type { SaidAlong, TakenUp, ToolCall } from '../core/tool-call.ts';
import { messageOf } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';
import {
  callerOf,
  couldNotAsk,
  denied,
  type Ending,
  nobodyAnswered,
  ownAnswerOf,
  saidNo,
  type Waiting,
  waitForAnswer,
} from './ask-callback.ts';
import { whyNotRemembered } from './grants.ts';
import { returnParkedResult, usedUp } from './parked-results.ts';
import type { ApprovalPoller } from './poller.ts';

/** The parts of the crib that approvals through the store need. */
export interface ApprovalContext {
  readonly approvals: StoredApprovals;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Limits on what may wait in the store. */
  readonly bounds: KeepBounds;
  /** Announces a waiting request, for example by webhook. */
  announce?(approval: StoredApproval): void;
  /** Announces a batch as soon as it is sealed. */
  announceBatch?(batch: string): void;
  /** Called after a library call was parked, so that the crib runs it when it is approved. */
  onParked(): void;
  readonly poller: ApprovalPoller;
  readonly schemas: Schemas;
  readonly recheck: Recheck;
  /** Removes the values of secrets from a text. */
  redact(text: string): string;
  warn(message: string): void;
}

/** A call that needs approval, with its request. */
export interface Asking {
  readonly call: ToolCall;
  readonly question: Question;
  readonly subject: Omit<NewApproval, 'isParked'>;
  readonly context: ApprovalContext;
}

/** The outcome of one look at the store; `again` if another process changed the request first. */
export type Step = Permit | ToolResult | 'again';

/** Waits for the first answer: from the caller, the host's callback, or an approver through the store. */
export async function awaitAnswer(asking: Asking, approval: StoredApproval): Promise<Step> {
  const { call, context } = asking;
  const own = answerToOwn(asking, approval);
  if (own !== undefined) return reply(asking, approval, { isYes: own, by: callerOf(call) });
  // The store says that the request is waiting. If it has expired by the local clock, the local clock is wrong.
  const { expiresAt, lifetimeMs } = approval;
  const leftMs = expiresAt > context.clock.now() ? Math.min(lifetimeMs, expiresAt - context.clock.now()) : lifetimeMs;
  const ending = await waitForAnswer({
    call,
    approve: call.caller.approve,
    request: toRequest(approval),
    clock: context.clock,
    timeoutMs: approval.isParked ? leftMs : lifetimeMs,
    follow: (settled) =>
      context.poller.watch(approval.id, (state) => void (state === undefined || state === 'waiting' || settled())).stop,
    onSlow: () => approval.isParked || context.announce?.(approval), // a parked request was announced when it was parked
  });
  return conclude(asking, approval, ending);
}

/** The caller's own answer, if both the current policy and the request let it answer. */
export function answerToOwn(
  { call, subject }: Asking,
  { approvers }: Pick<StoredApproval, 'approvers'>,
): boolean | undefined {
  return ownAnswerOf(call, approvers) === undefined ? undefined : ownAnswerOf(call, subject.approvers);
}

/** The request as it was made, perhaps by an earlier call, for the host's callback. */
export function toRequest(approval: StoredApproval): Waiting['request'] {
  const shown = [
    'id',
    'expiresAt',
    'tool',
    'title',
    'description',
    'arguments',
    'caller',
    'profile',
    'reason',
    'question',
    'door',
  ] as const;
  return defined(approval, [...shown, ...SAID, 'inputResponses', 'inside']);
}

const SAID = ['conversation', 'turn', 'timeZone', 'idempotencyKey'] as const;

/** The options that were sent along with the call of a request. */
export function saidWith(approval: StoredApproval): SaidAlong {
  const { inputResponses, unlisted } = approval;
  const { inputState } = unlisted;
  const input = {
    ...defined(unlisted, ['capabilities']),
    ...(inputResponses !== undefined && { responses: inputResponses }),
    ...(inputState !== undefined && { state: inputState }),
  };
  return {
    ...defined(approval, ['door', ...SAID]),
    ...defined(unlisted, ['traceparent']),
    ...(Object.keys(input).length > 0 && { answers: { input } }),
  };
}

async function conclude(asking: Asking, approval: StoredApproval, ending: Ending): Promise<Step> {
  const { call, context } = asking;
  const { id, lifetimeMs } = approval;
  const { approvals } = context;
  if (ending === 'elsewhere') return settle(asking, await approvals.get(id));
  if (ending === 'late') {
    const isExpired = (await approvals.end(id, 'expired')) || (await approvals.stateOf(id)) === 'expired';
    return isExpired ? nobodyAnswered(call.spec.name, lifetimeMs) : settle(asking, await approvals.get(id));
  }
  if ('answer' in ending) return reply(asking, approval, ending.answer);
  const refusal = 'reason' in ending ? failed(ending.reason) : couldNotAsk(call.spec.name, ending.failure);
  return withdraw(refusal, approval, context);
}

/** Withdraws the request of a call that has ended, and returns the refusal. A parked request is kept. */
async function withdraw<T>(
  refusal: T,
  { id, isParked }: StoredApproval,
  { approvals, warn }: ApprovalContext,
): Promise<T> {
  if (!isParked) await approvals.end(id, 'withdrawn').catch((cause) => warn(messageOf(cause)));
  return refusal;
}

async function reply(asking: Asking, approval: StoredApproval, answer: HostAnswer): Promise<Step> {
  const { id } = approval;
  const { call, context } = asking;
  const { isYes, ...rest } = answer;
  const decision = isYes ? 'approve' : 'deny';
  const barred = isYes ? await barredFrom(approval, asking) : undefined;
  if (barred !== undefined) return withdraw(barred, approval, context);
  const kept = isYes ? rest : defined(rest, ['by', 'note']);
  const answered = await context.approvals.answer(id, { ...keepable(kept, approval, context), decision }, call.id);
  if (answered === undefined) return settle(asking, await context.approvals.get(id));
  return isYes ? permitOf(answered, asking) : saidNo(call.spec.name, answer.note);
}

/** The answer without a scope that cannot be remembered: the yes then counts for this call only. */
function keepable(
  { remember, ...answer }: Omit<HostAnswer, 'isYes'>,
  approval: StoredApproval,
  { schemas, warn }: ApprovalContext,
): Omit<HostAnswer, 'isYes'> {
  const why = isGrantTerms(remember) ? whyNotRemembered(remember, approval, schemas) : undefined;
  if (why === undefined) return { ...answer, ...defined({ remember }) };
  warn(`The answer to the approval ${approval.id} counts once, and cannot be remembered: ${why}.`);
  return answer;
}

/** Continues a call whose request is no longer waiting. */
export async function settle(asking: Asking, approval: StoredApproval | undefined): Promise<Step> {
  const { call, subject, context } = asking;
  const { name } = call.spec;
  switch (approval?.state) {
    case 'approved': {
      const barred = await barredFrom(approval, asking);
      if (barred !== undefined) return barred;
      // The same call sent again without the answers uses the request that has them.
      const { answersHash } = approval;
      const bound = answersHash === undefined ? subject : { answersHash, ...subject };
      const claimed = await context.approvals.claim(approval.id, bound, call.id);
      if (claimed === undefined) return 'again';
      const permit = permitOf(claimed, asking);
      // An approval that was given back may be claimed by another call than the one that was shown.
      return approval.claim === undefined ? permit : { ...permit, takenUp: takenUpOf(claimed) };
    }
    case 'denied':
      return saidNo(name, approval.answer?.note);
    case 'claimed':
    case 'done':
      if (approval.parked !== undefined) return returnParkedResult(asking, approval);
      return call.approvalId === undefined ? 'again' : usedUp(name, approval);
    default:
      return noLongerOpen(name);
  }
}

/** The refusal of a call whose request has ended without an answer. */
export function noLongerOpen(tool: string): FailedResult {
  return denied(`The approval for "${tool}" expired or was withdrawn. Call it again to request a new one.`);
}

/** A refusal if the caller lost its key or its profile while it waited. The approval is not used. */
export async function barredFrom(
  { unlisted, profile }: StoredApproval,
  { call, context }: Asking,
): Promise<FailedResult | undefined> {
  const reason = await context.recheck(unlisted.caller, profile);
  if (reason === undefined) return undefined;
  return denied(`"${call.spec.name}" was approved, but its caller may no longer call it: ${reason}.`);
}

function permitOf(approval: StoredApproval, { call, context }: Asking): Permit {
  const { approvals, bounds, redact, warn } = context;
  const { id, answer, parked, claim, isParked } = approval;
  const endOf = (result: ToolResult): ParkedEnd | undefined =>
    parked && {
      result: redactResult(result, redact), // it is kept in the store
      isHandedOver: claim?.callId !== parked.callId,
      bounds,
    };
  const finish = (result: ToolResult) =>
    approvals
      .finish(id, result.status === 'failed' ? result.error.code : result.status, endOf(result))
      .catch((cause) =>
        warn(`The result of the call with the approval ${id} could not be stored: ${messageOf(cause)}`),
      );
  const giveBack = async (result: ToolResult): Promise<void> => {
    const isGiven = await approvals.giveBack(id).catch((cause) => {
      warn(`The approval ${id} was not used and could not be released yet: ${messageOf(cause)}`);
      return true; // the store does it later
    });
    if (!isGiven) await finish(result); // its outcome counted as unknown; this is the real one
  };
  // A request that is not parked belongs to this call, unless the call names it.
  const isOfAnother = isParked || call.approvalId !== undefined;
  return { id, by: answer?.by ?? 'host', ...(isOfAnother && { takenUp: takenUpOf(approval) }), finish, giveBack };
}

function takenUpOf(approval: StoredApproval): TakenUp {
  return freezeJson({ ...saidWith(approval), caller: approval.unlisted.caller });
}
