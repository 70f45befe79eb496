import type { Crib } from '../../crib/crib.ts';
import { type Counting, tokensOf } from '../../crib/token-cost.ts';
import { printTable } from './table.ts';
import { tokenText, USUAL_FORMAT } from './token-figures.ts';

/** How every source is doing and what its tools cost; that of tools in code only if there are some. */
export async function describeSources(crib: Crib, counting: Counting) {
  const reports = crib.sources().filter(({ name, toolCount }) => name !== 'code' || toolCount > 0);
  const bySource = Map.groupBy(crib.catalog.specs, (spec) => spec.source);
  return Promise.all(
    reports.map(async ({ name, state, reason, toolCount }) => ({
      name,
      state,
      ...(reason !== undefined && { reason }),
      toolCount,
      tokens: await tokensOf(bySource.get(name) ?? [], USUAL_FORMAT, counting),
    })),
  );
}

/** The same as a table. */
export function printSources(sources: Awaited<ReturnType<typeof describeSources>>, counting: Counting): void {
  printTable(
    [
      { heading: 'NAME' },
      { heading: 'STATE' },
      { heading: 'TOOLS', align: 'right' },
      { heading: 'TOKENS', align: 'right' },
      { heading: 'REASON', flexible: true },
    ],
    sources.map(({ name, state, reason, toolCount, tokens }) => [
      name,
      state,
      String(toolCount),
      tokenText(tokens, counting),
      reason ?? '',
    ]),
  );
}
