import type { KeepBounds } from '../../core/ports/stored-results.ts';
import { type TaskEvent, taskStateAfter, taskStatesBefore } from '../../core/ports/task-states.ts';
import { type Statement, sql } from '../engines/sql-engine.ts';
import { momentAfter, type TaskColumns, taskKey } from './task-rows.ts';

/** SQL conditions: the task is in this state. */
const IN_STATE: Readonly<Record<string, string>> = {
  queued: "(state = 'queued' AND is_lost = 0)",
  requeued: "(state = 'queued' AND is_lost = 1)",
  waiting: "state = 'waiting'",
  running: "state = 'running'",
  lost: "(state = 'done' AND is_lost = 1)",
};

/** Columns that a state sets. */
const TO_STATE: Readonly<Record<string, string>> = {
  queued: "state = 'queued', is_lost = 0",
  requeued: "state = 'queued', is_lost = 1",
  waiting: "state = 'waiting', is_lost = 0",
  running: "state = 'running', is_lost = 0",
  done: "state = 'done', is_lost = 0",
  lost: "state = 'done', is_lost = 1",
};

/** The tasks to change, and how. */
interface TaskChange {
  readonly where: Statement;
  /** Additional columns to set. */
  readonly set?: Statement;
  /** A table of values to join. */
  readonly from?: Statement;
  /** SQL that says whether the task can be claimed at once; default: no. */
  readonly isReady?: Statement;
  /** The columns to return; default: the id. */
  readonly returning?: string;
}

/** The only statement that changes the state of tasks. It changes those in a state in which the event may happen. */
export function moveTask(event: Exclude<TaskEvent, 'submit' | 'park'>, change: TaskChange): Statement {
  const { where, set, from, isReady = sql`0`, returning = 'toolcrib_tasks.id' } = change;
  const before = taskStatesBefore(event).map((state) => IN_STATE[state]);
  return {
    sql: `UPDATE toolcrib_tasks SET ${TO_STATE[taskStateAfter(event)]}, is_ready = ${isReady.sql}
      ${set === undefined ? '' : `, ${set.sql}`} ${from === undefined ? '' : `FROM ${from.sql}`}
      WHERE ${where.sql} AND (${before.join(' OR ')}) RETURNING ${returning}`,
    params: [...isReady.params, ...(set?.params ?? []), ...(from?.params ?? []), ...where.params],
  };
}

/** Adds rows, except those whose id or slot is taken. */
export function addTasks(rows: readonly TaskColumns[], returning: string): Statement {
  const columns = Object.keys(rows[0] ?? {});
  const marks = rows.map(
    (row) => `(${columns.map((name) => (typeof row[name] === 'number' ? 'CAST(? AS BIGINT)' : '?')).join(', ')})`,
  );
  return {
    sql: `INSERT INTO toolcrib_tasks (${columns.join(', ')}) VALUES ${marks.join(', ')}
      ON CONFLICT DO NOTHING RETURNING ${returning}`,
    params: rows.flatMap((row) => columns.map((name) => row[name] ?? null)),
  };
}

/** The claim of a process. */
export interface OwnToken {
  readonly process: string;
  /** As stored in the row; null matches no row. */
  readonly claim: string | null;
}

/** A task that this process has claimed. Another process may have claimed it since. */
export interface OwnTask extends OwnToken {
  readonly id: string;
}

/** SQL condition: this process has claimed the task, and no other one since. */
export function isOwn({ id, process, claim }: OwnTask): Statement {
  return sql`id = ${taskKey(id)} AND process = ${process} AND claim = ${claim}`;
}

const READY_IF_CANCELLED = sql`CASE WHEN cancelled_by IS NULL THEN 0 ELSE 1 END`;

/** Times of a task that is queued again. */
interface Postponing {
  readonly at: number;
  readonly pauseMs: number;
  readonly approvalId: string | undefined;
  readonly returning: string;
}

/** Queues a task again. If its end was requested meanwhile, it can be claimed at once, so that it ends. */
export function postponeTask(own: OwnTask, { at, pauseMs, approvalId, returning }: Postponing): Statement {
  const runAt = momentAfter(at, Math.max(0, pauseMs));
  return moveTask('postpone', {
    where: isOwn(own),
    set: sql`run_at = ${runAt}, approval_id = ${approvalId ?? null}, process = NULL, claim = NULL`,
    isReady: runAt <= at ? sql`1` : READY_IF_CANCELLED,
    returning,
  });
}

