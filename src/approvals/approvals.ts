import { whyNotAnswer } from '../core/approval-request.ts';
import { type Caller, readCaller } from '../core/caller.ts';
import type { CribContext, Schemas } from '../core/ports/crib-context.ts';
import { isGrantTerms } from '../core/ports/remember.ts';
import type { ApprovalReply, StoredApproval, StoredApprovals } from '../core/ports/stored-approvals.ts';
import { describe } from '../core/read-options.ts';
import { ToolcribError, type ToolError, type ToolErrorCode, toolError } from '../core/tool-error.ts';
import { createSchemas } from '../schemas/create-schemas.ts';
import { type ApprovalBinding, toBinding } from './approval-binding.ts';
import { type Grant, whyNotRemembered } from './grants.ts';
import { type ApprovalDecision, type ApprovalFilter, readApprovalFilter, readDecision } from './read-decision.ts';
import {
  type Approval,
  concerns,
  groupByBatch,
  listFor,
  MOST_LISTED,
  redactApproval,
  toBatch,
  toCutApproval,
  toShownApproval,
} from './shown-approvals.ts';

/** The request after the change, or the reason why nothing was changed. */
export type ApprovalOutcome =
  | { readonly ok: true; readonly approval: Approval }
  | { readonly ok: false; readonly error: ToolError };

/** The approval requests in the store of a crib. The calls of a script that wait at the same time are one request with `items`; it has the id of their batch. */
export interface CribApprovals {
  /** Lists the newest requests, oldest first, with long arguments cut; all states unless the filter names one. With `by`: only requests that this caller may answer or has made. */
  list(filter?: ApprovalFilter, by?: Caller): Promise<readonly Approval[]>;
  /** Returns one request, by its id or that of its batch. Its arguments are complete while it is waiting, approved or running. With `by`: only if this caller may answer it or has made it. */
  get(id: string, by?: Caller): Promise<Approval | undefined>;
  /** The data that an answer to this request is bound to, and the last approved request of the same tool and caller. With `by`: only what this caller may see. */
  binding(id: string, by?: Caller): Promise<ApprovalBinding | undefined>;
  /** Answers a request once; of a batch, all requests that still wait. Does not run the call. Never rejects. */
  answer(id: string, decision: ApprovalDecision, by: Caller): Promise<ApprovalOutcome>;
  /** Forgets the remembered approval of this request. Never rejects. */
  forget(id: string, by: Caller): Promise<ApprovalOutcome>;
  /** The remembered approvals that let calls pass now, newest first. */
  grants(): Promise<readonly Grant[]>;
}

const MOST_GRANTS = 1000;

/** Creates the approvals of a crib; without a store the list is empty. */
export function createApprovals({ store, redact }: Pick<CribContext, 'store' | 'redact'>): CribApprovals {
  const schemas = createSchemas();
  const stored = store?.approvals;
  const change = async (id: unknown, by: unknown, work: Change): Promise<ApprovalOutcome> => {
    try {
      const caller = readCaller(by as Caller); // readCaller checks it
      const requests = await requestsOf(id, stored);
      if (stored === undefined || requests.length === 0)
        return refuse('invalid_input', `The approval ${describe(id)} was not found.`);
      const obstacle = whyNotAnswerAll(requests, caller);
      if (obstacle !== undefined)
        return refuse('denied', `${nameOf(caller)} may not answer the approval ${String(id)}: ${obstacle}.`);
      const done = await work(requests, { stored, caller, schemas });
      if ('ok' in done) return done;
      const shown = toBatch(done.map((one) => toCutApproval(one, redact))) as Approval; // there is at least one
      return { ok: true, approval: shown };
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause;
      return failureOf(cause);
    }
  };
  return {
    list: async (filter = {}, by) => {
      const { limit = MOST_LISTED, ...rest } = readApprovalFilter(filter);
      const found = stored === undefined ? [] : await listFor(by, { limit, ...rest, isOncePerBatch: true }, stored);
      const shown = groupByBatch(found.map((approval) => redactApproval(approval, redact)));
      return rest.state === undefined ? shown : shown.filter(({ state }) => state === rest.state);
    },
    get: async (id, by) => {
      const found = await requestsOf(id, stored);
      return toBatch(
        found.filter((one) => by === undefined || concerns(one, by)).map((one) => toShownApproval(one, redact)),
      );
    },
    binding: async (id, by) => {
      const isSeen = (one: StoredApproval) => by === undefined || concerns(one, by);
      const [found] = (await requestsOf(id, stored)).filter(isSeen);
      const last = found === undefined ? undefined : await stored?.lastApproved(found);
      return found === undefined ? undefined : toBinding(found, last && isSeen(last) ? last : undefined, redact);
    },
    answer: (id, decision, by) => change(id, by, answerWith(decision)),
    forget: (id, by) => change(id, by, forget),
    grants: async () => {
      const found = (await stored?.grants(MOST_GRANTS)) ?? [];
      return found.map(({ approval, ...grant }) => ({
        ...grant,
        ...(approval !== undefined && { approval: redactApproval(approval, redact) }),
      }));
    },
  };
}

