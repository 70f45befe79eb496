import { setImmediate } from 'node:timers/promises';
import type { StoredAudit, StoredAuditRow } from '../core/ports/stored-audit.ts';

// Reading the whole audit log may take a minute in a process that also serves calls. The work is done in portions of a few milliseconds, and the event loop runs between them.

export const ROWS_PER_TURN = 250;
/** A signature takes as long as dozens of rows. */
export const SIGNATURES_PER_TURN = 8;
/** Reading is faster than checking, and fewer pages mean fewer round trips. */
const ROWS_PER_PAGE = 1000;

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
