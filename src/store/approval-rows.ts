import { hash, randomBytes } from 'node:crypto';
import { cutArguments } from '../core/approval-text.ts';
import { canonicalJson } from '../core/json.ts';
import { type ApprovalState, canExpire, stateAfter } from '../core/ports/approval-states.ts';
import {
  type ApprovalReply,
  type ApprovalSubject,
  type ListedApproval,
  MAX_REMEMBER_MS,
  type NewApproval,
  type StoredApproval,
  UNLISTED_KEYS,
} from '../core/ports/stored-approvals.ts';
import { defined } from '../core/read-options.ts';
import { toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';
import { jsonOf, numberOf, type Row, textOf } from './engines/sql-engine.ts';

/** Letters and digits that nobody takes for one another. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const APPROVAL_ID = /^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){2}$/;

/** Clocks of several machines differ; one that was set back further than this makes nothing live longer. */
export const MAX_SKEW_MS = 60_000;

/** Told once in the place of a result that was dropped: the same call sent again must not run again because of that. */
export const NOT_KEPT = JSON.stringify(
  failed(
    toolError(
      'too_large',
      'The call has ended, and its result was dropped: more are not kept under extensions.approval.maxBytesPerCaller or maxTotalBytes.',
    ),
  ),
);

/** What a kept result takes; 0 for none. */
export function sizeOf(result: string | null): number {
  return result === null ? 0 : Buffer.byteLength(result);
}

/** Three groups of four characters: 60 random bits. */
export function createApprovalId(): string {
  const text = Array.from(randomBytes(12), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return `${text.slice(0, 4)}-${text.slice(4, 8)}-${text.slice(8)}`;
}

/** False for what can be no id: an engine need not be asked about it, and some texts it could not even read. */
export function isApprovalId(id: unknown): id is string {
  return typeof id === 'string' && APPROVAL_ID.test(id);
}

/** Everything a claim is bound to, in one column. That of a call with answers begins with that of the call without them. */
export function bindingOf(subject: ApprovalSubject): string {
  const { callerId, profile, tool, definitionHash, argumentsHash, insideHash, answersHash } = subject;
  const parts = [callerId, profile, tool, definitionHash, argumentsHash, insideHash ?? ''];
  const binding = hash('sha256', canonicalJson(parts));
  return answersHash === undefined ? binding : `${binding}${hash('sha256', answersHash)}`;
}

/** The end of the range of bindings that begin with this one. */
export function endOfBindings(binding: string): string {
  return `${binding}${'f'.repeat(64)}`;
}

/** What a remembered yes for this subject may be filed under. One without a caller is remembered for nobody. */
export function grantKeysOf(subject: ApprovalSubject): readonly string[] {
  const { conversation } = subject;
  if (subject.callerId === '') return [];
  // A yes for all arguments was given by a person who was shown no answers: it lets none through.
  if (subject.answersHash !== undefined) return [argumentsKey(subject)];
  const keys = [argumentsKey(subject), grantKey(subject, ['time'])];
  return conversation === undefined ? keys : [...keys, grantKey(subject, ['conversation', conversation])];
}

/** Where a yes is filed and until when; undefined where there is nothing to remember it by. */
export function grantOf(
  subject: ApprovalSubject,
  { remember }: ApprovalReply,
  at: number,
): { readonly key: string; readonly expiresAt: number } | undefined {
  if (remember === undefined || subject.callerId === '') return undefined;
  const forMs = typeof remember === 'object' ? Math.min(remember.forMs, MAX_REMEMBER_MS) : MAX_REMEMBER_MS;
  const expiresAt = at + Math.floor(forMs);
  if (remember === 'arguments') return { key: argumentsKey(subject), expiresAt };
  if (typeof remember === 'object') return { key: grantKey(subject, ['time']), expiresAt };
  const { conversation } = subject;
  if (conversation === undefined) return undefined;
  return { key: grantKey(subject, ['conversation', conversation]), expiresAt };
}

/** The key of a yes for these arguments, and for everything else that changes what a call does with them. */
function argumentsKey(subject: ApprovalSubject): string {
  const { argumentsHash, answersHash = '', insideHash = '', timeZone = '' } = subject;
  return grantKey(subject, ['arguments', argumentsHash, answersHash, insideHash, timeZone]);
}

// What asks belongs to it: who lets a tool run in this conversation has not let it break a rule over arguments.
function grantKey(
  { callerId, callerHash, profile, tool, definitionHash, ground }: ApprovalSubject,
  what: readonly string[],
): string {
  return hash('sha256', canonicalJson([callerId, callerHash, profile, tool, definitionHash, ground, ...what]));
}

type Unlisted = Pick<NewApproval, (typeof UNLISTED_KEYS)[number] | 'inputResponses'>;

/** What a request is bound to and run with, where it is long: arguments, answers and what the tool wants back. An older version kept arguments alone. */
type LongParts =
  | NewApproval['arguments']
  | readonly [NewApproval['arguments'], NonNullable<NewApproval['inputResponses']> | null, string | null];

/** A request in the columns that keep it; `arguments` is null where the others have all of it, and when the request is over. */
export interface ApprovalTexts {
  /** What lists show. Text of callers may hold anything, which JSON escapes. */
  readonly request: string;
  /** What else the request is bound to and run with: apart, since no list shows it. */
  readonly subject: string;
  readonly arguments: string | null;
  readonly bytes: number;
}

/** Takes a request apart. */
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

/** What a tool wants back is kept with the request up to so many characters, and else only while it is needed. */
const LONGEST_STATE = 4000;

/** A row as data. */
export function toApproval(row: Row, at: number): StoredApproval {
  const subject = jsonOf(row, 'subject') as Unlisted; // written by toTexts
  const approval = { ...toListed(row, at), ...subject, lifetimeMs: numberOf(row, 'lifetime_ms') };
  if (typeof row.arguments !== 'string') return approval;
  const { argumentsLength: _length, ...whole } = approval;
  const long = jsonOf(row, 'arguments') as LongParts; // likewise
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

/** A row as it is listed. What was parsed is filled up, not copied: there may be ten thousand. */
export function toListed(row: Row, at: number): ListedApproval {
  const listed = jsonOf(row, 'request') as { -readonly [Key in keyof ListedApproval]: ListedApproval[Key] }; // written by toTexts
  listed.id = textOf(row, 'id');
  listed.state = stateOf(row, at);
  listed.createdAt = numberOf(row, 'created_at');
  listed.expiresAt = numberOf(row, 'expires_at');
  if (row.answer !== null) listed.answer = jsonOf(row, 'answer') as NonNullable<ListedApproval['answer']>; // as it was written
  if (row.claim !== null) listed.claim = jsonOf(row, 'claim') as NonNullable<ListedApproval['claim']>; // likewise
  if (row.outcome !== null) listed.outcome = textOf(row, 'outcome');
  return listed;
}

/** The state of a row: one whose time is up is expired, whether or not that was noted. */
export function stateOf(row: Row, at: number): ApprovalState {
  const state = textOf(row, 'state') as ApprovalState; // only these words are ever written
  const isOver = numberOf(row, 'expires_at') <= at || numberOf(row, 'created_at') > at + MAX_SKEW_MS;
  return isOver && canExpire(state) ? stateAfter('expire') : state;
}
