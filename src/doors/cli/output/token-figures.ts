import type { Counting, TokenFormat } from '../../../formats/token-cost.ts';
import type { Flags } from '../arguments/flags.ts';

/** The format whose cost stands where there is room for one figure. */
export const USUAL_FORMAT: TokenFormat = 'openai';

/** Listings estimate, since counting would take longer than everything else together; `--tokens` counts. */
export function countingOf({ tokens }: Flags): Counting {
  return tokens === true ? 'exact' : 'estimate';
}

/** A figure as a table shows it: an estimate is marked. */
export function tokenText(count: number, counting: Counting): string {
  return counting === 'exact' ? String(count) : `~${count}`;
}
