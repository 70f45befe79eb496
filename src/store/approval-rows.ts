import { hash, randomBytes } from 'node:crypto';
import { canonicalJson } from '../core/json.ts';
import {
  type ApprovalReply,
  type ApprovalState,
  type ApprovalSubject,
  type ListedApproval,
  MAX_REMEMBER_MS,
  type NewApproval,
  type StoredApproval,
} from '../core/stored-approvals.ts';
import { jsonOf, numberOf, type Row, textOf } from './engine.ts';

/** Letters and digits that nobody takes for one another. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const APPROVAL_ID = /^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){2}$/;

/** Clocks of several machines differ; one that was set back further than this makes nothing live longer. */
export const MAX_SKEW_MS = 60_000;

/** Three groups of four characters: 60 random bits. */
export function createApprovalId(): string {
  const text = Array.from(randomBytes(12), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return `${text.slice(0, 4)}-${text.slice(4, 8)}-${text.slice(8)}`;
}

/** False for what can be no id: an engine need not be asked about it, and some texts it could not even read. */
export function isApprovalId(id: unknown): id is string {
  return typeof id === 'string' && APPROVAL_ID.test(id);
}

/** Everything a claim is bound to, in one column. */
export function bindingOf({ callerId, profile, tool, definitionHash, argumentsHash }: ApprovalSubject): string {
  return hash('sha256', canonicalJson([callerId, profile, tool, definitionHash, argumentsHash]));
}

/** What a remembered yes for this subject may be filed under. One without a caller is remembered for nobody. */
export function grantKeysOf(subject: ApprovalSubject): readonly string[] {
  const { conversation, argumentsHash } = subject;
  if (subject.callerId === '') return [];
  const keys = [grantKey(subject, ['arguments', argumentsHash]), grantKey(subject, ['time'])];
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
  if (remember === 'arguments') return { key: grantKey(subject, ['arguments', subject.argumentsHash]), expiresAt };
  if (typeof remember === 'object') return { key: grantKey(subject, ['time']), expiresAt };
  const { conversation } = subject;
  if (conversation === undefined) return undefined;
  return { key: grantKey(subject, ['conversation', conversation]), expiresAt };
}

// What asks belongs to it: who lets a tool run in this conversation has not let it break a rule over arguments.
function grantKey(
  { callerId, profile, tool, definitionHash, ground }: ApprovalSubject,
  what: readonly string[],
): string {
  return hash('sha256', canonicalJson([callerId, profile, tool, definitionHash, ground, ...what]));
}

/** What a request says, for the column that keeps it. Text of callers may hold anything, which JSON escapes. */
export function toRequestText(request: NewApproval): string {
  const { callerId: _caller, definitionHash: _definition, argumentsHash: _arguments, ...rest } = request;
  const { ground: _ground, lifetimeMs: _lifetime, parked: _parked, ...said } = rest;
  return JSON.stringify(said);
}

/** What else it is bound to and run with: apart, since nobody lists it. */
export function toSubjectText({ callerId, definitionHash, argumentsHash, ground, parked }: NewApproval): string {
  return JSON.stringify({ callerId, definitionHash, argumentsHash, ground, parked });
}

/** A row as data. */
export function toApproval(row: Row, at: number): StoredApproval {
  const subject = jsonOf(row, 'subject') as Pick<
    NewApproval,
    'callerId' | 'definitionHash' | 'argumentsHash' | 'ground' | 'parked'
  >; // written by toSubjectText
  return { ...toListed(row, at), ...subject, lifetimeMs: numberOf(row, 'lifetime_ms') };
}

/** A row as it is listed; one whose time is up is expired, whether or not that was noted. What was parsed is filled up, not copied: there may be ten thousand. */
export function toListed(row: Row, at: number): ListedApproval {
  const listed = jsonOf(row, 'request') as { -readonly [Key in keyof ListedApproval]: ListedApproval[Key] }; // written by toRequestText
  const state = textOf(row, 'state') as ApprovalState; // only these words are ever written
  const createdAt = numberOf(row, 'created_at');
  const expiresAt = numberOf(row, 'expires_at');
  const isOver = expiresAt <= at || createdAt > at + MAX_SKEW_MS;
  listed.id = textOf(row, 'id');
  listed.state = isOver && (state === 'waiting' || state === 'approved') ? 'expired' : state;
  listed.createdAt = createdAt;
  listed.expiresAt = expiresAt;
  if (row.answer !== null) listed.answer = jsonOf(row, 'answer') as NonNullable<ListedApproval['answer']>; // as it was written
  if (row.claim !== null) listed.claim = jsonOf(row, 'claim') as NonNullable<ListedApproval['claim']>; // likewise
  if (row.outcome !== null) listed.outcome = textOf(row, 'outcome');
  return listed;
}
