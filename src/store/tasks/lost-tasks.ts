import type { LostClaim } from '../../core/ports/store.ts';
import { indexText } from '../../core/ports/stored-audit.ts';
import type { StoredTask } from '../../core/ports/stored-tasks.ts';
import type { ToolResult } from '../../core/tool-result.ts';
import { numberOf, type SqlEngine, type Statement, sql, textOf } from '../engines/sql-engine.ts';
import { endColumns, isOwn, moveTask, type OwnTask } from './task-moves.ts';
import { toStoredTask } from './task-rows.ts';

/** A running task of a process that is gone. */
interface LosingRow {
  readonly task: StoredTask;
  readonly claim: string;
  readonly isQueued: boolean;
}

/** A task that was lost this many times is not queued again: it may be what ends the processes. */
const MOST_LOSSES = 5;
/** The number of statements for one task. */
export const LOSS_STATEMENTS = 2;

/** Reads the running tasks of a process. */
export async function readLosing(engine: SqlEngine, process: string): Promise<readonly LosingRow[]> {
  const rows = await engine.read(sql`SELECT * FROM toolcrib_tasks WHERE process = ${process} AND state = 'running'`);
  return rows.map((row) => {
    const task = toStoredTask(row);
    const isQueued = task.isRepeatable && numberOf(row, 'losses') + 1 < MOST_LOSSES;
    return { task, claim: textOf(row, 'claim'), isQueued };
  });
}

/** The circumstances of a loss; `stillSilent` holds while the process has sent no heartbeat. */
interface Loss {
  readonly process: string;
  readonly stillSilent: Statement;
  readonly at: number;
  readonly returning: string;
  resultOf(task: StoredTask): ToolResult;
}

/**
 * The first statement returns a row if the task was still running. The second frees the idempotency key of a task that is
 * queued again.
 */
export function loseStatements({ task, claim, isQueued }: LosingRow, loss: Loss): readonly Statement[] {
  const { process, stillSilent, resultOf } = loss;
  const losing = { ...loss, own: { id: task.id, process, claim } };
  const key: Statement = {
    sql: `DELETE FROM toolcrib_repeats
      WHERE call_id = ? AND process = ? AND result IS NULL AND 1 = CAST(? AS BIGINT) AND ${stillSilent.sql}`,
    params: [indexText(task.id), process, isQueued ? 1 : 0, ...stillSilent.params],
  };
  return [isQueued ? requeueTask(losing) : loseTask(losing, JSON.stringify(resultOf(task))), key];
}

/** Converts a task that was lost. */
export function toLostTask({ task, isQueued }: LosingRow): LostClaim {
  return { callId: task.id, at: task.startedAt ?? task.createdAt, task, isQueued };
}

/** A running task that is lost. */
interface LosingTask {
  readonly own: OwnTask;
  readonly stillSilent: Statement;
  readonly at: number;
  readonly returning: string;
}

/** Queues a task again whose process is gone. A new approval is requested, because the last one was used. */
function requeueTask({ own, stillSilent, at, returning }: LosingTask): Statement {
  return moveTask('requeue', {
    where: both(isOwn(own), stillSilent),
    set: sql`losses = losses + 1, run_at = ${at}, approval_id = NULL`,
    isReady: sql`1`,
    returning,
  });
}

/** Ends a task whose process is gone. */
function loseTask({ own, stillSilent, at, returning }: LosingTask, result: string): Statement {
  const set = endColumns({ outcome: 'unknown_outcome', result, at });
  return moveTask('lose', { where: both(isOwn(own), stillSilent), set, returning });
}

function both(one: Statement, other: Statement): Statement {
  return { sql: `${one.sql} AND ${other.sql}`, params: [...one.params, ...other.params] };
}
