import { isRecord } from '../../../core/json.ts';
import type { Crib } from '../../../crib/crib.ts';
import { findServer } from '../../../crib/running-server.ts';
import type { Counting } from '../../../formats/token-cost.ts';
import { describeSources, type RunningSource, type StaleSource } from '../../check-report.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, findConfig } from '../flags.ts';
import { withCrib } from '../open-crib.ts';
import { note, printJson, toLine, withProgress } from '../output.ts';
import { countingOf, figures, printTable, tokenText } from '../table.ts';
import { noteStops } from './stop-calls.ts';

/** Connects the sources that have started; one that is still starting says so itself. */
async function askStarted(crib: Crib): Promise<void> {
  const started = crib.sources().filter(({ state }) => state !== 'starting');
  await Promise.all(started.map(({ name }) => crib.server.reloadSource(name)));
}

/** `toolcrib sources`: lists the sources, their state and their token cost. */
export function listSources({ flags }: Invocation): Promise<ExitCode> {
  process.removeAllListeners('warning'); // the table contains the reason of each failure
  const counting = countingOf(flags);
  return withCrib(flags, async (crib) => {
    await withProgress('Asking sources', askStarted(crib)); // a cached list does not show whether its server is reachable
    const sources = await describeSources(crib, counting, await troubledSources(crib, flags));
    if (flags.json === true) printJson({ sources, tokensExact: counting === 'exact' });
    else if (sources.length === 0) note('No sources found.');
    else printSources(sources, counting);
    await noteStops(crib);
    return 0;
  });
}

/** Prints the sources as a table. */
export function printSources(sources: Awaited<ReturnType<typeof describeSources>>, counting: Counting): void {
  const isAnyAway = sources.some(({ runsOn }) => runsOn !== undefined);
  const place = isAnyAway ? ['RUNS ON'] : [];
  printTable(
    ['NAME', 'STATE', ...place, figures('TOOLS'), figures('TOKENS'), { heading: 'REASON', isWhole: true }],
    sources.map(({ name, state, reason = '', since, runsOn, toolCount, tokens }) => [
      name,
      state,
      ...(isAnyAway ? [runsOn === undefined ? 'every process' : 'workers'] : []),
      String(toolCount),
      tokenText(tokens, counting),
      toLine(since === undefined ? reason : `since ${since}: ${reason}`),
    ]),
  );
}

const ANSWER_WITHIN_MS = 2000;

/** Sources with problems in a running server of the same configuration; none if no server runs or answers. */
async function troubledSources(crib: Crib, { config }: Pick<Flags, 'config'>): Promise<readonly RunningSource[]> {
  const url = await findServer(config ?? findConfig(process.cwd()) ?? process.cwd());
  if (url === undefined) return [];
  try {
    const response = await fetch(`${url}/api/sources`, {
      headers: { authorization: `Bearer ${await crib.server.operatorToken()}` },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      redirect: 'error',
    });
    const answer: unknown = response.ok ? await response.json() : undefined;
    const sources = (answer as { readonly sources?: unknown } | undefined)?.sources; // untrusted: any program may listen at this address
    return Array.isArray(sources) ? sources.filter(isTroubled) : [];
  } catch {
    return []; // the server has ended since
  }
}

/** Sources whose edited entry a running server does not use. */
export async function staleSources(crib: Crib, flags: Pick<Flags, 'config'>): Promise<readonly StaleSource[]> {
  return (await troubledSources(crib, flags)).filter((source): source is StaleSource => source.since !== undefined);
}

const TROUBLED: readonly unknown[] = ['down', 'failed', 'stale'];

function isTroubled(source: unknown): source is RunningSource {
  if (!isRecord(source) || typeof source.name !== 'string' || typeof source.reason !== 'string') return false;
  return typeof source.since === 'string' || (source.since === undefined && TROUBLED.includes(source.state));
}
