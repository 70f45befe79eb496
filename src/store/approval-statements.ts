import type { KeepBounds } from '../core/ports/keep-bounds.ts';
import type {
  ApprovalListing,
  ApprovalReply,
  ApprovalSubject,
  NewApproval,
  ParkedEnd,
  RunnableApproval,
  StoredApproval,
} from '../core/ports/stored-approvals.ts';
import { indexText } from '../core/ports/stored-audit.ts';
import {
  type ApprovalTexts,
  bindingOf,
  createApprovalId,
  endOfBindings,
  grantOf,
  MAX_SKEW_MS,
  NOT_KEPT,
} from './approval-rows.ts';
import { type Statement, sql } from './engines/engine.ts';
import { ownerKey, whereRoom } from './keep-room.ts';

/** The requests that hold a place: neither answered with no, nor taken up, nor over. */
export const OPEN_APPROVALS = "toolcrib_approvals WHERE state IN ('waiting', 'approved')";

/** What is over is noted first: a clock that is set back afterwards brings nothing back. */
export function expireStatement(id: string, at: number): Statement {
  return sql`
    UPDATE toolcrib_approvals SET state = 'expired', arguments = NULL
    WHERE id = ${id} AND state IN ('waiting', 'approved') AND (expires_at <= ${at} OR created_at > ${at + MAX_SKEW_MS})`;
}

/** The same for all of them. By two indexes: what has been noted before is not looked at. */
function expireAllStatements(at: number): readonly Statement[] {
  return [
    sql`
      UPDATE toolcrib_approvals SET state = 'expired', arguments = NULL
      WHERE state IN ('waiting', 'approved') AND expires_at <= ${at}`,
    sql`
      UPDATE toolcrib_approvals SET state = 'expired', arguments = NULL
      WHERE state IN ('waiting', 'approved') AND created_at > ${at + MAX_SKEW_MS}`,
  ];
}

/** A request as it is about to be added. */
export interface Adding {
  readonly request: NewApproval;
  readonly texts: ApprovalTexts;
  readonly bounds: KeepBounds;
  readonly at: number;
}

/** The last one adds no row where there is no room, or where a parked request for the same waits or is approved, by an index. */
export function addStatements({ request, texts, bounds, at }: Adding): readonly Statement[] {
  const { callerId, isParked, parked } = request;
  const lifetimeMs = Math.ceil(request.lifetimeMs);
  const room = whereRoom(OPEN_APPROVALS, texts.bytes, { owner: callerId, bounds });
  return [
    ...expireAllStatements(at),
    {
      sql: `INSERT INTO toolcrib_approvals
          (id, state, binding, is_parked, created_at, expires_at, lifetime_ms, request, subject, call_id,
            owner, bytes, arguments)
        SELECT ?, 'waiting', ?, CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), ?, ?, ?,
          ?, CAST(? AS BIGINT), ?
        ${room.sql} ON CONFLICT DO NOTHING RETURNING id`,
      params: [
        createApprovalId(),
        bindingOf(request),
        isParked ? 1 : 0,
        at,
        at + lifetimeMs,
        lifetimeMs,
        texts.request,
        texts.subject,
        parked === undefined ? null : indexText(parked.callId),
        ownerKey(callerId),
        texts.bytes,
        texts.arguments,
        ...room.params,
      ],
    },
  ];
}

export function answerStatements(
  asked: StoredApproval,
  reply: ApprovalReply & { readonly at: number },
  claim: OwnClaim | undefined,
): readonly Statement[] {
  const { id } = asked;
  const { at } = reply;
  const answer = JSON.stringify(reply);
  const statements = [expireStatement(id, at), decisionStatement(id, reply, claim)];
  const grant = reply.decision === 'approve' ? grantOf(asked, reply, at) : undefined;
  if (grant === undefined) return statements;
  return [
    ...statements,
    sql`
      INSERT INTO toolcrib_grants (id, subject, given_by, given_at, expires_at)
      SELECT id, ${grant.key}, ${JSON.stringify(reply.by)}, ${at}, ${grant.expiresAt}
      FROM toolcrib_approvals WHERE id = ${id} AND answer = ${answer}
      ON CONFLICT (id) DO NOTHING`,
  ];
}

