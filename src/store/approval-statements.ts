import { type ApprovalEvent, needsArguments, stateAfter, statesBefore } from '../core/ports/approval-states.ts';
import type {
  ApprovalReply,
  ApprovalSubject,
  NewApproval,
  ParkedEnd,
  StoredApproval,
} from '../core/ports/stored-approvals.ts';
import { indexText } from '../core/ports/stored-audit.ts';
import type { KeepBounds } from '../core/ports/stored-results.ts';
import { type ApprovalTexts, bindingOf, createApprovalId, MAX_SKEW_MS, NOT_KEPT, sizeOf } from './approval-rows.ts';
import { type Statement, sql } from './engines/sql-engine.ts';
import { grantStatements } from './grant-table.ts';
import { ownerKey, whereRoom } from './repeats.ts';

/** SQL condition: the request is in a state in which the event may happen. A lost request has the state done and is_lost = 1. */
function isBefore(event: ApprovalEvent): string {
  const states = statesBefore(event);
  const words = states.filter((state) => state !== 'lost').map((state) => `'${state}'`);
  return `(state IN (${words.join(', ')})${states.includes('lost') ? ' OR is_lost = 1' : ''})`;
}

/** SQL condition: the request waits for an answer, or is approved and waits for its call. */
export const IS_OPEN = isBefore('expire');

/** The rows that count toward the limits. A claimed approval counts until it expires, because it may be given back. */
export function placesAt(at: number): Statement {
  return {
    sql: `(SELECT owner, bytes FROM toolcrib_approvals WHERE ${IS_OPEN} UNION ALL
      SELECT owner, bytes FROM toolcrib_approvals
      WHERE ${isBefore('giveBack')} AND expires_at > ? AND created_at <= ?) AS places`,
    params: [at, at + MAX_SKEW_MS],
  };
}

/** The requests to change, additional columns to set, and the columns to return (default: the id). */
interface Change {
  readonly where: Statement;
  readonly set?: Statement;
  readonly returning?: '*';
}

/** The only statement that changes the state of requests. It changes those in a state in which the event may happen. */
export function moveStatement(event: Exclude<ApprovalEvent, 'ask'>, { where, set, returning }: Change): Statement {
  const to = stateAfter(event);
  const columns = [
    to === 'lost' ? "state = 'done', is_lost = 1" : `state = '${to}', is_lost = 0`,
    ...(needsArguments(to) ? [] : ['arguments = NULL']),
    ...(set === undefined ? [] : [set.sql]),
  ];
  return {
    sql: `UPDATE toolcrib_approvals SET ${columns.join(', ')}
      WHERE ${where.sql} AND ${isBefore(event)} RETURNING ${returning ?? 'id'}`,
    params: [...(set?.params ?? []), ...where.params],
  };
}

/** Records expiry first, so that a clock that is set back later does not revive a request. */
export function expireStatement(id: string, at: number): Statement {
  const where = sql`id = ${id} AND (expires_at <= ${at} OR created_at > ${at + MAX_SKEW_MS})`;
  return moveStatement('expire', { where });
}

/** Records the expiry of all requests. Two statements, so that each uses an index and skips requests already recorded. */
function expireAllStatements(at: number): readonly Statement[] {
  return [sql`expires_at <= ${at}`, sql`created_at > ${at + MAX_SKEW_MS}`].map((where) =>
    moveStatement('expire', { where }),
  );
}

/** A request to add. */
export interface Adding {
  readonly request: NewApproval;
  readonly texts: ApprovalTexts;
  readonly bounds: KeepBounds;
  readonly at: number;
}

/** Adds a row, unless a limit is reached or a parked request for the same call is open (unique index). The insert is the last statement. */
export function addStatements({ request, texts, bounds, at }: Adding): readonly Statement[] {
  const { callerId, isParked, parked, batch } = request;
  const lifetimeMs = Math.ceil(request.lifetimeMs);
  const row = {
    id: createApprovalId(),
    state: stateAfter('ask'),
    binding: bindingOf(request),
    is_parked: isParked && batch === undefined ? 1 : 0, // equal calls of a script are requests of their own
    created_at: at,
    expires_at: at + lifetimeMs,
    lifetime_ms: lifetimeMs,
    batch: batch === undefined ? null : indexText(batch),
    is_sealed: batch === undefined ? 1 : 0,
    call_id: parked === undefined ? null : indexText(parked.callId),
    owner: ownerKey(callerId),
    ...texts,
  };
  const values = Object.values(row);
  const marks = values.map((value) => (typeof value === 'number' ? 'CAST(? AS BIGINT)' : '?'));
  const room = whereRoom(placesAt(at), texts.bytes, { owner: callerId, bounds });
  const insert = `INSERT INTO toolcrib_approvals (${Object.keys(row).join(', ')}) SELECT ${marks.join(', ')}
    ${room.sql} ON CONFLICT DO NOTHING RETURNING id`;
  return [...expireAllStatements(at), { sql: insert, params: [...values, ...room.params] }];
}