/** Sets a task aside. If its end was requested meanwhile, it can be claimed at once, so that it ends. */
export function awaitTask(own: OwnTask, approvalId: string, batch?: string): Statement {
  return moveTask('await', {
    where: isOwn(own),
    set: sql`
      approval_id = ${approvalId}, batch = ${batch ?? null}, process = NULL, claim = NULL,
      bytes = length(task) + length(arguments) + coalesce((
        SELECT CAST(sum(length(entry)) AS BIGINT) FROM toolcrib_journal_entries WHERE id = toolcrib_tasks.id), 0)`,
    isReady: READY_IF_CANCELLED,
  });
}

/** The end of a task as it is written. */
export interface WrittenEnd {
  readonly outcome: string;
  readonly result: string;
  readonly instead: string;
  readonly at: number;
  readonly bounds: Pick<KeepBounds, 'maxBytesPerCaller' | 'maxTotalBytes'>;
}

/** Stores the ends of claimed tasks; the ids must differ. */
export function finishTasks(ends: readonly (OwnTask & WrittenEnd)[], returning: string): Statement {
  const mark = 'CAST(? AS BIGINT)';
  const marks = ends.map(() => `(?, ?, ?, ?, ?, ${mark}, ${mark}, ${mark}, ${mark})`);
  const values = ends.map(({ id, claim, outcome, result, instead, at, bounds }) => {
    const most = Math.min(bounds.maxBytesPerCaller, bounds.maxTotalBytes);
    return [
      taskKey(id),
      claim,
      outcome,
      result,
      instead,
      Buffer.byteLength(result),
      Buffer.byteLength(instead),
      most,
      at,
    ];
  });
  const fits = 'CASE WHEN bytes + ending.column6 <= ending.column8 THEN';
  const finish = moveTask('finish', {
    where: sql`id = ending.column1 AND claim = ending.column2 AND process = ${ends[0]?.process ?? null}`,
    set: {
      sql: `outcome = ending.column3, result = ${fits} ending.column4 ELSE ending.column5 END,
        bytes = bytes + ${fits} ending.column6 ELSE ending.column7 END,
        ended_at = ending.column9, keep_until = ending.column9 + keep_ms`,
      params: [],
    },
    from: { sql: `(VALUES ${marks.join(', ')}) AS ending`, params: values.flat() },
    returning,
  });
  return { ...finish, byIndex: true };
}

/** An end that does not come from the process of the task. */
export interface OtherEnd {
  readonly outcome: 'cancelled' | 'timeout' | 'unknown_outcome';
  readonly result: string;
  readonly at: number;
}

/** The columns of such an end. */
export function endColumns({ outcome, result, at }: OtherEnd): Statement {
  return sql`
    outcome = ${outcome}, result = ${result}, bytes = bytes + ${Buffer.byteLength(result)},
    ended_at = ${at}, keep_until = keep_ms + ${at}`;
}

/** Ends a task that does not run, or requests the end of one that runs; the last statement returns the state. */
export function cancelTask(
  id: string,
  by: string,
  end: OtherEnd & { readonly returning: string },
): readonly Statement[] {
  const key = taskKey(id);
  const set = endColumns(end);
  const cancelledBy = JSON.stringify(by);
  return [
    moveTask('cancel', {
      where: sql`id = ${key}`,
      set: { sql: `cancelled_by = ?, ${set.sql}`, params: [cancelledBy, ...set.params] },
      returning: end.returning,
    }),
    sql`
      UPDATE toolcrib_tasks SET cancelled_by = coalesce(cancelled_by, ${cancelledBy})
      WHERE id = ${key} AND state = 'running' RETURNING id`,
    sql`SELECT state FROM toolcrib_tasks WHERE id = ${key}`,
  ];
}

/** SQL condition: the task was not begun in time. A task with an approval ends with the approval. */
const isOverdue = (at: number): Statement => sql`state = 'queued' AND approval_id IS NULL AND expires_at <= ${at}`;

/** The oldest tasks that were not begun in time. */
export function overdueTasks(at: number, limit: number): Statement {
  const overdue = isOverdue(at);
  return {
    sql: `SELECT * FROM toolcrib_tasks WHERE ${overdue.sql} ORDER BY expires_at LIMIT ?`,
    params: [...overdue.params, limit],
  };
}

/** Ends a task that is still overdue. */
export function expireTask(id: string, end: OtherEnd, returning: string): Statement {
  const overdue = isOverdue(end.at);
  const where = { sql: `id = ? AND ${overdue.sql}`, params: [taskKey(id), ...overdue.params] };
  return moveTask('expire', { where, set: endColumns(end), returning });
}

/** Notes the progress of a running task of this process. */
export function noteTaskProgress(own: OwnTask, progress: string): Statement {
  const { sql: mine, params } = isOwn(own);
  return {
    sql: `UPDATE toolcrib_tasks SET progress = ? WHERE ${mine} AND state = 'running'`,
    params: [progress, ...params],
  };
}