/** The request with this id, or all requests of the batch with this id. Unsealed ones do not count yet. */
async function requestsOf(id: unknown, stored: StoredApprovals | undefined): Promise<readonly StoredApproval[]> {
  if (typeof id !== 'string' || stored === undefined) return [];
  const one = await stored.get(id);
  const found = one === undefined ? await stored.ofBatch(id) : [one];
  return found.filter(({ isSealed }) => isSealed !== false);
}

/** The reason why a caller may not answer all of these; it may still answer those that it may. */
function whyNotAnswerAll(requests: readonly StoredApproval[], by: Caller): string | undefined {
  const [first] = requests;
  const batch = toBatch(requests);
  if (first === undefined || batch?.items === undefined) return first && whyNotAnswer(first, by);
  const waiting = requests.filter(({ state }) => state === 'waiting');
  const barred = (waiting.length > 0 ? waiting : requests).flatMap((one) => whyNotAnswer(one, by) ?? []);
  if (barred.length > 0)
    return `it may not answer ${barred.length} of its ${requests.length} calls (${barred[0]}). Answer the others one by one, by their ids`;
  if (by.operator === true || by.id !== first.callerId) return undefined;
  return whyNotAnswer({ ...batch, callerId: first.callerId }, by); // the caller itself: only if it can be shown all of them
}

/** A change to a request, or to all of a batch, by a caller that is allowed to answer it. */
type Change = (
  requests: readonly StoredApproval[],
  ports: ChangePorts,
) => Promise<readonly StoredApproval[] | Extract<ApprovalOutcome, { ok: false }>>;

interface ChangePorts {
  readonly stored: StoredApprovals;
  readonly caller: Caller;
  readonly schemas: Schemas;
}

function answerWith(given: unknown): Change {
  return async (requests, { stored, caller, schemas }) => {
    const decision = readDecision(given);
    const { remember } = decision;
    if (isGrantTerms(remember) && caller.operator !== true)
      return refuse(
        'denied',
        `${nameOf(caller)} may not remember an approval for further calls: only an operator may give "uses" and "vary".`,
      );
    const several = requests.length > 1 && isGrantTerms(remember) && remember.vary !== undefined;
    if (several)
      return refuse(
        'invalid_input',
        'The answer cannot be remembered: "vary" is about the arguments of one call. Answer the calls one by one, by their ids.',
      );
    const lost = requests
      .map((request) => whyNotRemembered(remember, request, schemas))
      .find((why) => why !== undefined);
    if (lost !== undefined) return refuse('invalid_input', `The answer cannot be remembered: ${lost}.`);
    return answerAll(requests, { ...decision, by: nameOf(caller) }, stored);
  };
}

async function answerAll(requests: readonly StoredApproval[], reply: ApprovalReply, stored: StoredApprovals) {
  const [first] = requests;
  if (first === undefined) return [];
  const { id, batch } = first;
  if (requests.length === 1 || batch === undefined) {
    const answered = await stored.answer(id, reply);
    return answered === undefined ? refuse('conflict', whyOver((await stored.get(id)) ?? first)) : [answered];
  }
  const answered = await stored.answerBatch(batch, reply);
  const now = (await stored.ofBatch(batch)).filter(({ isSealed }) => isSealed !== false);
  return answered.length > 0 ? now : refuse('conflict', whyBatchOver(batch, now));
}

const forget: Change = async (requests, { stored }) => {
  const forgotten = await Promise.all(requests.map(({ id }) => stored.forget(id)));
  if (forgotten.includes(true)) return requests;
  const named = requests.length === 1 ? requests[0]?.id : requests[0]?.batch;
  return refuse('conflict', `No remembered answer for the approval ${named} was found.`);
};

function whyBatchOver(batch: string, items: readonly StoredApproval[]): string {
  const [first] = items;
  const isSame = items.every(({ state, answer }) => state === first?.state && answer?.by === first?.answer?.by);
  if (first !== undefined && isSame) return whyOver({ ...first, id: batch });
  return `No call of the approval ${batch} waits for an answer any more: each was answered, expired or was withdrawn.`;
}

function whyOver({
  id,
  state,
  answer,
  expiresAt,
}: Pick<StoredApproval, 'id' | 'state' | 'answer' | 'expiresAt'>): string {
  if (state === 'expired') return `The approval ${id} expired at ${new Date(expiresAt).toISOString()}.`;
  if (state === 'withdrawn') return `The approval ${id} was withdrawn: the call that requested it has ended.`;
  const verb = answer?.decision === 'deny' ? 'denied' : 'approved';
  return `The approval ${id} was already answered: ${answer?.by ?? 'an approver'} ${verb} it.`;
}

function nameOf({ id, operator }: Caller): string {
  return id ?? (operator === true ? 'operator' : 'A caller without an id');
}

function refuse(code: ToolErrorCode, message: string): Extract<ApprovalOutcome, { ok: false }> {
  return { ok: false, error: toolError(code, message) };
}

function failureOf(cause: ToolcribError): ApprovalOutcome {
  if (/^(invalid|unknown)_option$/.test(cause.code))
    return { ok: false, error: toolError('invalid_input', cause.message, { cause }) };
  const message = 'The store with the approvals is not available. Try again later.';
  return { ok: false, error: toolError('unavailable', message, { retryable: true, cause }) };
}
