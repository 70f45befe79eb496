import { hash } from 'node:crypto';
import { canonicalJson } from '../core/json.ts';
import {
  endOfGrant,
  fixedArguments,
  type GrantFit,
  type GrantTerms,
  isGrantTerms,
  jsonTypeOf,
} from '../core/ports/remember.ts';
import type {
  ApprovalReply,
  ApprovalSubject,
  ListedGrant,
  StoredApproval,
  StoredApprovals,
} from '../core/ports/stored-approvals.ts';
import { isApprovalId, MAX_SKEW_MS, toListed } from './approval-rows.ts';
import { jsonOf, numberOf, type Row, type SqlEngine, type Statement, sql, textOf } from './engines/sql-engine.ts';

/** The keys under which an approval for this subject may be remembered. Approvals without a caller are never remembered. */
function grantKeysOf(subject: ApprovalSubject): readonly string[] {
  const { conversation } = subject;
  if (subject.callerId === '') return [];
  // An approval for all arguments was given by a person who saw no answers, so it does not cover a call with answers.
  if (subject.answersHash !== undefined) return [argumentsKey(subject)];
  const keys = [argumentsKey(subject), termsKey(subject), grantKey(subject, ['time'])];
  return conversation === undefined ? keys : [...keys, grantKey(subject, ['conversation', conversation])];
}

/** The row of a remembered approval. */
interface GrantRow {
  readonly subject: string;
  readonly given_at: number;
  readonly expires_at: number;
  readonly uses_left: number | null;
  readonly terms: string | null;
}

/** The row of a remembered approval; undefined if the answer is not to be remembered. */
function grantOf(asked: StoredApproval, { remember }: ApprovalReply, at: number): GrantRow | undefined {
  if (remember === undefined || asked.callerId === '') return undefined;
  const row = { given_at: at, expires_at: endOfGrant(remember, at), uses_left: null, terms: null };
  if (remember === 'arguments') return { ...row, subject: argumentsKey(asked) };
  if (isGrantTerms(remember)) return { ...row, subject: termsKey(asked), ...countOf(asked, remember) };
  if (typeof remember === 'object') return { ...row, subject: grantKey(asked, ['time']) };
  const { conversation } = asked;
  return conversation === undefined ? undefined : { ...row, subject: grantKey(asked, ['conversation', conversation]) };
}

function countOf({ arguments: given }: StoredApproval, terms: GrantTerms): Pick<GrantRow, 'uses_left' | 'terms'> {
  const { uses, vary } = terms;
  const fixedHash = hash('sha256', canonicalJson(fixedArguments(given, terms)));
  const types = Object.fromEntries(Object.keys(vary ?? {}).map((name) => [name, jsonTypeOf(given[name])]));
  const fit: GrantFit = { fixedHash, types, ...(vary !== undefined && { vary }) };
  return { uses_left: uses, terms: JSON.stringify(fit) };
}

/** Stores the remembered approval of a request, if this reply has answered it. */
export function grantStatements(
  asked: StoredApproval,
  reply: ApprovalReply & { readonly at: number },
): readonly Statement[] {
  const grant = reply.decision === 'approve' ? grantOf(asked, reply, reply.at) : undefined;
  if (grant === undefined) return [];
  return [
    sql`
      INSERT INTO toolcrib_grants (id, subject, given_by, given_at, expires_at, uses_left, terms)
      SELECT id, ${grant.subject}, ${JSON.stringify(reply.by)}, ${grant.given_at}, ${grant.expires_at},
        CAST(${grant.uses_left} AS BIGINT), ${grant.terms}
      FROM toolcrib_approvals WHERE id = ${asked.id} AND answer = ${JSON.stringify(reply)}
      ON CONFLICT (id) DO NOTHING`,
  ];
}

/** The key of an approval for these arguments, and for everything else that changes what a call does with them. */
function argumentsKey(subject: ApprovalSubject): string {
  const { argumentsHash, answersHash = '', insideHash = '', timeZone = '' } = subject;
  return grantKey(subject, ['arguments', argumentsHash, answersHash, insideHash, timeZone]);
}

