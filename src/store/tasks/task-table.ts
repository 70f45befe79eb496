import { randomUUID } from 'node:crypto';
import type { KeepBounds } from '../../core/ports/stored-results.ts';
import type { StoredTask, StoredTasks, TaskClaim, TaskEnd } from '../../core/ports/stored-tasks.ts';
import type { Heartbeat } from '../claims.ts';
import { inBatches } from '../engines/batches.ts';
import { numberOf, type Row, type SqlEngine, type Statement, textOf } from '../engines/sql-engine.ts';
import { anyClaimable, type Claimable, claimTasks, readyStatement, unclaimTasks } from './task-claims.ts';
import {
  addTasks,
  awaitTask,
  cancelTask,
  expireTask,
  finishTasks,
  noteTaskProgress,
  type OwnTask,
  overdueTasks,
  postponeTask,
  type WrittenEnd,
} from './task-moves.ts';
import { purgeTasks, readTasks, sameTask } from './task-queries.ts';
import { type TaskColumns, taskKey, toColumns, toListedTask, toStoredTask } from './task-rows.ts';
import type { TaskSignals } from './task-signals.ts';
import { createTaskUsage } from './task-usage.ts';

/** Dependencies of the table of tasks. */
interface TaskPorts {
  readonly engine: SqlEngine;
  now(): number;
  readonly heartbeat: Heartbeat;
  readonly signals: TaskSignals;
}

/** Ended tasks are purged after this many new ones, at most `PURGED_ROWS` at a time. */
const ADDED_PER_PURGE = 100;
const PURGED_ROWS = 500;
/** Tasks that one call of `expire` ends. */
const EXPIRED_ROWS = 100;
/** Longer progress is not stored. */
const MAX_PROGRESS_BYTES = 10_000;

