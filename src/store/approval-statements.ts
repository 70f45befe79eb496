import type { ApprovalReply, ApprovalState, NewApproval, ParkedEnd, StoredApproval } from '../core/stored-approvals.ts';
import { indexText } from '../core/stored-audit.ts';
import { bindingOf, createApprovalId, grantOf, MAX_SKEW_MS, toRequestText, toSubjectText } from './approval-rows.ts';
import { type Statement, sql } from './engine.ts';

/** What is over is noted first: a clock that is set back afterwards brings nothing back. */
export function expireStatement(id: string, at: number): Statement {
  return sql`
    UPDATE toolcrib_approvals SET state = 'expired'
    WHERE id = ${id} AND state IN ('waiting', 'approved') AND (expires_at <= ${at} OR created_at > ${at + MAX_SKEW_MS})`;
}

/** The second one is refused by an index where a parked request for the same waits or is approved. */
export function addStatements(request: NewApproval, at: number): readonly Statement[] {
  const binding = bindingOf(request);
  return [
    sql`
      UPDATE toolcrib_approvals SET state = 'expired'
      WHERE binding = ${binding} AND state IN ('waiting', 'approved')
        AND (expires_at <= ${at} OR created_at > ${at + MAX_SKEW_MS})`,
    sql`
      INSERT INTO toolcrib_approvals
        (id, state, binding, is_parked, created_at, expires_at, lifetime_ms, request, subject, call_id)
      VALUES (${createApprovalId()}, 'waiting', ${binding}, ${request.isParked ? 1 : 0}, ${at},
        ${at + Math.ceil(request.lifetimeMs)}, ${Math.ceil(request.lifetimeMs)}, ${toRequestText(request)},
        ${toSubjectText(request)}, ${request.parked === undefined ? null : indexText(request.parked.callId)})
      ON CONFLICT DO NOTHING RETURNING *`,
  ];
}

export function answerStatements(
  asked: StoredApproval,
  reply: ApprovalReply & { readonly at: number },
  callId: string | undefined,
): readonly Statement[] {
  const { id } = asked;
  const { at } = reply;
  const answer = JSON.stringify(reply);
  const statements = [expireStatement(id, at), decisionStatement(id, reply, callId)];
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
  callId: string | undefined,
): Statement {
  const answer = JSON.stringify(reply);
  if (reply.decision !== 'approve') {
    return sql`
      UPDATE toolcrib_approvals SET state = 'denied', answer = ${answer}
      WHERE id = ${id} AND state = 'waiting' RETURNING *`;
  }
  const claim = callId === undefined ? null : JSON.stringify({ callId, at: reply.at });
  return sql`
    UPDATE toolcrib_approvals
    SET state = ${claim === null ? 'approved' : 'claimed'}, answer = ${answer}, claim = ${claim},
      expires_at = ${reply.at} + lifetime_ms
    WHERE id = ${id} AND state = 'waiting' RETURNING *`;
}

/** How the call that took it up ended. */
export function finishStatement(id: string, outcome: string, end: ParkedEnd | undefined): Statement {
  const result = end === undefined ? null : JSON.stringify(end.result);
  return sql`
    UPDATE toolcrib_approvals
    SET state = 'done', outcome = ${outcome}, result = ${result}, is_handed_over = ${end?.isHandedOver === false ? 0 : 1}
    WHERE id = ${id} AND state = 'claimed'`;
}

/** Without what nobody lists. */
const LISTED = 'SELECT id, state, created_at, expires_at, request, answer, claim, outcome FROM toolcrib_approvals';

export function listStatement(state: ApprovalState | undefined, limit: number, at: number): Statement {
  const isOver = '(expires_at <= ? OR created_at > ?)';
  const times = [at, at + MAX_SKEW_MS];
  const select = (condition: string, params: Statement['params']): Statement => ({
    sql: `${LISTED} ${condition} ORDER BY created_at DESC LIMIT ?`,
    params: [...params, limit],
  });
  switch (state) {
    case undefined:
      return select('', []);
    case 'waiting':
    case 'approved':
      return select(`WHERE state = ? AND NOT ${isOver}`, [state, ...times]);
    case 'expired':
      return select(`WHERE state = 'expired' OR (state IN ('waiting', 'approved') AND ${isOver})`, times);
    default:
      return select('WHERE state = ?', [state]);
  }
}
