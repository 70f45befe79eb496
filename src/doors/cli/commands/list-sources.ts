import type { Crib } from '../../../crib/crib.ts';
import { findServer } from '../../../crib/running-server.ts';
import { type Counting, tokensOf } from '../../../formats/token-cost.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { type Flags, findConfig } from '../flags.ts';
import { withCrib } from '../open-crib.ts';
import { note, printJson } from '../output.ts';
import { countingOf, figures, flexible, printTable, tokenText, USUAL_FORMAT } from '../table.ts';

/** `toolcrib sources`: where tools come from, how each source is doing and what its tools cost. */
export function listSources({ flags }: Invocation): Promise<ExitCode> {
  const counting = countingOf(flags);
  return withCrib(flags, async (crib) => {
    const sources = await describeSources(crib, counting, await staleSources(crib, flags));
    if (flags.json === true) printJson({ sources, tokensExact: counting === 'exact' });
    else if (sources.length === 0) note('No sources.');
    else printSources(sources, counting);
    return 0;
  });
}

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

/** A source whose edited entry a running server does not use. */
export interface StaleSource {
  readonly name: string;
  readonly reason: string;
  /** ISO 8601. */
  readonly since: string;
}

const ANSWER_WITHIN_MS = 2000;

/** What a running server of the same configuration says is stale. Without one, or if it does not say, nothing. */
export async function staleSources(crib: Crib, { config }: Pick<Flags, 'config'>): Promise<readonly StaleSource[]> {
  const url = await findServer(config ?? findConfig(process.cwd()) ?? process.cwd());
  if (url === undefined) return [];
  try {
    const response = await fetch(`${url}/api/sources`, {
      headers: { authorization: `Bearer ${await crib.server.operatorToken()}` },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      redirect: 'error',
    });
    const answer: unknown = response.ok ? await response.json() : undefined;
    const sources = (answer as { readonly sources?: unknown } | undefined)?.sources; // anybody may listen there
    return Array.isArray(sources) ? sources.filter(isStale) : [];
  } catch {
    return []; // it has ended since
  }
}

function isStale(source: unknown): source is StaleSource {
  if (typeof source !== 'object' || source === null || !('since' in source) || !('name' in source)) return false;
  const { reason } = source as { readonly reason?: unknown }; // an object, by the line above
  return typeof source.since === 'string' && typeof source.name === 'string' && typeof reason === 'string';
}
