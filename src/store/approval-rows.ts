import { hash, randomBytes } from 'node:crypto';
import { cutArguments } from '../core/approval-text.ts';
import { canonicalJson } from '../core/json.ts';
import { type ApprovalState, canExpire, stateAfter } from '../core/ports/approval-states.ts';
import {
  type ApprovalSubject,
  type ListedApproval,
  type NewApproval,
  type StoredApproval,
  UNLISTED_KEYS,
} from '../core/ports/stored-approvals.ts';
import { defined } from '../core/read-options.ts';
import { toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';
import { jsonOf, numberOf, type Row, textOf } from './engines/sql-engine.ts';

/** Letters and digits that are not easily confused. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const APPROVAL_ID = /^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){2}$/;

/** Tolerated clock difference between machines. A clock that was set back further does not extend a lifetime. */
export const MAX_SKEW_MS = 60_000;

/** Returned once instead of a dropped result, so that the same call sent again does not run a second time. */
export const NOT_KEPT = JSON.stringify(
  failed(
    toolError(
      'too_large',
      'The call has ended, but its result was dropped: extensions.approval.maxBytesPerCaller or maxTotalBytes was exceeded.',
    ),
  ),
);

/** The size of a stored result; 0 for none. */
export function sizeOf(result: string | null): number {
  return result === null ? 0 : Buffer.byteLength(result);
}

/** Creates an id of three groups of four characters: 60 random bits. */
export function createApprovalId(): string {
  const text = Array.from(randomBytes(12), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return `${text.slice(0, 4)}-${text.slice(4, 8)}-${text.slice(8)}`;
}

/** False for a value that cannot be an id. It saves a query, and some texts an engine could not even read. */
export function isApprovalId(id: unknown): id is string {
  return typeof id === 'string' && APPROVAL_ID.test(id);
}

/** Everything a claim is bound to, hashed into one column. The binding of a call with answers begins with that of the call without. */
export function bindingOf(subject: ApprovalSubject): string {
  const { callerId, profile, tool, definitionHash, argumentsHash, insideHash, answersHash } = subject;
  const parts = [callerId, profile, tool, definitionHash, argumentsHash, insideHash ?? ''];
  const binding = hash('sha256', canonicalJson(parts));
  return answersHash === undefined ? binding : `${binding}${hash('sha256', answersHash)}`;
}

/** The upper end of the range of bindings with this prefix. */
export function endOfBindings(binding: string): string {
  return `${binding}${'f'.repeat(64)}`;
}

type Unlisted = Pick<NewApproval, (typeof UNLISTED_KEYS)[number] | 'inputResponses'>;

/** The parts of a request that may be long: arguments, answers and the tool's state. An older version stored arguments alone. */
type LongParts =
  | NewApproval['arguments']
  | readonly [NewApproval['arguments'], NonNullable<NewApproval['inputResponses']> | null, string | null];

/** A request as columns. `arguments` is null if the other columns hold everything, and after the request ends. */
export interface ApprovalTexts {
  /** The part that lists show. It may contain any text from callers, escaped by JSON. */
  readonly request: string;
  /** The rest of what the request is bound to and run with; separate, because lists do not show it. */
  readonly subject: string;
  readonly arguments: string | null;
  readonly bytes: number;
}

/** Splits a request into columns. */
export function toTexts({ lifetimeMs: _lifetime, ...approval }: NewApproval): ApprovalTexts {
  const { inputResponses, unlisted } = approval;
  const text = JSON.stringify(approval.arguments);
  const cut = cutArguments(approval.arguments, text);
  const answers = inputResponses === undefined ? undefined : cutArguments(inputResponses);
  const { inputState, ...others } = unlisted;
  const isLong = answers?.argumentsLength !== undefined || (inputState ?? '').length > LONGEST_STATE;
  const listed = Object.entries(approval).filter(([key]) => !UNLISTED_KEYS.some((unlisted) => unlisted === key));
  const shown = answers === undefined ? {} : { inputResponses: answers.arguments };
  const request = JSON.stringify({ ...Object.fromEntries(listed), ...cut, ...shown });
  const bound = defined(approval, UNLISTED_KEYS);
  const subject = JSON.stringify(isLong ? { ...bound, unlisted: others } : { ...bound, inputResponses });
  const parts: LongParts = [approval.arguments, inputResponses ?? null, inputState ?? null];
  const short = cut.argumentsLength === undefined ? null : text;
  const whole = isLong ? JSON.stringify(parts) : short;
  const bytes = [request, subject, whole ?? ''].reduce((sum, one) => sum + Buffer.byteLength(one), 0);
  return { request, subject, arguments: whole, bytes };
}

/** Longest tool state that is stored with the request; longer ones are stored only while they are needed. */
const LONGEST_STATE = 4000;

/** Converts a row to data. */
export function toApproval(row: Row, at: number): StoredApproval {
  const subject = jsonOf(row, 'subject') as Unlisted; // written by toTexts
  const approval = { ...toListed(row, at), ...subject, lifetimeMs: numberOf(row, 'lifetime_ms') };
  if (typeof row.arguments !== 'string') return approval;
  const { argumentsLength: _length, ...whole } = approval;
  const long = jsonOf(row, 'arguments') as LongParts; // as above
  if (!isParts(long)) return { ...whole, arguments: long };
  const [given, inputResponses, inputState] = long;
  return {
    ...whole,
    arguments: given,
    ...(inputResponses !== null && { inputResponses }),
    ...(inputState !== null && { unlisted: { ...whole.unlisted, inputState } }),
  };
}

function isParts(long: LongParts): long is Extract<LongParts, readonly unknown[]> {
  return Array.isArray(long);
}

/** Converts a row to a list item. It completes the parsed object without a copy, because there may be ten thousand. */
export function toListed(row: Row, at: number): ListedApproval {
  const listed = jsonOf(row, 'request') as { -readonly [Key in keyof ListedApproval]: ListedApproval[Key] }; // written by toTexts
  listed.id = textOf(row, 'id');
  listed.state = stateOf(row, at);
  listed.createdAt = numberOf(row, 'created_at');
  listed.expiresAt = numberOf(row, 'expires_at');
  if (row.answer !== null) listed.answer = jsonOf(row, 'answer') as NonNullable<ListedApproval['answer']>; // written by answerStatements
  if (row.claim !== null) listed.claim = jsonOf(row, 'claim') as NonNullable<ListedApproval['claim']>; // written by claimStatement
  if (row.outcome !== null) listed.outcome = textOf(row, 'outcome');
  if (Number(row.is_sealed ?? 1) === 0) listed.isSealed = false;
  return listed;
}

/** The state of a row. A row past its expiry counts as expired, even if that is not recorded yet. */
export function stateOf(row: Row, at: number): ApprovalState {
  const state = textOf(row, 'state') as ApprovalState; // only these values are written
  const isOver = numberOf(row, 'expires_at') <= at || numberOf(row, 'created_at') > at + MAX_SKEW_MS;
  return isOver && canExpire(state) ? stateAfter('expire') : state;
}
