import { randomUUID } from 'node:crypto';
import type { KeepBounds } from '../../core/ports/stored-results.ts';
import type { StoredTask, StoredTasks, TaskClaim, TaskEnd } from '../../core/ports/stored-tasks.ts';
import type { Heartbeat } from '../claims.ts';
import { inBatches } from '../engines/batches.ts';
import { type Row, type SqlEngine, type Statement, textOf } from '../engines/sql-engine.ts';
import { anyClaimable, CLAIMABLE, type Claimable, claimTasks, readyStatement, unclaimTasks } from './task-claims.ts';
import { sealOf, waitJournal } from './task-journals.ts';
import { awaitTask, finishTasks, noteTaskProgress, type OwnTask, postponeTask, type WrittenEnd } from './task-moves.ts';
import { taskKey, toStoredTask } from './task-rows.ts';
import type { TaskSignals } from './task-signals.ts';

/** Dependencies of the table of tasks. */
export interface TaskPorts {
  readonly engine: SqlEngine;
  now(): number;
  readonly heartbeat: Heartbeat;
  readonly signals: TaskSignals;
  /** The claims of this process on tasks, as stored in their rows. */
  readonly claims: Map<string, string>;
}

/** Longer progress is not stored. */
const MAX_PROGRESS_BYTES = 10_000;

/** Tasks that are added or finished in one statement on PostgreSQL. */
export const BATCH = { maxItems: 200, maxWeight: 4_000_000 };

/** Notes the rows of tasks that have ended. */
export type NoteEnds = (rows: readonly Row[], bounds?: KeepBounds) => void;

/** The columns to return for ended tasks, for `NoteEnds`. */
export function endReturning({ returning }: TaskSignals): string {
  return `${returning}, owner, bytes`;
}

type Claimed = 'claim' | 'postpone' | 'await' | 'finish' | 'noteProgress';

/** The operations of a process on the tasks that it claims. */
export function claimedTasks(ports: TaskPorts, noteEnds: NoteEnds): Pick<StoredTasks, Claimed> {
  const { engine, now, heartbeat, signals, claims } = ports;
  const { process } = heartbeat;
  const finishAll = createFinish(engine, endReturning(signals));
  const claim = createClaim(ports);
  /** Writes how the run of a claimed task ended. Resolves to no row if another process has the task. */
  const settle = async (
    id: string,
    toStatements: (own: OwnTask) => readonly Statement[],
    write?: Write,
  ): Promise<readonly Row[]> => {
    const claim = claims.get(id);
    if (claim === undefined) return [];
    claims.delete(id);
    const own = { id, process, claim };
    const [changed = []] = await heartbeat.settle(nameOf(own), toStatements(own), write);
    signals.tell(id);
    return changed;
  };
  return {
    claim: async (what) => {
      const claimed = await claim(what);
      for (const { task, claim: token } of claimed) claims.set(task.id, token);
      return claimed.map(({ task }) => task);
    },
    postpone: async (id, { pauseMs, approvalId }) => {
      const { returning } = signals;
      await settle(id, (own) => [postponeTask(own, { at: now(), pauseMs, approvalId, returning })]);
    },
    await: async (id, approvalId, script) => {
      const at = now();
      const waited = await settle(id, (own) => [
        awaitTask(own, approvalId, script?.batch),
        ...(script === undefined ? [] : [waitJournal(own, script), sealOf(own, script.batch, at)]),
      ]);
      return waited.length === 1;
    },
    finish: async (id, end) => {
      const written = { ...toWritten(end, now()), id, process, claim: claims.get(id) ?? null };
      const statement = () => [finishTasks([written], endReturning(signals))];
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

/** A claimed task and the token of its claim. */
interface ClaimedTask {
  readonly task: StoredTask;
  readonly claim: string;
}

/** While there is more than a process claims at once, it looks only this often for tasks that have become ready. */
const CHECK_MS = 100;

/** Creates the function that claims tasks. It writes only if there is something to claim. */
function createClaim(ports: TaskPorts): (what: TaskClaim) => Promise<readonly ClaimedTask[]> {
  const { engine, now, heartbeat } = ports;
  const { process } = heartbeat;
  /** Time of the last look, if the claim after it found as many tasks as it could take. */
  let fullAt = Number.NEGATIVE_INFINITY;
  return async (what) => {
    if (what.limit < 1 || (what.sources.length === 0 && what.task === undefined)) return [];
    const at = now();
    if (Math.abs(at - fullAt) < CHECK_MS) {
      const claimed = await claimTogether(ports, what, []);
      if (claimed.length < what.limit) fullAt = Number.NEGATIVE_INFINITY;
      if (claimed.length > 0) return claimed;
    }
    const [found = {}] = await engine.read(anyClaimable(what, { process, at }));
    const kinds = CLAIMABLE.filter((kind) => found[kind] === 1);
    if (kinds.length === 0) return [];
    const claimed = await claimTogether(ports, what, kinds);
    fullAt = claimed.length < what.limit ? Number.NEGATIVE_INFINITY : at;
    return claimed;
  };
}

/** Claims tasks under one token. Each is then held by the heartbeat until it is settled. */
async function claimTogether(ports: TaskPorts, what: TaskClaim, kinds: readonly Claimable[]) {
  const { engine, now, heartbeat, signals } = ports;
  const { process } = heartbeat;
  const { skipLocked } = engine.dialect;
  const at = now();
  const claim = randomUUID();
  const name = `tasks ${claim}`;
  const notReady = kinds.filter((kind) => kind !== 'is_ready');
  const rows = await heartbeat.make({
    name,
    statements: [
      ...notReady.map((kind) => readyStatement(kind, at, skipLocked)),
      claimTasks(what, { process, claim, at }, skipLocked),
    ],
    undo: unclaimTasks({ process, claim }, signals.returning),
  });
  const claimed = (rows.at(-1) ?? []).map((row): ClaimedTask => ({ task: toStoredTask(row), claim }));
  for (const { task } of claimed) heartbeat.hold(nameOf({ id: task.id, process, claim }));
  heartbeat.release(name);
  return claimed.toSorted(({ task: a }, { task: b }) => b.priority - a.priority || a.runAt - b.runAt);
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
