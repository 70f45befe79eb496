import type { ApprovalOptions, ApprovalPorts, Ask, Permit } from '../core/approval-request.ts';
import type { CribContext } from '../core/ports/crib-context.ts';
import type { StoredApproval } from '../core/ports/stored-approvals.ts';
import { describeBound, type KeepBound, keepBoundsOf, RETRY_WITHOUT_ROOM_MS } from '../core/ports/stored-results.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { ToolcribError, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult, type WaitingResult } from '../core/tool-result.ts';
import { createWebhook, type Hook } from '../system/fetch/webhook.ts';
import { announceBatches, toMessage } from './announce.ts';
import {
  askCallback,
  callerOf,
  denied,
  LIBRARY_DOOR,
  nobodyToAsk,
  ownAnswerOf,
  SERVER_DOORS,
  saidNo,
} from './ask-callback.ts';
import { subjectOf } from './bind-request.ts';
import { confirmByCallback, confirmThroughStore } from './confirm.ts';
import { coveringGrants, foreseeApproval, foreseeAsking, isForInnerCall, mismatchOf, notThere } from './find-answer.ts';
import { permitByGrant } from './grants.ts';
import { usedUp } from './parked-results.ts';
import {
  type ApprovalContext,
  type Asking,
  answerToOwn,
  awaitAnswer,
  noLongerOpen,
  type Step,
  settle,
} from './settle-request.ts';

/** Doors whose parked calls a crib or a server runs after approval. */
const RUN_LATER_DOORS: readonly string[] = [...SERVER_DOORS, LIBRARY_DOOR];

/** Number of attempts after losing a race. */
const MAX_TURNS = 20;

/** The parts of the crib that approvals need. */
type ApproverPorts = Pick<CribContext, 'store' | 'redact' | 'sign'> &
  Pick<ApprovalContext, 'clock' | 'poller' | 'recheck' | 'warn' | 'onParked' | 'schemas'>;

const USUAL_TIMEOUT_MS = 300_000;

/** Creates the approver: the caller's callback and, with a store, every approver who can answer through it. */
export function createApprover(
  options: Omit<ApprovalOptions, 'mode'> & Partial<Pick<ApprovalContext, 'clock'>>,
  hook: Hook | undefined,
  ports: ApproverPorts,
): ApprovalPorts {
  const { timeoutMs = USUAL_TIMEOUT_MS, clock = ports.clock } = options;
  const { store, poller, recheck, redact, warn, onParked, schemas } = ports;
  if (store === undefined)
    return {
      ask: askCallback({ clock, timeoutMs }),
      confirm: confirmByCallback({ clock, timeoutMs }),
      foresee: async (call, question) => foreseeAsking(call, question),
    };
  const rest = { poller, recheck, redact, warn, onParked, schemas };
  const context = { approvals: store.approvals, clock, timeoutMs, bounds: keepBoundsOf(options), ...rest };
  const foresee: ApprovalPorts['foresee'] = (call, question) =>
    foreseeApproval({ call, question, subject: subjectOf(call, question, timeoutMs), context });
  if (hook === undefined) return { ask: requestApproval(context), confirm: confirmThroughStore(context), foresee };
  const { url, secret } = hook;
  const webhook = createWebhook({ url, sign: (text) => ports.sign(secret, text), clock, warn });
  const announce = (approval: StoredApproval) => webhook.send(toMessage([approval], redact));
  const batches = announceBatches(store.approvals, {
    ...ports,
    send: (items) => webhook.send(toMessage(items, redact)),
  });
  const announcing = { ...context, announce, announceBatch: batches.announce };
  const close = async () => {
    batches.stop();
    await webhook.close();
  };
  return { ask: requestApproval(announcing), confirm: confirmThroughStore(announcing), foresee, close };
}

/** Requests approval through the store, so that approvers can answer later, even after a restart. Each approval is used once. */
function requestApproval(context: ApprovalContext): Ask {
  return async (call, question) => {
    try {
      return await permitFor({ call, question, subject: subjectOf(call, question, context.timeoutMs), context });
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause;
      const message = `"${call.spec.name}" requires approval, but the store with the approvals is not available. Call it again later.`;
      return failed(toolError('unavailable', message, { retryable: true, cause }));
    }
  };
}

async function permitFor(asking: Asking): Promise<Permit | ToolResult | 'inner'> {
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const step = await lookOnce(asking);
    if (step !== 'again') return step;
  }
  const message = `"${asking.call.spec.name}" has too many identical calls at the same time. Call it again.`;
  return failed(toolError('conflict', message, { retryable: true }));
}

