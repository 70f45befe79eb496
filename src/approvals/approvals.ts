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

/** A request for approval as it may be shown: without what it is bound to, and without the values of secrets. */
export type Approval = ListedApproval;

/** The request as it is now, or why nothing was done. */
export type ApprovalOutcome =
  | { readonly ok: true; readonly approval: Approval }
  | { readonly ok: false; readonly error: ToolError };

/** What somebody decides about a request. */
export interface ApprovalDecision {
  readonly decision: 'approve' | 'deny';
  readonly note?: string;
  /** For what else a yes counts: this conversation, these arguments (30 days each), or everything for a time. */
  readonly remember?: Remember;
}

/** Which requests are listed. */
export interface ApprovalFilter {
  readonly state?: ApprovalState;
  /** Only the requests with these ids. */
  readonly ids?: readonly string[];
  readonly limit?: number;
}

/** Requests for approval of a crib; they are kept in its store. */
export interface CribApprovals {
  /** The newest ones, oldest first, with long arguments cut; in every state unless one is named. With `by` only those that they may answer or have made. */
  list(filter?: ApprovalFilter, by?: Caller): Promise<readonly Approval[]>;
  /** One request. Its arguments are whole while it waits, is approved or runs. With `by` only one that they may answer or have made. */
  get(id: string, by?: Caller): Promise<Approval | undefined>;
  /** Answers once, for whoever asked, and runs nothing. Never rejects. */
  answer(id: string, decision: ApprovalDecision, by: Caller): Promise<ApprovalOutcome>;
  /** No longer remembers the yes of this request. Never rejects. */
  forget(id: string, by: Caller): Promise<ApprovalOutcome>;
}

const MANY = 10_000;

/** Approvals over a store; without one there are none. */
export function createApprovals({ store, redact }: Pick<CribContext, 'store' | 'redact'>): CribApprovals {
  const stored = store?.approvals;
  const change = async (id: unknown, by: unknown, work: Change): Promise<ApprovalOutcome> => {
    try {
      const caller = readCaller(by as Caller); // checked there
      const request = typeof id === 'string' ? await stored?.get(id) : undefined;
      if (stored === undefined || request === undefined)
        return refuse('invalid_input', `There is no approval ${describe(id)}.`);
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
      if (found === undefined || (by !== undefined && !concerns(found, by))) return undefined;
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

/** The same with long arguments cut, as lists show it. */
export function toCutApproval(approval: StoredApproval, redact: Redact): Approval {
  return toShownApproval({ ...approval, ...cutArguments(approval.arguments) }, redact);
}

/** What the outside may see of a request. */
export function toShownApproval(approval: StoredApproval, redact: Redact): Approval {
  const { lifetimeMs: _lifetime, ...rest } = approval;
  const listed = Object.fromEntries(Object.entries(rest).filter(([key]) => !UNLISTED.has(key)));
  return redactApproval(listed as unknown as Approval, redact); // without what is not listed it is one
}

const UNLISTED: ReadonlySet<string> = new Set(UNLISTED_KEYS);

/** What callers choose, and what is said of it, without the values of secrets. */
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

/** Does something with a request that its caller may answer. */
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
  return isForgotten ? request : refuse('conflict', `The answer to the approval ${request.id} is not remembered.`);
};

function whyOver({ id, state, answer, expiresAt }: StoredApproval): string {
  if (state === 'expired') return `The approval ${id} has expired at ${new Date(expiresAt).toISOString()}.`;
  if (state === 'withdrawn') return `The approval ${id} was withdrawn: whoever asked is gone.`;
  const verb = answer?.decision === 'deny' ? 'denied' : 'approved';
  return `The approval ${id} has been answered: ${answer?.by ?? 'somebody'} ${verb} it, and the first answer counts.`;
}

function whyNotRemembered(remember: Remember | undefined, request: StoredApproval): string | undefined {
  if (remember === undefined) return undefined;
  if (request.question !== undefined) return 'it answers a question in the middle of a call';
  if (request.callerId === '') return 'whoever asked did not say who they are';
  const isLost = remember === 'conversation' && request.conversation === undefined;
  return isLost ? 'the call named no conversation' : undefined;
}

function nameOf({ id, operator }: Caller): string {
  return id ?? (operator === true ? 'operator' : 'Whoever this is');
}

function refuse(code: ToolErrorCode, message: string): Extract<ApprovalOutcome, { ok: false }> {
  return { ok: false, error: toolError(code, message) };
}

function failureOf(cause: ToolcribError): ApprovalOutcome {
  if (/^(invalid|unknown)_option$/.test(cause.code))
    return { ok: false, error: toolError('invalid_input', cause.message, { cause }) };
  const message = 'The store that keeps approvals does not answer; try again later.';
  return { ok: false, error: toolError('unavailable', message, { retryable: true, cause }) };
}

const MAX_NOTE = 2000;

/** Checks a decision and brings it into its one form. */
function readDecision(value: unknown): ApprovalDecision {
  const { decision, note, remember } = readOptions<ApprovalDecision>(
    value,
    ['decision', 'note', 'remember'],
    'An answer to an approval',
  );
  if (decision !== 'approve' && decision !== 'deny')
    throw invalid(`A decision is approve or deny, not ${describe(decision)}.`);
  if (note !== undefined && (typeof note !== 'string' || note.length > MAX_NOTE))
    throw invalid(`A note is a text of at most ${MAX_NOTE} characters.`);
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
  if (!isRemember(remember)) throw invalid('remember is "conversation", "arguments" or { forMs }, a time above 0.');
  if (typeof remember === 'string') return remember;
  const { forMs } = remember;
  if (forMs > MAX_REMEMBER_MS) throw invalid('An answer is remembered for at most 30 days.');
  return { forMs };
}

/** Checks which requests are wanted. */
function readApprovalFilter(value: unknown): ApprovalFilter {
  const given = readOptions<ApprovalFilter>(value, ['state', 'ids', 'limit'], 'approvals.list');
  const { state, ids, limit } = given;
  if (ids !== undefined) readNameList(ids, 'approvals.list: ids');
  if (state !== undefined && !APPROVAL_STATES.includes(state)) {
    const guess = didYouMean(String(state), APPROVAL_STATES);
    throw invalid(`An approval is ${APPROVAL_STATES.join(', ')}, not ${describe(state)}.${guess}`);
  }
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0))
    throw invalid(`"limit" must be a whole number above 0, got ${describe(limit)}.`);
  return given;
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_option', message);
}
