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
  readonly readAt: number;
  readonly tookMs: number;
  /** The number of endings here at that time. */
  readonly endings: number;
  added: number;
}

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
  noteEnds(ends: readonly Weighed[], bounds?: KeepBounds): void;
}

export function createTaskUsage(engine: SqlEngine): TaskUsage {
  const readings = new Map<string | undefined, Reading>();
  const reading = new Map<string | undefined, Promise<void>>();
  /** Tasks that are being added: a reading may not have seen them. */
  const adding = new Map<string | undefined, Usage>();
  const ended = new Map<string | undefined, number>();
  let endings = 0;
  let lastBounds: KeepBounds | undefined;

  const read = async (owner: string | undefined): Promise<void> => {
    const seen = endings;
    const begun = performance.now();
    const [row = {}] = await engine.read(usageStatement(owner));
    const readAt = performance.now();
    const { count = 0, bytes = 0 } = adding.get(owner) ?? {};
    if (readings.size > MOST_OWNERS) readings.clear();
    readings.set(owner, {
      count: numberOf(row, 'total') + count,
      bytes: numberOf(row, 'bytes') + bytes,
      readAt,
      tookMs: readAt - begun,
      endings: seen,
      added: 0,
    });
  };
  const readOnce = async (owner: string | undefined): Promise<void> => {
    if (!reading.has(owner))
      reading.set(
        owner,
        read(owner).finally(() => reading.delete(owner)),
      );
    await reading.get(owner);
  };
  const usable = (owner: string | undefined): Reading | undefined => {
    const known = readings.get(owner);
    if (known === undefined || known.added >= FRESH_TASKS) return undefined;
    return performance.now() - known.readAt < Math.max(FRESH_MS, REST * known.tookMs) ? known : undefined;
  };
  const isExact = (known: Reading): boolean =>
    known.endings === endings && performance.now() - known.readAt < REFUSAL_MS;
  const both = async (owner: string): Promise<readonly [Reading, Reading]> => {
    for (;;) {
      const [ofCaller, total] = [usable(owner), usable(undefined)];
      if (ofCaller !== undefined && total !== undefined) return [ofCaller, total];
      await Promise.all([ofCaller ?? readOnce(owner), total ?? readOnce(undefined)]);
    }
  };
  const admit = async ({ owner, bytes }: Weighed, bounds: KeepBounds): Promise<KeepBound | undefined> => {
    for (let isRead = false; ; isRead = true) {
      const [ofCaller, total] = await both(owner);
      const broken = brokenBound(toUsage(ofCaller, total), bytes, bounds);
      if (broken === undefined) {
        for (const one of [ofCaller, total]) {
          change(one, 1, bytes);
          one.added++;
        }
        return undefined;
      }
      if (isRead || (isExact(ofCaller) && isExact(total))) return broken;
      await Promise.all([readOnce(owner), readOnce(undefined)]);
    }
  };
  const trim = (owner: string | undefined, bytes: number, most: number): void => {
    const part = most / PART;
    // A random start, so that processes that end soon take their turn, too.
    const sum = (ended.get(owner) ?? Math.random() * part) + bytes;
    if (ended.size > MOST_OWNERS) ended.clear();
    ended.set(owner, sum > part ? 0 : sum);
    if (sum > part) void engine.write([trimTasks(owner, most, TRIMMED_ROWS)]).catch(() => undefined); // the next end tries again
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
      endings++;
      if (bounds === undefined) return;
      for (const { owner, bytes } of ends) {
        trim(owner, bytes, bounds.maxBytesPerCaller);
        trim(undefined, bytes, bounds.maxTotalBytes);
      }
    },
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
