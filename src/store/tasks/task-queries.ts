import type { StoredTasks, TaskListing, TaskState } from '../../core/ports/stored-tasks.ts';
import { jsonOf, numberOf, type Row, type SqlEngine, type Statement, sql, textOf } from '../engines/sql-engine.ts';
import { ownerKey } from '../repeats.ts';
import { LISTED_COLUMNS, taskKey, taskResultOf, toListedTask, toStoredTask } from './task-rows.ts';

const IDS_PER_READ = 500;

type Reads = 'get' | 'result' | 'list' | 'cancelled' | 'counts';

/** The read-only queries on tasks. */
export function readTasks(engine: SqlEngine, process: string): Pick<StoredTasks, Reads> {
  const wishes = async (ids: readonly string[]): Promise<readonly Row[]> => {
    const marks = ids.map(() => '?').join(', ');
    return engine.read({
      sql: `SELECT id, cancelled_by FROM toolcrib_tasks
        WHERE id IN (${marks}) AND process = ? AND state = 'running' AND cancelled_by IS NOT NULL`,
      params: [...ids.map(taskKey), process],
    });
  };
  return {
    async get(id) {
      const [row] = await engine.read(sql`SELECT * FROM toolcrib_tasks WHERE id = ${taskKey(id)}`);
      return row && toStoredTask(row);
    },
    async result(id) {
      const [row] = await engine.read(sql`
        SELECT result FROM toolcrib_tasks WHERE id = ${taskKey(id)} AND state = 'done' AND result IS NOT NULL`);
      return row && taskResultOf(row);
    },
    async list(filter) {
      return (await engine.read(listTasks(filter))).map(toListedTask);
    },
    async cancelled(ids) {
      const found = new Map<string, string>();
      const names = new Map(ids.map((id) => [taskKey(id), id]));
      for (let begin = 0; begin < ids.length; begin += IDS_PER_READ) {
        for (const row of await wishes(ids.slice(begin, begin + IDS_PER_READ)))
          found.set(names.get(textOf(row, 'id')) ?? '', String(jsonOf(row, 'cancelled_by')));
      }
      return found;
    },
    async counts() {
      const rows = await engine.read(sql`
        SELECT state, count(*) AS total FROM toolcrib_tasks WHERE state <> 'done' GROUP BY state`);
      const counted = Object.fromEntries(rows.map((row) => [textOf(row, 'state'), numberOf(row, 'total')]));
      return { queued: 0, running: 0, waiting: 0, ...counted };
    },
  };
}

/** SQL conditions that name the condition of their index. */
function inState(state: TaskState): Statement {
  return state === 'done' ? sql`state = 'done'` : { sql: "state = ? AND state <> 'done'", params: [state] };
}

function withOutcome(outcome: string): Statement {
  if (outcome === 'done') return sql`state = 'done' AND outcome = 'done'`;
  return sql`state = 'done' AND outcome <> 'done' AND outcome = ${taskKey(outcome)}`;
}

/** The task with this id or slot, without its long columns. */
export function sameTask(id: string, slot: string | null): Statement {
  return {
    sql: `SELECT ${LISTED_COLUMNS} FROM toolcrib_tasks WHERE id = ? ${slot === null ? '' : 'OR slot = ?'}
      ORDER BY created_at LIMIT 1`,
    params: slot === null ? [id] : [id, slot],
  };
}

/** Newest first. `before` names the last task of the page before. */
function listTasks({ state, outcome, tool, callerId, before, createdBefore, limit }: TaskListing): Statement {
  const conditions = [
    ...(state === undefined ? [] : [inState(state)]),
    ...(outcome === undefined ? [] : [withOutcome(outcome)]),
    ...(tool === undefined ? [] : [sql`tool = ${taskKey(tool)}`]),
    ...(callerId === undefined ? [] : [sql`owner = ${ownerKey(callerId)}`]),
    ...(before === undefined
      ? []
      : [sql`(created_at, id) < (SELECT created_at, id FROM toolcrib_tasks WHERE id = ${taskKey(before)})`]),
    ...(createdBefore === undefined ? [] : [{ sql: 'created_at < ?', params: [createdBefore] }]),
  ];
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.map((one) => one.sql).join(' AND ')}`;
  return {
    sql: `SELECT ${LISTED_COLUMNS} FROM toolcrib_tasks ${where} ORDER BY created_at DESC, id DESC LIMIT ?`,
    params: [...conditions.flatMap(({ params }) => params), limit],
  };
}

/** SQL condition: the ended task can be removed. The last one of a schedule stays, so that no slot runs twice. */
const IS_REMOVABLE = `state = 'done' AND (schedule IS NULL OR EXISTS (SELECT 1 FROM toolcrib_tasks AS later
  WHERE later.schedule = toolcrib_tasks.schedule AND later.created_at > toolcrib_tasks.created_at))`;

/** Removes ended tasks that were kept long enough. */
export function purgeTasks(at: number, limit: number): Statement {
  return {
    sql: `DELETE FROM toolcrib_tasks WHERE id IN (
      SELECT id FROM toolcrib_tasks WHERE keep_until < ? AND ${IS_REMOVABLE} LIMIT ?)`,
    params: [at, limit],
  };
}

/** Removes the oldest ended tasks beyond a size: those of one caller, or of all. */
export function trimTasks(owner: string | undefined, maxBytes: number, limit: number): Statement {
  return {
    sql: `DELETE FROM toolcrib_tasks WHERE id IN (
      SELECT id FROM (SELECT id, sum(bytes) OVER (ORDER BY ended_at DESC, id ROWS UNBOUNDED PRECEDING) AS kept
        FROM toolcrib_tasks WHERE state = 'done' ${owner === undefined ? '' : 'AND owner = ?'}) AS ended
      WHERE kept > ? LIMIT ?) AND ${IS_REMOVABLE}`,
    params: [...(owner === undefined ? [] : [owner]), maxBytes, limit],
  };
}
