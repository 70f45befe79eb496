import type { TaskClaim } from '../../core/ports/stored-tasks.ts';
import { MAX_SKEW_MS } from '../approval-rows.ts';
import { type Statement, sql } from '../engines/sql-engine.ts';
import { moveTask, type OwnToken } from './task-moves.ts';
import { taskKey } from './task-rows.ts';

const PROMOTED_ROWS = 1000;

/** SQL condition: the time of a queued task has come. */
const isDue = (at: number): Statement => sql`state = 'queued' AND is_ready = 0 AND run_at <= ${at}`;

/** Waiting tasks whose approval request, or every request of their batch, is answered, ended, expired or gone. */
const answered = (at: number): Statement => sql`
  toolcrib_tasks AS one WHERE one.state = 'waiting' AND one.is_ready = 0 AND NOT EXISTS (
    SELECT 1 FROM toolcrib_approvals AS asked WHERE asked.id = one.approval_id
      AND asked.state = 'waiting' AND asked.expires_at > ${at} AND asked.created_at <= ${at + MAX_SKEW_MS})
  AND (one.batch IS NULL OR NOT EXISTS (
    SELECT 1 FROM toolcrib_approvals AS asked WHERE asked.batch = one.batch
      AND asked.state = 'waiting' AND asked.expires_at > ${at} AND asked.created_at <= ${at + MAX_SKEW_MS}))`;

/** The kinds of tasks that can be claimed, or marked as ready and then claimed. */
export const CLAIMABLE = ['is_ready', 'is_due', 'is_answered'] as const;
export type Claimable = (typeof CLAIMABLE)[number];

/** Marks the tasks that can be claimed from now on, so that a claim reads no others. */
export function readyStatement(kind: Exclude<Claimable, 'is_ready'>, at: number, skipLocked: string): Statement {
  const { sql: rows, params } = kind === 'is_due' ? isDue(at) : answered(at);
  const select =
    kind === 'is_due'
      ? `SELECT id FROM toolcrib_tasks WHERE ${rows} ORDER BY run_at LIMIT ? ${skipLocked}`
      : `SELECT one.id FROM ${rows} LIMIT ? ${skipLocked.replace('UPDATE', 'UPDATE OF one')}`;
  return {
    sql: `WITH found AS MATERIALIZED (${select}) UPDATE toolcrib_tasks SET is_ready = 1
      WHERE id IN (SELECT id FROM found) AND is_ready = 0 AND state IN ('queued', 'waiting')`,
    params: [...params, PROMOTED_ROWS],
    byIndex: true,
  };
}

/** The process that asks for tasks, and the time. */
export interface Claimant {
  readonly process: string;
  readonly at: number;
}

/** SQL condition: this process can claim the task. A task that it lost itself is left: its first run may still go on. */
function isClaimable({ sources, profiles, isWorker, task }: TaskClaim, { process, at }: Claimant): Statement {
  const named = (column: string, names: readonly string[]): string =>
    `${column} IN (${names.map(() => '?').join(', ') || 'NULL'})`;
  return {
    sql: `is_ready = 1 AND (approval_id IS NOT NULL OR expires_at > ?) AND (is_lost = 0 OR process <> ?)
      AND ${task === undefined ? named('source', sources) : 'id = ?'} ${profiles === undefined ? '' : `AND ${named('profile', profiles)}`}
      ${isWorker ? '' : 'AND is_for_workers = 0'}`,
    params: [at, process, ...(task === undefined ? sources : [task]).map(taskKey), ...(profiles ?? []).map(taskKey)],
  };
}

/** Returns a row with 1 for each kind of tasks that there is; it writes nothing. */
export function anyClaimable(what: TaskClaim, claimant: Claimant): Statement {
  const parts: readonly (readonly [Claimable, Statement])[] = [
    ['is_ready', isClaimable(what, claimant)],
    ['is_due', isDue(claimant.at)],
    ['is_answered', answered(claimant.at)],
  ];
  const columns = parts.map(([name, { sql: rows }]) => {
    const from = name === 'is_answered' ? rows : `toolcrib_tasks WHERE ${rows}`;
    return `CASE WHEN EXISTS (SELECT 1 FROM ${from}) THEN 1 ELSE 0 END AS ${name}`;
  });
  return { sql: `SELECT ${columns.join(', ')}`, params: parts.flatMap(([, { params }]) => params) };
}

/** Claims tasks in the order of their priority, then of their time. `skipLocked` leaves those that another process is claiming. */
export function claimTasks(what: TaskClaim, claimant: Claimant & OwnToken, skipLocked: string): Statement {
  const claimable = isClaimable(what, claimant);
  const { process, claim, at } = claimant;
  const { sql: text, params } = moveTask('claim', {
    where: { sql: 'id IN (SELECT id FROM next)', params: [] },
    set: sql`process = ${process}, claim = ${claim}, started_at = ${at}, attempts = attempts + 1`,
    returning: '*',
  });
  return {
    sql: `WITH next AS MATERIALIZED (SELECT id FROM toolcrib_tasks WHERE ${claimable.sql}
      ORDER BY priority DESC, run_at, id LIMIT ? ${skipLocked}) ${text}`,
    params: [...claimable.params, what.limit, ...params],
    byIndex: true,
  };
}

/** Undoes a claim whose answer was lost. */
export function unclaimTasks({ process, claim }: OwnToken, returning: string): Statement {
  return moveTask('unclaim', {
    where: sql`process = ${process} AND claim = ${claim}`,
    set: sql`process = NULL, claim = NULL, attempts = attempts - 1`,
    isReady: sql`1`,
    returning,
  });
}