/** A yes gives as much time to take it up as there was to answer. */
function decisionStatement(
  id: string,
  reply: ApprovalReply & { readonly at: number },
  taken: OwnClaim | undefined,
): Statement {
  const answer = JSON.stringify(reply);
  if (reply.decision !== 'approve') {
    return sql`
      UPDATE toolcrib_approvals SET state = 'denied', answer = ${answer}, arguments = NULL
      WHERE id = ${id} AND state = 'waiting' RETURNING *`;
  }
  const claim = taken?.claim ?? null;
  return sql`
    UPDATE toolcrib_approvals
    SET state = ${claim === null ? 'approved' : 'claimed'}, answer = ${answer}, claim = ${claim},
      process = ${taken?.process ?? null}, expires_at = ${reply.at} + lifetime_ms
    WHERE id = ${id} AND state = 'waiting' RETURNING *`;
}

/** How a call ended, and what is kept of it. */
interface CallEnd {
  readonly outcome: string;
  readonly end: ParkedEnd | undefined;
}

/** A claim of this process: the same request may have been claimed again since. */
export interface OwnClaim {
  readonly id: string;
  readonly process: string;
  /** As it stands in the row; null for none, which ends nothing. */
  readonly claim: string | null;
}

/** Takes up a yes: of all who try, one succeeds. */
export function claimStatement({ id, process, claim }: OwnClaim, subject: ApprovalSubject): Statement {
  return sql`
    UPDATE toolcrib_approvals SET state = 'claimed', claim = ${claim}, process = ${process}
    WHERE id = ${id} AND state = 'approved' AND binding = ${bindingOf(subject)} RETURNING *`;
}

/** How the call that took it up ended. A process that was taken for dead knows better. */
export function finishStatement({ id, process, claim }: OwnClaim, { outcome, end }: CallEnd): Statement {
  const result = end === undefined ? null : JSON.stringify(end.result);
  return sql`
    UPDATE toolcrib_approvals
    SET state = 'done', outcome = ${outcome}, result = ${result}, bytes = ${sizeOf(result)}, arguments = NULL,
      is_handed_over = ${end?.isHandedOver === false ? 0 : 1}, is_lost = 0
    WHERE id = ${id} AND process = ${process} AND claim = ${claim} AND (state = 'claimed' OR is_lost = 1)`;
}

/** What a kept result takes; 0 for none. */
export function sizeOf(result: string | null): number {
  return result === null ? 0 : Buffer.byteLength(result);
}

/** Drops kept results beyond the bytes that the caller of this request may have, and all callers: those that were handed over first, then the oldest. */
export function dropResultsStatements(id: string, bounds: KeepBounds): readonly Statement[] {
  const { maxBytesPerCaller, maxTotalBytes } = bounds;
  const drop = (condition: string, params: Statement['params'], most: number): Statement => ({
    sql: `UPDATE toolcrib_approvals SET result = CASE WHEN is_handed_over = 0 THEN ? END, bytes = 0 WHERE id IN (
      SELECT id FROM (
        SELECT id, sum(bytes) OVER (ORDER BY is_handed_over, created_at DESC, id ROWS UNBOUNDED PRECEDING) AS kept
        FROM toolcrib_approvals WHERE state = 'done' AND bytes > 0 AND ${condition}) AS results
      WHERE kept > ?)`,
    params: [NOT_KEPT, ...params, most],
  });
  const tooMany = "(SELECT coalesce(sum(bytes), 0) FROM toolcrib_approvals WHERE state = 'done') > ?";
  return [
    drop('owner = (SELECT owner FROM toolcrib_approvals WHERE id = ?)', [id], maxBytesPerCaller),
    drop(tooMany, [maxTotalBytes], maxTotalBytes),
  ];
}

