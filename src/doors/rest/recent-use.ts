import type { ToolUse } from '../../core/ports/audit-report.ts';
import type { Crib } from '../../crib/crib.ts';

/** The calls of one tool or caller. */
type Use = Pick<ToolUse, 'calls' | 'failed' | 'lastAt'>;

/** The use of tools by callers in the last 30 days. */
export interface RecentUse {
  byTool(): Promise<ReadonlyMap<string, Use>>;
  byCaller(): Promise<ReadonlyMap<string, Use>>;
}

/** The days that use is counted for. */
export const USE_DAYS = 30;
const DAY_MS = 86_400_000;
const LEAST_MS = 1000;
/** Counting takes at most this share of the time. */
const SHARE = 1 / 20;

/** Counts use from the audit log and caches it for a second, or longer if counting takes long. Empty while the store is not available. */
export function createRecentUse(crib: Pick<Crib, 'calls'>): RecentUse {
  let held: { readonly rows: Promise<readonly ToolUse[]>; until: number } | undefined;
  const read = (): Promise<readonly ToolUse[]> => {
    const begin = performance.now();
    if (held !== undefined && begin < held.until) return held.rows;
    const reading = { rows: count(crib), until: Number.POSITIVE_INFINITY };
    held = reading;
    void reading.rows.finally(() => {
      const end = performance.now();
      reading.until = end + Math.max(LEAST_MS, (end - begin) / SHARE);
    });
    return reading.rows;
  };
  return {
    byTool: async () => summed(await read(), ({ tool }) => tool),
    byCaller: async () => summed(await read(), ({ caller }) => caller),
  };
}

async function count({ calls }: Pick<Crib, 'calls'>): Promise<readonly ToolUse[]> {
  return calls.use(Date.now() - USE_DAYS * DAY_MS).catch(() => []);
}

function summed(rows: readonly ToolUse[], keyOf: (row: ToolUse) => string): ReadonlyMap<string, Use> {
  const sums = new Map<string, Use>();
  for (const row of rows) {
    const { calls = 0, failed = 0, lastAt = 0 } = sums.get(keyOf(row)) ?? {};
    sums.set(keyOf(row), {
      calls: calls + row.calls,
      failed: failed + row.failed,
      lastAt: Math.max(lastAt, row.lastAt),
    });
  }
  return sums;
}
