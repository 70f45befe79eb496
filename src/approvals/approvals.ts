import { isRemember, whyNotAnswer } from '../core/approval-request.ts';
import { cutArguments } from '../core/approval-text.ts';
import { type Caller, readCaller } from '../core/caller.ts';
import { APPROVAL_STATES, type ApprovalState } from '../core/ports/approval-states.ts';
import type { CribContext } from '../core/ports/crib-context.ts';
import {
  type ListedApproval,
  MAX_REMEMBER_MS,
  type Remember,
  type StoredApproval,
  type StoredApprovals,
  UNLISTED_KEYS,
} from '../core/ports/stored-approvals.ts';
import { defined, describe, didYouMean, readNameList, readOptions } from '../core/read-options.ts';
import { type Redact, redactData } from '../core/redact-result.ts';
import { ToolcribError, type ToolError, type ToolErrorCode, toolError } from '../core/tool-error.ts';

/** A request for approval without its unlisted fields; the values of secrets are redacted. */
export type Approval = ListedApproval;

/** The request after the change, or the reason why nothing was changed. */
export type ApprovalOutcome =
  | { readonly ok: true; readonly approval: Approval }
  | { readonly ok: false; readonly error: ToolError };

/** An approver's answer to a request. */
export interface ApprovalDecision {
  readonly decision: 'approve' | 'deny';
  readonly note?: string;
  /** Scope of a remembered approval: this conversation or these arguments (30 days each), or all calls for a given time. */
  readonly remember?: Remember;
}

/** Filter for listing requests. */
export interface ApprovalFilter {
  readonly state?: ApprovalState;
  /** Only the requests with these ids. */
  readonly ids?: readonly string[];
  readonly limit?: number;
}

/** The approval requests in the store of a crib. */
export interface CribApprovals {
  /** Lists the newest requests, oldest first, with long arguments cut; all states unless the filter names one. With `by`: only requests that this caller may answer or has made. */
  list(filter?: ApprovalFilter, by?: Caller): Promise<readonly Approval[]>;
  /** Returns one request. Its arguments are complete while it is waiting, approved or running. With `by`: only if this caller may answer it or has made it. */
  get(id: string, by?: Caller): Promise<Approval | undefined>;
  /** Answers a request once. Does not run the call. Never rejects. */
  answer(id: string, decision: ApprovalDecision, by: Caller): Promise<ApprovalOutcome>;
  /** Forgets the remembered approval of this request. Never rejects. */
  forget(id: string, by: Caller): Promise<ApprovalOutcome>;
}

const MANY = 10_000;

/** Creates the approvals of a crib; without a store the list is empty. */
export function createApprovals({ store, redact }: Pick<CribContext, 'store' | 'redact'>): CribApprovals {
  const stored = store?.approvals;
  const change = async (id: unknown, by: unknown, work: Change): Promise<ApprovalOutcome> => {
    try {
      const caller = readCaller(by as Caller); // readCaller checks it
      const request = typeof id === 'string' ? await stored?.get(id) : undefined;
      if (stored === undefined || request === undefined || request.isSealed === false)
        return refuse('invalid_input', `The approval ${describe(id)} was not found.`);
      const obstacle = whyNotAnswer(request, caller);
      if (obstacle !== undefined)
        return refuse('denied', `${nameOf(caller)} may not answer the approval ${request.id}: ${obstacle}.`);
      const done = await work(request, stored, nameOf(caller));
      return 'ok' in done ? done : { ok: true, approval: toCutApproval(done, redact) };
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause;
      return failureOf(cause);
    }
  };
  return {
    list: async (filter = {}, by) => {
      const { limit = MANY, ...rest } = readApprovalFilter(filter);
      const found = await stored?.list({ limit, ...rest });
      const theirs = by === undefined ? found : found?.filter((approval) => concerns(approval, by));
      return (theirs ?? []).map((approval) => redactApproval(approval, redact));
    },
    get: async (id, by) => {
      const found = typeof id === 'string' ? await stored?.get(id) : undefined;
      if (found === undefined || found.isSealed === false || (by !== undefined && !concerns(found, by)))
        return undefined;
      return toShownApproval(found, redact);
    },
    answer: (id, decision, by) => change(id, by, answerWith(decision)),
    forget: (id, by) => change(id, by, forget),
  };
}

function concerns({ caller, approvers }: Approval, by: Caller): boolean {
  if (by.id !== undefined && caller.id === by.id) return true;
  return whyNotAnswer({ callerId: caller.id ?? '', approvers }, by) === undefined;
}

/** The request with long arguments cut, as in lists. */
export function toCutApproval(approval: StoredApproval, redact: Redact): Approval {
  return toShownApproval({ ...approval, ...cutArguments(approval.arguments) }, redact);
}