/** The same call sent again finds it, unless another request for the same is open: of those there is one. */
export function giveBackStatement({ id, process, claim }: OwnClaim): Statement {
  return sql`
    UPDATE toolcrib_approvals
    SET state = 'approved', is_parked = CASE WHEN EXISTS (
      SELECT 1 FROM toolcrib_approvals AS other
      WHERE other.binding = toolcrib_approvals.binding AND other.id <> toolcrib_approvals.id
        AND other.is_parked = 1 AND other.state IN ('waiting', 'approved')) THEN 0 ELSE 1 END
    WHERE id = ${id} AND state = 'claimed' AND process = ${process} AND claim = ${claim} RETURNING id`;
}

/** The oldest come first: newer ones do not keep them waiting. */
export function runnableStatement(after: RunnableApproval | undefined, limit: number, at: number): Statement {
  const { createdAt, id } = after ?? { createdAt: 0, id: '' };
  return sql`
    SELECT id, created_at FROM toolcrib_approvals
    WHERE state = 'approved' AND call_id IS NOT NULL AND expires_at > ${at} AND created_at <= ${at + MAX_SKEW_MS}
      AND (created_at > ${createdAt} OR (created_at = ${createdAt} AND id > ${id}))
    ORDER BY created_at, id LIMIT ${limit}`;
}

/** Without what no list shows; long arguments least of all. */
const LISTED = 'id, state, created_at, expires_at, request, answer, claim, outcome';

/** The columns of one request without long arguments. */
export const CUT = `${LISTED}, subject, lifetime_ms, result`;

export function listStatement({ state, ids, limit }: ApprovalListing, at: number): Statement {
  const isOver = '(expires_at <= ? OR created_at > ?)';
  const times = [at, at + MAX_SKEW_MS];
  const named = ids === undefined ? '1 = 1' : `id IN (${ids.map(() => '?').join(', ') || 'NULL'})`;
  const select = (condition: string, params: Statement['params']): Statement => ({
    sql: `SELECT ${LISTED} FROM toolcrib_approvals WHERE ${named} AND (${condition}) ORDER BY created_at DESC LIMIT ?`,
    params: [...(ids ?? []), ...params, limit],
  });
  switch (state) {
    case undefined:
      return select('1 = 1', []);
    case 'waiting':
    case 'approved':
      return select(`state = ? AND NOT ${isOver}`, [state, ...times]);
    case 'expired':
      return select(`state = 'expired' OR (state IN ('waiting', 'approved') AND ${isOver})`, times);
    default:
      return select('state = ?', [state]);
  }
}

/** The newest parked request of a binding that a call can still do something with. */
export function findStatement(binding: string, at: number): Statement {
  return sql`
    SELECT * FROM toolcrib_approvals
    WHERE binding = ${binding} AND is_parked = 1
      AND (state IN ('waiting', 'approved', 'denied')
        OR (state IN ('claimed', 'done') AND call_id IS NOT NULL AND is_handed_over = 0))
      AND expires_at > ${at} AND created_at <= ${at + MAX_SKEW_MS}
    ORDER BY created_at DESC LIMIT 1`;
}

/** The same of the bindings that begin with it. A no to answers is not a no to the call without them. */
export function findAnsweredStatement(binding: string, at: number): Statement {
  return sql`
    SELECT * FROM toolcrib_approvals
    WHERE binding > ${binding} AND binding <= ${endOfBindings(binding)} AND is_parked = 1
      AND (state IN ('waiting', 'approved')
        OR (state IN ('claimed', 'done') AND call_id IS NOT NULL AND is_handed_over = 0))
      AND expires_at > ${at} AND created_at <= ${at + MAX_SKEW_MS}
    ORDER BY created_at DESC LIMIT 1`;
}