/** Tasks in an engine. Each transition is a single statement: if several processes try, one succeeds. */
export function tasks(ports: TaskPorts): StoredTasks {
  const { engine, now, heartbeat, signals } = ports;
  const usage = createTaskUsage(engine);
  const insert = createInsert(engine, signals.returning);
  let added = 0;
  const noteEnds: NoteEnds = (rows, bounds) => {
    const ends = rows.map((row) => ({ owner: textOf(row, 'owner'), bytes: numberOf(row, 'bytes') }));
    usage.noteEnds(ends, bounds);
  };
  return {
    ...readTasks(engine, heartbeat.process),
    ...claimedTasks(ports, noteEnds),
    add: async (task, bounds) => {
      if (added++ % ADDED_PER_PURGE === 0) await engine.write([purgeTasks(now(), PURGED_ROWS)]).catch(() => undefined); // the next one tries again
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
    onChange: signals.onChange,
  };
}

/** Notes the rows of tasks that have ended. */
type NoteEnds = (rows: readonly Row[], bounds?: KeepBounds) => void;

/** The columns to return for ended tasks, for `NoteEnds`. */
function endReturning({ returning }: TaskSignals): string {
  return `${returning}, owner, bytes`;
}

type Claimed = 'claim' | 'postpone' | 'await' | 'finish' | 'noteProgress';

/** The operations of a process on the tasks that it claims. */
function claimedTasks(ports: TaskPorts, noteEnds: NoteEnds): Pick<StoredTasks, Claimed> {
  const { engine, now, heartbeat, signals } = ports;
  const { process } = heartbeat;
  const finishAll = createFinish(engine, endReturning(signals));
  /** The claims of this process, as stored in their rows. */
  const claims = new Map<string, string>();
  /** Writes how the run of a claimed task ended. Resolves to no row if another process has the task. */
  const settle = async (
    id: string,
    toStatement: (own: OwnTask) => Statement,
    write?: Write,
  ): Promise<readonly Row[]> => {
    const claim = claims.get(id);
    if (claim === undefined) return [];
    claims.delete(id);
    const own = { id, process, claim };
    const [changed = []] = await heartbeat.settle(nameOf(own), [toStatement(own)], write);
    signals.tell(id);
    return changed;
  };
  return {
    claim: async (what) => {
      const claimed = await claimTogether(ports, what);
      for (const { task, claim } of claimed) claims.set(task.id, claim);
      return claimed.map(({ task }) => task);
    },
    postpone: async (id, { pauseMs, approvalId }) => {
      const { returning } = signals;
      await settle(id, (own) => postponeTask(own, { at: now(), pauseMs, approvalId, returning }));
    },
    await: async (id, approvalId) => {
      await settle(id, (own) => awaitTask(own, approvalId));
    },
    finish: async (id, end) => {
      const written = { ...toWritten(end, now()), id, process, claim: claims.get(id) ?? null };
      const statement = () => finishTasks([written], endReturning(signals));
      const ended = await settle(id, statement, finishAll && (async () => [await finishAll(written)]));
      noteEnds(ended, end.bounds);
      return ended.length === 1;
    },
    noteProgress: async (id, progress) => {
      const text = JSON.stringify(progress) ?? 'null';
      const claim = claims.get(id);
      if (claim === undefined || Buffer.byteLength(text) > MAX_PROGRESS_BYTES) return;
      await engine.write([noteTaskProgress({ id, process, claim }, text)]);
    },
  };
}

type Write = (statements: readonly Statement[]) => Promise<readonly (readonly Row[])[]>;

/** The name of the claim in the heartbeat. */
function nameOf({ id, claim }: OwnTask): string {
  return `task ${id} ${claim}`;
}

function toWritten({ outcome, result, instead, bounds }: TaskEnd, at: number): WrittenEnd {
  return { outcome: taskKey(outcome), result: JSON.stringify(result), instead: JSON.stringify(instead), bounds, at };
}

/** Claims tasks under one token. Each is then held by the heartbeat until it is settled. */
async function claimTogether({ engine, now, heartbeat, signals }: TaskPorts, what: TaskClaim) {
  const { process } = heartbeat;
  const { skipLocked } = engine.dialect;
  const at = now();
  if (what.limit < 1 || what.sources.length === 0) return [];
  const [found = {}] = await engine.read(anyClaimable(what, { process, at }));
  const has = (kind: Claimable): boolean => found[kind] === 1;
  if (!has('is_ready') && !has('is_due') && !has('is_answered')) return [];
  const claim = randomUUID();
  const name = `tasks ${claim}`;
  const kinds = (['is_due', 'is_answered'] as const).filter(has);
  const rows = await heartbeat.make({
    name,
    statements: [
      ...kinds.map((kind) => readyStatement(kind, at, skipLocked)),
      claimTasks(what, { process, claim, at }, skipLocked),
    ],
    undo: unclaimTasks({ process, claim }, signals.returning),
  });
  const claimed = (rows.at(-1) ?? []).map((row) => ({ task: toStoredTask(row), claim }));
  for (const { task } of claimed) heartbeat.hold(nameOf({ id: task.id, process, claim }));
  heartbeat.release(name);
  return claimed.toSorted(({ task: a }, { task: b }) => b.priority - a.priority || a.runAt - b.runAt);
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

/** Tasks that are added or finished in one statement on PostgreSQL. */
const BATCH = { maxItems: 200, maxWeight: 4_000_000 };

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

/** Creates the function that stores several ends in one statement; undefined if the engine groups writes itself. */
function createFinish(engine: SqlEngine, returning: string) {
  if (engine.name !== 'postgres') return undefined;
  const finish = async (ends: readonly (OwnTask & WrittenEnd)[]): Promise<readonly (readonly Row[])[]> => {
    const [ended = []] = await engine.write([finishTasks(ends, returning)]);
    const byId = new Map(ended.map((row) => [textOf(row, 'id'), row]));
    return ends.map(({ id }) => {
      const row = byId.get(taskKey(id));
      return row === undefined ? [] : [row];
    });
  };
  return inBatches(finish, { ...BATCH, weightOf: ({ result }) => result.length });
}
