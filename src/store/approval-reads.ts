import { canExpire } from '../core/ports/approval-states.ts';
import type {
  ApprovalListing,
  RunnableApproval,
  StoredApproval,
  StoredApprovals,
} from '../core/ports/stored-approvals.ts';
import { indexText } from '../core/ports/stored-audit.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { bindingOf, endOfBindings, isApprovalId, MAX_SKEW_MS, stateOf, toApproval, toListed } from './approval-rows.ts';
import { IS_OPEN } from './approval-statements.ts';
import { jsonOf, numberOf, type Row, type SqlEngine, type Statement, sql, textOf } from './engines/sql-engine.ts';
import { ownerKey } from './repeats.ts';

type Reads =
  | 'get'
  | 'ofBatch'
  | 'find'
  | 'stateOf'
  | 'statesOf'
  | 'list'
  | 'states'
  | 'runnable'
  | 'ofCall'
  | 'lastApproved';

/** The read-only queries on approval requests. */
export function readApprovals(engine: SqlEngine, now: () => number): Pick<StoredApprovals, Reads> {
  const one = (rows: readonly Row[] | undefined): StoredApproval | undefined =>
    rows?.[0] === undefined ? undefined : toApproval(rows[0], now());
  const get: StoredApprovals['get'] = async (id) =>
    isApprovalId(id) ? one(await engine.read(sql`SELECT * FROM toolcrib_approvals WHERE id = ${id}`)) : undefined;
  const find: StoredApprovals['find'] = async (subject) => {
    const binding = bindingOf(subject);
    const same = one(await engine.read(newestParked(sql`binding = ${binding}`, "state = 'denied'", now())));
    if (same !== undefined || subject.answersHash !== undefined) return same;
    // Bindings with this prefix. Denying a call with answers does not deny the call without them.
    const longer = sql`binding > ${binding} AND binding <= ${endOfBindings(binding)}`;
    return one(await engine.read(newestParked(longer, '1 = 0', now())));
  };
  const statesOf: StoredApprovals['statesOf'] = async (named) => {
    const ids = named.filter(isApprovalId);
    if (ids.length === 0) return new Map();
    const rows = await engine.read({
      sql: `SELECT ${STATE} FROM toolcrib_approvals WHERE id IN (${ids.map(() => '?').join(', ')})`,
      params: ids,
    });
    return new Map(rows.map((row) => [textOf(row, 'id'), stateOf(row, now())]));
  };
  return {
    get,
    ofBatch: async (batch) => {
      const rows = await engine.read(sql`
        SELECT * FROM toolcrib_approvals WHERE batch = ${indexText(batch)} ORDER BY created_at, id`);
      const at = now();
      return rows.map((row) => toApproval(row, at));
    },
    find,
    stateOf: async (id) => (await statesOf([id])).get(id),
    statesOf,
    list: async (listing) => {
      const at = now();
      return (await engine.read(listStatement(listing, at))).map((row) => toListed(row, at)).reverse();
    },
    states: async (limit) => {
      const newest = `SELECT ${STATE} FROM toolcrib_approvals WHERE is_sealed = 1 ORDER BY created_at DESC LIMIT ?`;
      const rows = await engine.read({ sql: newest, params: [limit] });
      return rows.map((row) => ({ id: textOf(row, 'id'), state: stateOf(row, now()) })).reverse();
    },
    runnable: async (after, limit) => {
      const rows = await engine.read(runnableStatement(after, limit, now()));
      return rows.map((row) => ({ id: textOf(row, 'id'), createdAt: numberOf(row, 'created_at') }));
    },
    ofCall: async (callId) => {
      const [row] = await engine.read({
        sql: `SELECT ${CUT} FROM toolcrib_approvals WHERE call_id = ? ORDER BY created_at DESC LIMIT 1`,
        params: [indexText(callId)],
      });
      if (row === undefined) return undefined;
      return { approval: toApproval(row, now()), ...(row.result !== null && { result: resultOf(row) }) };
    },
    lastApproved: async (request) => {
      const rows = await engine.read(earlierApproved(request));
      return rows.map((row) => toApproval(row, now())).find(({ tool }) => tool === request.tool);
    },
  };
}

/** The stored result of a call. */
export function resultOf(row: Row): ToolResult {
  return jsonOf(row, 'result') as ToolResult; // written by finish
}

/** The columns that determine the state of a request. */
const STATE = 'id, state, created_at, expires_at';