async function lookOnce(asking: Asking): Promise<Step | 'inner'> {
  const { call, subject, context } = asking;
  if (call.approvalId !== undefined) {
    if (call.hasOwnContext) return notWithContext(call);
    const named = await context.approvals.get(call.approvalId);
    if (named === undefined) return notThere(call);
    if (isForInnerCall(asking, named)) return stepBefore(asking, named);
    return mismatchOf(asking, named) ?? takeUp(asking, named);
  }
  const found = await context.approvals.find(subject);
  // A parked call runs with the context it was parked with. A denial also holds for this call.
  // Each inner call of a script has a request of its own.
  const isAlone = call.hasOwnContext || call.batch !== undefined;
  const parked = isAlone && found?.state !== 'denied' ? undefined : found;
  // An answer to this very call takes precedence over remembered answers.
  if (parked !== undefined && parked.state !== 'waiting' && !isAskedAnew(parked, asking)) return settle(asking, parked);
  const permit = await rememberedPermit(asking);
  if (permit !== undefined) return permit;
  return parked?.state === 'waiting' ? takeUp(asking, parked) : askAnew(asking);
}

/** The step of a call that names the approval of a call inside it: it begins only if that one can be made. */
async function stepBefore({ call, context }: Asking, approval: StoredApproval): Promise<Step | 'inner'> {
  const { id, state, tool, answer, approvers } = approval;
  const own = state === 'waiting' ? ownAnswerOf(call, approvers) : undefined;
  if (own !== undefined) {
    await context.approvals.answer(id, { decision: own ? 'approve' : 'deny', by: callerOf(call) });
    return 'again';
  }
  if (state === 'approved' || (state === 'waiting' && call.caller.approve !== undefined)) return 'inner';
  if (state === 'waiting') return waitingFor(approval, call);
  if (state === 'denied') return saidNo(tool, answer?.note);
  return state === 'claimed' || state === 'done' ? usedUp(tool, approval) : noLongerOpen(tool);
}

async function rememberedPermit(asking: Asking): Promise<Permit | undefined> {
  return permitByGrant(await coveringGrants(asking), asking.context);
}

// A caller with an approval callback may ask again after a denial; other callers may not.
function isAskedAnew({ state }: StoredApproval, { call, subject }: Asking): boolean {
  const { approve } = call.caller;
  return state === 'denied' && approve !== undefined && ownAnswerOf(call, subject.approvers) === undefined;
}

async function askAnew(asking: Asking): Promise<Step> {
  const { call, question, subject, context } = asking;
  if (isAttended(asking, subject)) {
    const added = await context.approvals.add({ ...subject, isParked: false }, context.bounds);
    return added.ok ? awaitAnswer(asking, added.approval) : noRoom(asking, added.broken);
  }
  if (call.mayPark && call.hasOwnContext) return nobodyToAsk(call, question, NOT_KEPT);
  if (!call.mayPark) return nobodyToAsk(call, question, subject.notByCaller);
  const parked = isRunLater(call) ? { parked: { callId: call.id } } : {};
  const batch = call.batch === undefined ? {} : { batch: call.batch };
  const added = await context.approvals.add({ ...subject, ...parked, ...batch, isParked: true }, context.bounds);
  if (!added.ok) return noRoom(asking, added.broken);
  if (!added.isNew) return 'again';
  if (call.batch !== undefined) {
    context.announceBatch?.(call.batch);
    return waitingFor(added.approval, call);
  }
  context.announce?.(added.approval);
  if (call.door === LIBRARY_DOOR) context.onParked();
  return waitingFor(added.approval, call);
}

const NOT_KEPT = 'A call with context cannot be parked: pass approve(), or call it without context.';

function notWithContext({ approvalId }: ToolCall): FailedResult {
  return denied(`The approval "${approvalId}" is for a call without context. Call without context to use it.`);
}

function noRoom({ call, context }: Asking, broken: KeepBound): FailedResult {
  const why = describeBound(broken, context.bounds, 'approval requests that are waiting or running');
  const message = `"${call.spec.name}" requires approval, but its request was not stored: ${why}. Wait until some are answered or expire, or raise extensions.approval.${broken}.`;
  return failed(toolError('rate_limited', message, { retryable: true, retryAfterMs: RETRY_WITHOUT_ROOM_MS }));
}

async function takeUp(asking: Asking, approval: StoredApproval): Promise<Step> {
  if (approval.state !== 'waiting') return settle(asking, approval);
  return isAttended(asking, approval) ? awaitAnswer(asking, approval) : waitingFor(approval, asking.call);
}

/** True if an approver can answer right now. */
function isAttended(asking: Asking, request: Pick<StoredApproval, 'approvers'>): boolean {
  return asking.call.caller.approve !== undefined || answerToOwn(asking, request) !== undefined;
}

function waitingFor({ id, expiresAt, parked, notByCaller }: StoredApproval, call: ToolCall): WaitingResult {
  const isKnown = parked?.callId === call.id && call.door !== LIBRARY_DOOR; // the door reports the call id itself
  const first = parked === undefined || isKnown ? {} : { callId: parked.callId };
  const note = notByCaller === undefined ? {} : { note: notByCaller };
  return { ok: false, status: 'waiting', waiting: { for: 'approval', id, expiresAt, ...first, ...note } };
}

/** True if the crib runs the call after approval. Nested calls are excluded: the outer tool needs their result. */
function isRunLater({ door, parent }: ToolCall): boolean {
  return parent === undefined && RUN_LATER_DOORS.includes(door);
}