/** The request without its unlisted fields, redacted. */
export function toShownApproval(approval: StoredApproval, redact: Redact): Approval {
  const { lifetimeMs: _lifetime, ...rest } = approval;
  const listed = Object.fromEntries(Object.entries(rest).filter(([key]) => !UNLISTED.has(key)));
  return redactApproval(listed as unknown as Approval, redact); // only the unlisted keys were removed
}

const UNLISTED: ReadonlySet<string> = new Set(UNLISTED_KEYS);

/** Redacts the fields that callers fill in, and texts derived from them. */
function redactApproval(approval: Approval, redact: Redact): Approval {
  const free = defined(approval, FREE);
  const clean = redactData(free, redact);
  return clean === free ? approval : { ...approval, ...clean };
}

const FREE = [
  'arguments',
  'reason',
  'question',
  'inputResponses',
  'conversation',
  'turn',
  'timeZone',
  'idempotencyKey',
] as const;

/** A change to a request, by a caller that is allowed to answer it. */
type Change = (
  request: StoredApproval,
  stored: StoredApprovals,
  by: string,
) => Promise<StoredApproval | Extract<ApprovalOutcome, { ok: false }>>;

function answerWith(given: unknown): Change {
  return async (request, stored, by) => {
    const decision = readDecision(given);
    const lost = whyNotRemembered(decision.remember, request);
    if (lost !== undefined) return refuse('invalid_input', `The answer cannot be remembered: ${lost}.`);
    const answered = await stored.answer(request.id, { ...decision, by });
    return answered ?? refuse('conflict', whyOver((await stored.get(request.id)) ?? request));
  };
}

const forget: Change = async (request, stored) => {
  const isForgotten = await stored.forget(request.id);
  return isForgotten ? request : refuse('conflict', `No remembered answer for the approval ${request.id} was found.`);
};

function whyOver({ id, state, answer, expiresAt }: StoredApproval): string {
  if (state === 'expired') return `The approval ${id} expired at ${new Date(expiresAt).toISOString()}.`;
  if (state === 'withdrawn') return `The approval ${id} was withdrawn: the call that requested it has ended.`;
  const verb = answer?.decision === 'deny' ? 'denied' : 'approved';
  return `The approval ${id} was already answered: ${answer?.by ?? 'an approver'} ${verb} it.`;
}

function whyNotRemembered(remember: Remember | undefined, request: StoredApproval): string | undefined {
  if (remember === undefined) return undefined;
  if (request.question !== undefined) return 'it answers a question that the tool asked during its call';
  if (request.callerId === '') return 'the caller of the request has no id';
  const isLost = remember === 'conversation' && request.conversation === undefined;
  return isLost ? 'the call has no conversation id' : undefined;
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

const MAX_NOTE = 2000;

/** Validates a decision and normalizes it. */
function readDecision(value: unknown): ApprovalDecision {
  const { decision, note, remember } = readOptions<ApprovalDecision>(
    value,
    ['decision', 'note', 'remember'],
    'An answer to an approval',
  );
  if (decision !== 'approve' && decision !== 'deny')
    throw invalid(`"decision" must be approve or deny, got ${describe(decision)}.`);
  if (note !== undefined && (typeof note !== 'string' || note.length > MAX_NOTE))
    throw invalid(`"note" must be a text of at most ${MAX_NOTE} characters.`);
  const remembered = remember === undefined ? undefined : readRemember(remember);
  if (remembered !== undefined && decision === 'deny')
    throw invalid('Only an approval can be remembered, not a denial.');
  return {
    decision,
    ...(note !== undefined && note !== '' && { note }),
    ...(remembered !== undefined && { remember: remembered }),
  };
}

function readRemember(remember: unknown): Remember {
  if (!isRemember(remember))
    throw invalid('"remember" must be "conversation", "arguments" or { forMs } with a number above 0.');
  if (typeof remember === 'string') return remember;
  const { forMs } = remember;
  if (forMs > MAX_REMEMBER_MS) throw invalid('"remember.forMs" must be at most 30 days.');
  return { forMs };
}

/** Validates a filter for listing requests. */
function readApprovalFilter(value: unknown): ApprovalFilter {
  const given = readOptions<ApprovalFilter>(value, ['state', 'ids', 'limit'], 'approvals.list');
  const { state, ids, limit } = given;
  if (ids !== undefined) readNameList(ids, 'approvals.list: ids');
  if (state !== undefined && !APPROVAL_STATES.includes(state)) {
    const guess = didYouMean(String(state), APPROVAL_STATES);
    throw invalid(`"state" must be one of ${APPROVAL_STATES.join(', ')}, got ${describe(state)}.${guess}`);
  }
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0))
    throw invalid(`"limit" must be a whole number above 0, got ${describe(limit)}.`);
  return given;
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_option', message);
}
