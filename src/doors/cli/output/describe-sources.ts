import type { Crib } from '../../../crib/crib.ts';
import { type Counting, tokensOf } from '../../../formats/token-cost.ts';
import type { StaleSource } from '../running-sources.ts';
import { figures, flexible, printTable } from './table.ts';
import { tokenText, USUAL_FORMAT } from './token-figures.ts';

/** How every source is doing and what its tools cost; that of tools in code only if there are some. What a running server has not taken yet is stale. */
export async function describeSources(crib: Crib, counting: Counting, stale: readonly StaleSource[] = []) {
  const reports = crib.sources().filter(({ name, toolCount }) => name !== 'code' || toolCount > 0);
  const bySource = Map.groupBy(crib.catalog.specs, (spec) => spec.source);
  const described = await Promise.all(
    reports.map(async ({ name, state, reason, toolCount }) => ({
      name,
      state,
      ...(reason !== undefined && { reason }),
      ...stale.filter((source) => source.name === name).map(staleFields)[0],
      toolCount,
      tokens: await tokensOf(bySource.get(name) ?? [], USUAL_FORMAT, counting),
    })),
  );
  const unread = stale.filter(({ name }) => !reports.some((report) => report.name === name)); // its entry cannot be read
  const absent = unread.map((source) => ({ name: source.name, ...staleFields(source), toolCount: 0, tokens: 0 }));
  return [...described, ...absent];
}

function staleFields({ reason, since }: StaleSource) {
  return { state: 'stale' as const, reason: `In the server that runs: ${reason}`, since };
}

/** The same as a table. */
export function printSources(sources: Awaited<ReturnType<typeof describeSources>>, counting: Counting): void {
  printTable(
    ['NAME', 'STATE', figures('TOOLS'), figures('TOKENS'), flexible('REASON')],
    sources.map(({ name, state, reason = '', since, toolCount, tokens }) => [
      name,
      state,
      String(toolCount),
      tokenText(tokens, counting),
      since === undefined ? reason : `since ${since}: ${reason}`,
    ]),
  );
}
