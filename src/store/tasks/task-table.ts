import type { NewTask, ParkedScript, StoredTask, StoredTasks } from '../../core/ports/stored-tasks.ts';
import { taskStateAfter } from '../../core/ports/task-states.ts';
import { inBatches } from '../engines/batches.ts';
import { numberOf, type SqlEngine, type Statement, textOf } from '../engines/sql-engine.ts';
import { BATCH, claimedTasks, endReturning, type NoteEnds, type TaskPorts } from './claimed-tasks.ts';
import { PURGE_JOURNALS, sealOf, wholeJournal } from './task-journals.ts';
import { addTasks, cancelTask, expireTask, overdueTasks } from './task-moves.ts';
import { purgeTasks, readTasks, sameTask } from './task-queries.ts';
import { type TaskColumns, toColumns, toListedTask, toStoredTask } from './task-rows.ts';
import type { TaskSignals } from './task-signals.ts';
import { createTaskUsage } from './task-usage.ts';

/** Ended tasks are purged after this many new ones, at most `PURGED_ROWS` at a time. */
const ADDED_PER_PURGE = 100;
const PURGED_ROWS = 500;
/** Tasks that one call of `expire` ends. */
const EXPIRED_ROWS = 100;
/** Tasks in an engine. Each transition is a single statement: if several processes try, one succeeds. */
export function tasks(ports: TaskPorts): StoredTasks {
  const { engine, now, heartbeat, signals } = ports;
  const usage = createTaskUsage(engine);
  const insert = createInsert(engine, signals.returning);
  let added = 0;
  const purgeNowAndThen = async (): Promise<void> => {
    if (added++ % ADDED_PER_PURGE !== 0) return;
    await engine.write([purgeTasks(now(), PURGED_ROWS), ...PURGE_JOURNALS]).catch(() => undefined); // the next one tries again
  };
  const noteEnds: NoteEnds = (rows, bounds) => {
    const ends = rows.map((row) => ({ owner: textOf(row, 'owner'), bytes: numberOf(row, 'bytes') }));
    usage.noteEnds(ends, bounds);
  };
  return {
    ...readTasks(engine, heartbeat.process),
    ...claimedTasks(ports, noteEnds),
    park: async (task, script, bounds) => {
      await purgeNowAndThen();
      const at = now();
      const row = toParkedColumns(task, script, at);
      const isNew = await usage.within(row, bounds, async () => {
        const [made] = await engine.write(parkStatements(row, task, { script, at, signals }), 'power loss');
        return made?.length === 1;
      });
      if (typeof isNew === 'object') return { ok: false, ...isNew };
      if (isNew) signals.tell(task.id);
      return { ok: true, isNew, id: task.id };
    },
    add: async (task, bounds) => {
      await purgeNowAndThen();
      const row = toColumns(task, now());
      const isNew = await usage.within(row, bounds, () => insert(row));
      if (typeof isNew === 'object') return { ok: false, ...isNew };
      if (isNew) signals.tell(task.id);
      const [same] = isNew ? [] : await engine.read(sameTask(row.id, row.slot));
      return { ok: true, isNew, id: same === undefined ? task.id : toListedTask(same).id };
    },
    cancel: async (id, by, result) => {
      for (;;) {
        const end = { outcome: 'cancelled', result: JSON.stringify(result), at: now() } as const;
        const statements = cancelTask(id, by, { ...end, returning: endReturning(signals) });
        const [ended = [], requested, state] = await engine.write(statements, 'power loss');
        noteEnds(ended);
        if (ended.length === 1) signals.tell(id);
        if (ended.length === 1) return 'cancelled';
        if (requested?.length === 1) return 'requested';
        if (state?.[0] === undefined) return undefined;
        if (state[0].state === 'done') return 'over';
        // The task was queued again between the two statements.
      }
    },
    expire: async (resultOf) => {
      const ended = await expireAll(ports, resultOf);
      noteEnds(ended.map(({ row }) => row));
      return ended.map(({ task }) => task);
    },
    ...signals.watched,
  };
}

function toParkedColumns(task: NewTask, { approvalId, batch, journal }: ParkedScript, at: number): TaskColumns {
  const row = toColumns(task, at);
  const bytes = row.bytes + journal.entries.reduce((sum, { answer }) => sum + (answer?.text?.length ?? 0), 0);
  return { ...row, state: taskStateAfter('park'), is_ready: 0, approval_id: approvalId, batch, bytes };
}

interface Parking {
  readonly script: ParkedScript;
  readonly at: number;
  readonly signals: TaskSignals;
}

/** Adds the task, its journal and seals its batch. The first statement returns no row if the id is taken. */
function parkStatements(row: TaskColumns, { id }: NewTask, { script, at, signals }: Parking): readonly Statement[] {
  return [addTasks([row], signals.returning), ...wholeJournal(id, script), sealOf({ id }, script.batch, at)];
}

/** Ends overdue tasks, the oldest first. */
async function expireAll({ engine, now, signals }: TaskPorts, resultOf: Parameters<StoredTasks['expire']>[0]) {
  const at = now();
  const overdue = (await engine.read(overdueTasks(at, EXPIRED_ROWS))).map(toStoredTask);
  if (overdue.length === 0) return [];
  const outcome = 'timeout';
  const ends = overdue.map((task) => {
    const end = { outcome, result: JSON.stringify(resultOf(task)), at } as const;
    return expireTask(task.id, end, endReturning(signals));
  });
  const answers = await engine.write(ends, 'power loss');
  const ended = overdue.flatMap((before, index) => {
    const task: StoredTask = { ...before, state: 'done', outcome, endedAt: at };
    return (answers[index] ?? []).map((row) => ({ task, row }));
  });
  for (const { task } of ended) signals.tell(task.id);
  return ended;
}

/** Creates the function that adds a row; false if its id or slot is taken. SQLite groups writes itself. */
function createInsert(engine: SqlEngine, returning: string): (row: TaskColumns) => Promise<boolean> {
  const insert = async (rows: readonly TaskColumns[]): Promise<readonly boolean[]> => {
    const [made = []] = await engine.write([addTasks(rows, returning)], 'power loss');
    const ids = new Set(made.map((row) => textOf(row, 'id')));
    return rows.map(({ id }) => ids.delete(id));
  };
  if (engine.name === 'postgres') return inBatches(insert, { ...BATCH, weightOf: ({ bytes }) => bytes });
  return async (row) => (await insert([row]))[0] ?? false;
}
