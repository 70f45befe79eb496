import type { ToolUse } from '../core/ports/audit-report.ts';
import { indexText, type RowQuery } from '../core/ports/stored-audit.ts';
import { numberOf, type Row, type SqlEngine, type SqlValue, type Statement, textOf } from './engines/sql-engine.ts';

/** Outcomes of rows that are not calls. */
export const NO_CALLS = `('intent', 'lost', 'stopped', 'resumed')`;

/** Members of an entry that rows can be filtered by, although they have no column. */
const IN_ENTRY = {
  source: 'source',
  profile: 'profile',
  conversation: 'conversation',
  turn: 'turn',
  parent: 'parentId',
};

/** Reads rows, newest first. Without a filter, the rows are at the end of the index; with one, every row may have to be read. */
export function readRecent(engine: SqlEngine, query: RowQuery): Promise<readonly Row[]> {
  const { limit: _limit, before: _before, since: _since, until: _until, ...filters } = query;
  const isFiltered = Object.values(filters).some((word) => word !== undefined);
  const statement = recentStatement(query);
  return isFiltered ? engine.scan(statement) : engine.read(statement);
}

/** Conditions on columns use one index, so that only matching rows are read; conditions on entries are checked last. */
function recentStatement({ limit, tool, caller, outcome, before, since, until, ...query }: RowQuery): Statement {
  const conditions: string[] = [`outcome NOT IN ${NO_CALLS}`];
  const params: SqlValue[] = [];
  const hold = (condition: string, ...values: readonly SqlValue[]) => {
    conditions.push(condition);
    params.push(...values);
  };
  if (before !== undefined)
    hold('at <= ? AND (at, chain, number) < (?, ?, ?)', before.at, before.at, before.chain, before.number);
  if (since !== undefined) hold('at >= ?', since);
  if (until !== undefined) hold('at < ?', until);
  if (tool !== undefined) hold('tool = ?', indexText(tool));
  if (caller !== undefined) hold('caller = ?', indexText(caller));
  if (outcome !== undefined) hold('outcome = ?', indexText(outcome));
  if (query.isFailed === true) hold(`outcome NOT IN ('done', 'waiting')`);
  if (query.isNested === true) holdMember(hold, '"parentId":"');
  for (const [key, member] of Object.entries(IN_ENTRY)) {
    const value = query[key as keyof typeof IN_ENTRY];
    if (value !== undefined) holdMember(hold, `"${member}":${JSON.stringify(value.toWellFormed())}`);
  }
  return {
    sql: `SELECT * FROM toolcrib_audit WHERE ${conditions.join(' AND ')} ORDER BY at DESC, chain DESC, number DESC LIMIT ?`,
    params: [...params, limit],
  };
}

/**
 * Entries are JSON without spaces, and quotes inside a text are escaped, so a member occurs exactly if it is there.
 * `replace` compares exactly in every engine; SQLite's LIKE ignores case.
 */
function holdMember(hold: (condition: string, ...values: readonly SqlValue[]) => void, member: string): void {
  hold(`replace(entry, ?, '') <> entry`, indexText(member));
}

/** Counts calls by tool and caller. The index has all columns, so no entry is read. */
export async function readUse(engine: SqlEngine, since: number): Promise<readonly ToolUse[]> {
  const rows = await engine.scan({
    sql: `SELECT tool, caller, sum(CASE WHEN outcome = 'waiting' THEN 0 ELSE 1 END) AS total, max(at) AS last_at,
        sum(CASE WHEN outcome IN ('done', 'waiting') THEN 0 ELSE 1 END) AS failed
      FROM toolcrib_audit WHERE at >= ? AND outcome NOT IN ${NO_CALLS} GROUP BY tool, caller`,
    params: [since],
  });
  return rows.map((row) => ({
    tool: textOf(row, 'tool'),
    caller: textOf(row, 'caller'),
    calls: numberOf(row, 'total'),
    failed: numberOf(row, 'failed'),
    lastAt: numberOf(row, 'last_at'),
  }));
}