/** Oldest first, so that newer ones do not delay them. */
function runnableStatement(after: RunnableApproval | undefined, limit: number, at: number): Statement {
  const { createdAt, id } = after ?? { createdAt: 0, id: '' };
  return sql`
    SELECT id, created_at FROM toolcrib_approvals
    WHERE state = 'approved' AND call_id IS NOT NULL AND expires_at > ${at} AND created_at <= ${at + MAX_SKEW_MS}
      AND (created_at > ${createdAt} OR (created_at = ${createdAt} AND id > ${id}))
    ORDER BY created_at, id LIMIT ${limit}`;
}

/** The columns that lists need; without long arguments. */
const LISTED = 'id, state, created_at, expires_at, request, answer, claim, outcome';

/** The columns of one request, without long arguments. */
const CUT = `${LISTED}, is_sealed, subject, lifetime_ms, result`;

function listStatement({ state, limit, isOncePerBatch, before, ...named }: ApprovalListing, at: number): Statement {
  const condition = conditionOf(state, at);
  const names = namedIn(named);
  const where = `is_sealed = 1 AND ${names.sql} AND (${condition.sql})`;
  const params = [...names.params, ...condition.params];
  const once = isOncePerBatch === true ? [ONCE_PER_BATCH.replace('WHERE_SAME', where)] : [];
  const older = before === undefined ? [] : ['(created_at < ? OR (created_at = ? AND id < ?))'];
  return {
    sql: `SELECT ${LISTED} FROM toolcrib_approvals AS one WHERE ${[where, ...once, ...older].join(' AND ')}
      ORDER BY created_at DESC, id DESC LIMIT ?`,
    params: [
      ...params,
      ...(isOncePerBatch === true ? params : []),
      ...(before === undefined ? [] : [before.createdAt, before.createdAt, before.id]),
      limit,
    ],
  };
}

const ONCE_PER_BATCH = `(batch IS NULL OR id = (
        SELECT min(id) FROM toolcrib_approvals WHERE batch = one.batch AND WHERE_SAME))`;

/** Number of earlier approved requests of a caller among which the one for the same tool is looked for. */
const LOOKED_AT = 200;

function earlierApproved({ id, callerId, createdAt }: StoredApproval): Statement {
  return {
    sql: `SELECT ${CUT} FROM toolcrib_approvals WHERE owner = ? AND state IN ('approved', 'claimed', 'done')
      AND created_at <= ? AND id <> ? ORDER BY created_at DESC LIMIT ?`,
    params: [ownerKey(callerId), createdAt, id, LOOKED_AT],
  };
}

function conditionOf(state: ApprovalListing['state'], at: number): Statement {
  const isOver = '(expires_at <= ? OR created_at > ?)';
  const times = [at, at + MAX_SKEW_MS];
  if (state === undefined) return { sql: '1 = 1', params: [] };
  if (state === 'expired') return { sql: `state = 'expired' OR (${IS_OPEN} AND ${isOver})`, params: times };
  return canExpire(state)
    ? { sql: `state = ? AND NOT ${isOver}`, params: [state, ...times] }
    : { sql: 'state = ?', params: [state] };
}

function namedIn({ ids, batches, callerId }: Pick<ApprovalListing, 'ids' | 'batches' | 'callerId'>): Statement {
  const among = (column: string, names: readonly string[] | undefined): string =>
    names === undefined ? '1 = 1' : `${column} IN (${names.map(() => '?').join(', ') || 'NULL'})`;
  return {
    sql: `${among('id', ids)} AND ${among('batch', batches)}${callerId === undefined ? '' : ' AND owner = ?'}`,
    params: [
      ...(ids ?? []),
      ...(batches ?? []).map(indexText),
      ...(callerId === undefined ? [] : [ownerKey(callerId)]),
    ],
  };
}

/** The newest parked request with one of these bindings that a call can still use. A denial inside a batch holds for equal calls. */
function newestParked(bindings: Statement, answered: string, at: number): Statement {
  return {
    sql: `SELECT * FROM toolcrib_approvals WHERE ${bindings.sql} AND (is_parked = 1 OR (batch IS NOT NULL AND state = 'denied'))
        AND (${IS_OPEN} OR ${answered} OR (state IN ('claimed', 'done') AND call_id IS NOT NULL AND is_handed_over = 0))
        AND expires_at > ? AND created_at <= ? ORDER BY created_at DESC LIMIT 1`,
    params: [...bindings.params, at, at + MAX_SKEW_MS],
  };
}
