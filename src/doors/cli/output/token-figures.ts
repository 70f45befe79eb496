import type { ToolSpec } from '../../../core/tool-spec.ts';
import { type Counting, TOKEN_FORMATS, type TokenFormat, tokensOf } from '../../../formats/token-cost.ts';
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

/** What a list of tools costs in every format. */
export async function tokensByFormat(
  specs: readonly ToolSpec[],
  counting: Counting,
): Promise<Readonly<Record<TokenFormat, number>>> {
  const figures: Partial<Record<TokenFormat, number>> = {};
  for (const format of TOKEN_FORMATS) figures[format] = await tokensOf(specs, format, counting);
  return figures as Record<TokenFormat, number>; // every format was visited
}
