import { brokenBound, type KeepBound, type KeepBounds, type KeptUsage } from '../../core/ports/stored-results.ts';
import { numberOf, type SqlEngine, type Statement } from '../engines/sql-engine.ts';
import { trimTasks } from './task-queries.ts';

/** A reading of the store is used for this long, or for this many tasks. */
const FRESH_MS = 1000;
const FRESH_TASKS = 1000;
/** A reading takes at most one part in this many of the time. */
const REST = 20;
/** A refused task is compared with a reading that is not older than this. */
const REFUSAL_MS = 50;
const MOST_OWNERS = 1000;
/** Ended tasks are trimmed after new ones of this part of the bound. */
const PART = 16;
const TRIMMED_ROWS = 5000;

/** Number and bytes of tasks. */
interface Usage {
  count: number;
  bytes: number;
}

/** A reading, with the tasks that were added here since. */
interface Reading extends Usage {
  readonly first: number;
  readonly readAt: number;
  readonly freshMs: number;
  /** The number of endings here at that time. */
  readonly endings: number;
}

type TrimBounds = Pick<KeepBounds, 'maxBytesPerCaller' | 'maxTotalBytes'>;

/** A task to add. */
interface Weighed {
  readonly owner: string;
  readonly bytes: number;
}

/**
 * Bounds of the tasks that are not done. Counting all of them for each new one would be slow, so each process counts from
 * the last reading: processes together can exceed a bound by what the others add within a second, at most 1,000 tasks each.
 */
export interface TaskUsage {
  /** Runs `add` if there is room. */
  within<T>(task: Weighed, bounds: KeepBounds, add: () => Promise<T>): Promise<T | { readonly broken: KeepBound }>;
  /** Notes that tasks of this process have ended. The oldest ended tasks beyond the bounds are removed now and then. */
  noteEnds(ends: readonly Weighed[], bounds?: TrimBounds): void;
}

export function createTaskUsage(engine: SqlEngine): TaskUsage {
  /** Tasks that are being added: a reading may not have seen them. */
  const adding = new Map<string | undefined, Usage>();
  const readings = createReadings(engine, adding);
  const trim = createTrim(engine);
  let lastBounds: TrimBounds | undefined;

  const admit = async ({ owner, bytes }: Weighed, bounds: KeepBounds): Promise<KeepBound | undefined> => {
    for (let isRead = false; ; isRead = true) {
      const [ofCaller, total] = await readings.usable(owner);
      const broken = brokenBound(toUsage(ofCaller, total), bytes, bounds);
      if (broken === undefined) {
        for (const one of [ofCaller, total]) change(one, 1, bytes);
        return undefined;
      }
      if (isRead || (readings.isExact(ofCaller) && readings.isExact(total))) return broken;
      await readings.renew(owner);
    }
  };
  return {
    async within(task, bounds, add) {
      lastBounds = bounds;
      const broken = await admit(task, bounds);
      if (broken !== undefined) return { broken };
      const owners = [task.owner, undefined];
      for (const owner of owners) adding.set(owner, change(adding.get(owner) ?? { count: 0, bytes: 0 }, 1, task.bytes));
      try {
        return await add();
      } finally {
        for (const owner of owners) {
          const left = change(adding.get(owner) ?? { count: 1, bytes: task.bytes }, -1, -task.bytes);
          if (left.count <= 0) adding.delete(owner);
        }
      }
    },
    noteEnds(ends, bounds = lastBounds) {
      readings.noteEnd();
      if (bounds === undefined) return;
      for (const { owner, bytes } of ends) {
        trim(owner, bytes, bounds.maxBytesPerCaller);
        trim(undefined, bytes, bounds.maxTotalBytes);
      }
    },
  };
}

/** Reads the usage of callers, and of all (`undefined`), and keeps what it has read for a while. */
function createReadings(engine: SqlEngine, adding: ReadonlyMap<string | undefined, Usage>) {
  const readings = new Map<string | undefined, Reading>();
  const running = new Map<string | undefined, Promise<void>>();
  let endings = 0;

  const read = async (owner: string | undefined): Promise<void> => {
    const seen = endings;
    const begun = performance.now();
    const [row = {}] = await engine.read(usageStatement(owner));
    const readAt = performance.now();
    const { count = 0, bytes = 0 } = adding.get(owner) ?? {};
    const total = numberOf(row, 'total') + count;
    const totalBytes = numberOf(row, 'bytes') + bytes;
    if (readings.size > MOST_OWNERS) readings.clear();
    const freshMs = Math.max(FRESH_MS, REST * (readAt - begun));
    readings.set(owner, { count: total, bytes: totalBytes, first: total, readAt, freshMs, endings: seen });
  };
  const readOnce = async (owner: string | undefined): Promise<void> => {
    if (!running.has(owner))
      running.set(
        owner,
        read(owner).finally(() => running.delete(owner)),
      );
    await running.get(owner);
  };
  const fresh = (owner: string | undefined): Reading | undefined => {
    const known = readings.get(owner);
    if (known === undefined || known.count - known.first >= FRESH_TASKS) return undefined;
    return performance.now() - known.readAt < known.freshMs ? known : undefined;
  };
  return {
    noteEnd: () => void endings++,
    isExact: (known: Reading) => known.endings === endings && performance.now() - known.readAt < REFUSAL_MS,
    renew: (owner: string) => Promise.all([readOnce(owner), readOnce(undefined)]),
    /** The usage of a caller, and of all. */
    async usable(owner: string): Promise<readonly [Reading, Reading]> {
      for (;;) {
        const [ofCaller, total] = [fresh(owner), fresh(undefined)];
        if (ofCaller !== undefined && total !== undefined) return [ofCaller, total];
        await Promise.all([ofCaller ?? readOnce(owner), total ?? readOnce(undefined)]);
      }
    },
  };
}

/** Creates the function that counts the bytes of ended tasks and removes the oldest ones now and then. */
function createTrim(engine: SqlEngine) {
  const ended = new Map<string | undefined, number>();
  return (owner: string | undefined, bytes: number, most: number): void => {
    const part = most / PART;
    // A random start, so that processes that end soon take their turn, too.
    const sum = (ended.get(owner) ?? Math.random() * part) + bytes;
    if (ended.size > MOST_OWNERS) ended.clear();
    ended.set(owner, sum > part ? 0 : sum);
    if (sum > part) void engine.write([trimTasks(owner, most, TRIMMED_ROWS)]).catch(() => undefined); // the next end tries again
  };
}

function change(usage: Usage, count: number, bytes: number): Usage {
  usage.count += count;
  usage.bytes += bytes;
  return usage;
}

function toUsage(ofCaller: Usage, total: Usage): KeptUsage {
  return { ofCaller: ofCaller.count, bytesOfCaller: ofCaller.bytes, total: total.count, totalBytes: total.bytes };
}

function usageStatement(owner: string | undefined): Statement {
  const all = `SELECT count(*) AS total, CAST(coalesce(sum(bytes), 0) AS BIGINT) AS bytes
    FROM toolcrib_tasks WHERE state <> 'done'`;
  return owner === undefined ? { sql: all, params: [] } : { sql: `${all} AND owner = ?`, params: [owner] };
}