/** The key of an approval with terms. It is bound to the script around the call, not to what the script is called with. */
function termsKey(subject: ApprovalSubject): string {
  const { programHash = '', timeZone = '' } = subject;
  return grantKey(subject, ['terms', programHash, timeZone]);
}

// The ground is part of the key: allowing a tool in this conversation does not allow it to break a rule about arguments.
function grantKey(
  { callerId, callerHash, profile, tool, definitionHash, ground }: ApprovalSubject,
  what: readonly string[],
): string {
  return hash('sha256', canonicalJson([callerId, callerHash, profile, tool, definitionHash, ground, ...what]));
}

type GrantMethods = 'remembered' | 'useGrant' | 'returnUse' | 'grants' | 'forget';

/** Most remembered approvals that are tried for one call. */
const MOST_TRIED = 100;

/** Remembered approvals in an engine. */
export function grantTable(engine: SqlEngine, now: () => number): Pick<StoredApprovals, GrantMethods> {
  return {
    remembered: async (subject) => {
      const keys = grantKeysOf(subject);
      if (keys.length === 0) return [];
      const rows = await engine.read(coveringGrants(keys, now()));
      return rows.map((row) => ({ id: textOf(row, 'id'), by: String(jsonOf(row, 'given_by')), ...termsOf(row) }));
    },
    useGrant: async (id) => {
      if (!isApprovalId(id)) return false;
      const [used] = await engine.write(
        [
          sql`
            UPDATE toolcrib_grants SET uses_left = uses_left - 1
            WHERE id = ${id} AND uses_left > 0 AND expires_at > ${now()} RETURNING id`,
        ],
        'power loss', // a use that was counted must not come back
      );
      return used?.length === 1;
    },
    returnUse: async (id) => {
      await engine.write([sql`UPDATE toolcrib_grants SET uses_left = uses_left + 1 WHERE id = ${id}`]);
    },
    grants: async (limit) => {
      const at = now();
      const rows = await engine.read(sql`
        SELECT one.id AS grant_id, given_by, given_at, one.expires_at AS ends_at, uses_left, a.*
        FROM toolcrib_grants AS one LEFT JOIN toolcrib_approvals AS a ON a.id = one.id
        WHERE one.expires_at > ${at} AND given_at <= ${at + MAX_SKEW_MS} AND (uses_left IS NULL OR uses_left > 0)
        ORDER BY given_at DESC, one.id LIMIT ${limit}`);
      return rows.map((row) => toGrant(row, at));
    },
    forget: async (id) => {
      if (!isApprovalId(id)) return false;
      const [forgotten] = await engine.write([sql`DELETE FROM toolcrib_grants WHERE id = ${id} RETURNING id`]);
      return forgotten?.length === 1;
    },
  };
}

function coveringGrants(keys: readonly string[], at: number): Statement {
  return {
    sql: `SELECT id, given_by, terms FROM toolcrib_grants WHERE subject IN (${keys.map(() => '?').join(', ')})
      AND expires_at > ? AND given_at <= ? AND (uses_left IS NULL OR uses_left > 0)
      ORDER BY CASE WHEN uses_left IS NULL THEN 0 ELSE 1 END, given_at DESC LIMIT ${MOST_TRIED}`,
    params: [...keys, at, at + MAX_SKEW_MS],
  };
}

function termsOf(row: Row) {
  if (row.terms === null) return {};
  return { terms: jsonOf(row, 'terms') as GrantFit }; // written by countOf
}

function toGrant(row: Row, at: number): ListedGrant {
  return {
    id: textOf(row, 'grant_id'),
    by: String(jsonOf(row, 'given_by')),
    at: numberOf(row, 'given_at'),
    expiresAt: numberOf(row, 'ends_at'),
    ...(row.uses_left !== null && { usesLeft: numberOf(row, 'uses_left') }),
    ...(row.request !== null && { approval: toListed(row, at) }),
  };
}
