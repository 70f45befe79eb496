import { setImmediate } from 'node:timers/promises';
import type { Checkpoint, StoredAudit, StoredAuditRow } from '../core/ports/stored-audit.ts';

// Reading the whole audit log may take a minute in a process that also serves calls. The work is done in portions of a few milliseconds, and the event loop runs between them.

export const ROWS_PER_TURN = 250;
/** A signature takes as long as dozens of rows. */
export const SIGNATURES_PER_TURN = 8;
/** Reading is faster than checking, and fewer pages mean fewer round trips. */
export const ROWS_PER_PAGE = 1000;

/** The rows of a chain after `after`, in portions. The event loop runs after each portion. */
export async function* readPortions(
  audit: StoredAudit,
  chain: string,
  after: number,
): AsyncGenerator<readonly StoredAuditRow[], void> {
  for (let from = after, isMore = true; isMore; ) {
    const rows = await audit.rows(chain, from, ROWS_PER_PAGE);
    await setImmediate();
    for (let start = 0; start < rows.length; start += ROWS_PER_TURN) {
      yield rows.slice(start, start + ROWS_PER_TURN);
      await setImmediate();
    }
    from = rows.at(-1)?.number ?? from;
    // A row without a valid number sorts last, so no rows after it can be queried.
    isMore = rows.length === ROWS_PER_PAGE && !Number.isNaN(from);
  }
}

/** Returns a function to call after each piece of work; it yields to the event loop after every `count` calls. */
export function createTurns(count: number): () => Promise<void> | undefined {
  let left = count;
  return () => {
    if (--left > 0) return undefined;
    left = count;
    return setImmediate();
  };
}

/** The checkpoints of one chain, in order, in pages. Yields to the event loop regularly, because checking signatures is slow. */
interface SealCursor {
  /** False if `take` of this row would return nothing. */
  has(count: number): boolean;
  /** The checkpoints of row `count`; all earlier ones must have been taken. */
  take(count: number): Promise<readonly Checkpoint[]>;
  /** The remaining checkpoints. */
  rest(): AsyncIterable<Checkpoint>;
}

/** Creates a cursor over the checkpoints in the database after row `after`, and those outside. */
export function createSealCursor(
  audit: StoredAudit,
  chain: string,
  { after, outside }: { readonly after: number; readonly outside: readonly Checkpoint[] },
): SealCursor {
  let page: readonly Checkpoint[] = [];
  let next = 0;
  let from = after;
  let isLast = false;
  const turn = createTurns(SIGNATURES_PER_TURN);
  const current = async (): Promise<Checkpoint | undefined> => {
    if (next >= page.length && !isLast) {
      page = await audit.checkpoints(chain, from, ROWS_PER_PAGE);
      next = 0;
      isLast = page.length < ROWS_PER_PAGE;
      from = page.at(-1)?.count ?? from;
    }
    return page[next];
  };
  const pass = async (): Promise<void> => {
    next++;
    await turn();
  };
  return {
    has(count) {
      const first = page[next];
      const isAfter = first === undefined ? isLast : first.count > count;
      return !isAfter || outside.some((checkpoint) => checkpoint.count === count);
    },
    async take(count) {
      const taken = outside.filter((checkpoint) => checkpoint.count === count);
      for (let checkpoint = await current(); checkpoint !== undefined; checkpoint = await current()) {
        if (!(checkpoint.count <= count)) break;
        if (checkpoint.count === count) taken.push(checkpoint);
        await pass();
      }
      return taken;
    },
    async *rest() {
      for (let checkpoint = await current(); checkpoint !== undefined; checkpoint = await current()) {
        yield checkpoint;
        await pass();
      }
    },
  };
}
