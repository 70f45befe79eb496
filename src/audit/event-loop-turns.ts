import { setImmediate } from 'node:timers/promises';
import type { StoredAudit, StoredAuditRow } from '../core/ports/stored-audit.ts';

// A look at the whole record may take a minute, in a process that serves calls. Its work is done in portions of a few
// milliseconds, and the event loop turns between two of them.

export const ROWS_PER_TURN = 250;
/** A signature takes as long as dozens of rows. */
export const SIGNATURES_PER_TURN = 8;
/** Reading takes less time than looking; fewer pages are fewer round trips to a server. */
const ROWS_PER_PAGE = 1000;

/** The rows of a chain from the one after `after`, in portions; the event loop turns after each portion. */
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
    // A row that lost its number sorts behind all others: nothing after it could be asked for.
    isMore = rows.length === ROWS_PER_PAGE && !Number.isNaN(from);
  }
}

/** A function that is called after each piece of work, and lets the event loop turn after every `count` of them. */
export function createTurns(count: number): () => Promise<void> | undefined {
  let left = count;
  return () => {
    if (--left > 0) return undefined;
    left = count;
    return setImmediate();
  };
}