/** Makes the waiting requests of a batch answerable, once: what is added later is never sealed. Their time to answer begins now. */
export function sealStatement(batch: string, at: number): Statement {
  return {
    sql: `UPDATE toolcrib_approvals SET is_sealed = 1, expires_at = ? + lifetime_ms
      WHERE batch = ? AND is_sealed = 0 AND state = 'waiting' AND expires_at > ? AND created_at <= ?
        AND NOT EXISTS (SELECT 1 FROM toolcrib_approvals AS sealed WHERE sealed.batch = ? AND sealed.is_sealed = 1)`,
    params: [at, indexText(batch), at, at + MAX_SKEW_MS, indexText(batch)],
  };
}

/** An answer with its time. */
type TimedReply = ApprovalReply & { readonly at: number };

/** The second statement returns the request after the answer, or nothing if it was answered before. */
export function answerStatements(asked: StoredApproval, reply: TimedReply, claim?: OwnClaim): readonly Statement[] {
  const { id } = asked;
  const { at } = reply;
  const statements = [expireStatement(id, at), decisionStatement(sql`id = ${id}`, reply, claim)];
  return [...statements, ...grantStatements(asked, reply)];
}

/** Answers all waiting requests of a batch. The second statement returns those that it has answered. */
export function answerBatchStatements(
  items: readonly StoredApproval[],
  batch: string,
  reply: TimedReply,
): readonly Statement[] {
  const ofBatch = sql`batch = ${indexText(batch)}`;
  const isOver = sql`(expires_at <= ${reply.at} OR created_at > ${reply.at + MAX_SKEW_MS})`;
  const over = { sql: `${ofBatch.sql} AND ${isOver.sql}`, params: [...ofBatch.params, ...isOver.params] };
  return [
    moveStatement('expire', { where: over }),
    decisionStatement(ofBatch, reply),
    ...items.flatMap((item) => grantStatements(item, reply)),
  ];
}

/** After approval, the caller has as much time to make the call as there was to answer. */
function decisionStatement(which: Statement, reply: TimedReply, taken?: OwnClaim): Statement {
  const answer = JSON.stringify(reply);
  const row = { where: { ...which, sql: `${which.sql} AND is_sealed = 1` }, returning: '*' } as const;
  if (reply.decision !== 'approve') return moveStatement('deny', { ...row, set: sql`answer = ${answer}` });
  const set = sql`
    answer = ${answer}, claim = ${taken?.claim ?? null}, process = ${taken?.process ?? null},
    expires_at = ${reply.at} + lifetime_ms`;
  return moveStatement(taken === undefined ? 'approve' : 'approveOwn', { ...row, set });
}

/** A claim of this process. The same request may have been claimed again since. */
export interface OwnClaim {
  readonly id: string;
  readonly process: string;
  /** As stored in the row; null matches no row. */
  readonly claim: string | null;
}

function isOwn({ id, process, claim }: OwnClaim): Statement {
  return sql`id = ${id} AND process = ${process} AND claim = ${claim}`;
}

/** Claims an approved request. If several processes try, one succeeds. */
export function claimStatement({ id, process, claim }: OwnClaim, subject: ApprovalSubject): Statement {
  const where = sql`id = ${id} AND binding = ${bindingOf(subject)}`;
  return moveStatement('claim', { where, set: sql`claim = ${claim}, process = ${process}`, returning: '*' });
}

/** Records how the call ended. It also corrects a request that was marked as lost because its process seemed dead. */
export function finishStatement(own: OwnClaim, outcome: string, end?: ParkedEnd): Statement {
  const result = end === undefined ? null : JSON.stringify(end.result);
  return moveStatement('finish', {
    where: isOwn(own),
    set: sql`
      outcome = ${outcome}, result = ${result}, bytes = ${sizeOf(result)},
      is_handed_over = ${end?.isHandedOver === false ? 0 : 1}`,
  });
}

/** Drops stored results beyond the byte limits of the caller and of all callers: handed-over results first, then the oldest. */
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

/** Gives a claim back. The same call sent again finds the request, unless another request for the same call is open. */
export function giveBackStatement(own: OwnClaim): Statement {
  return moveStatement('giveBack', {
    where: isOwn(own),
    set: {
      sql: `is_parked = CASE WHEN batch IS NOT NULL OR EXISTS (
        SELECT 1 FROM (SELECT id, binding FROM toolcrib_approvals WHERE ${IS_OPEN} AND is_parked = 1) AS other
        WHERE other.binding = toolcrib_approvals.binding AND other.id <> toolcrib_approvals.id) THEN 0 ELSE 1 END`,
      params: [],
    },
  });
}
