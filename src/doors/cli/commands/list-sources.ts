import { isRecord } from '../../../core/json.ts';
import type { Crib } from '../../../crib/crib.ts';
import { findServer } from '../../../crib/running-server.ts';
import type { SourceReport } from '../../../crib/sources/source-slot.ts';
import { type Counting, tokensOf } from '../../../formats/token-cost.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, findConfig } from '../flags.ts';
import { withCrib } from '../open-crib.ts';
import { note, printJson, toLine, withProgress } from '../output.ts';
import { countingOf, figures, printTable, tokenText, USUAL_FORMAT } from '../table.ts';
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

/** A source as commands show it. */
interface DescribedSource extends Omit<SourceReport, 'since'> {
  readonly since?: string;
  readonly tokens: number;
}

/** The state and token cost of every source; "code" only if it has tools. The state in a running server takes precedence. */
export async function describeSources(
  crib: Crib,
  counting: Counting,
  running: readonly RunningSource[] = [],
): Promise<readonly DescribedSource[]> {
  const reports = crib.sources().filter(({ name, toolCount }) => name !== 'code' || toolCount > 0);
  const bySource = Map.groupBy(crib.catalog.specs, (spec) => spec.source);
  const described = await Promise.all(
    reports.map(async ({ name, state, reason, toolCount, runsOn }) => ({
      name,
      state,
      ...(reason !== undefined && { reason }),
      ...(runsOn !== undefined && { runsOn }),
      ...running.filter((source) => source.name === name).map(runningFields)[0],
      toolCount,
      tokens: await tokensOf(bySource.get(name) ?? [], USUAL_FORMAT, counting),
    })),
  );
  const unread = running.filter(({ name }) => !reports.some((report) => report.name === name)); // the entry of the source cannot be read
  const absent = unread.map((source) => ({ name: source.name, ...runningFields(source), toolCount: 0, tokens: 0 }));
  return [...described, ...absent];
}

function runningFields({ state, reason, since }: RunningSource): Pick<RunningSource, 'state' | 'reason' | 'since'> {
  const said = `In the running server: ${reason}`;
  return since === undefined ? { state, reason: said } : { state: 'stale', reason: said, since };
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

/** A source that has a problem in a running server. */
export interface RunningSource {
  readonly name: string;
  readonly state: SourceReport['state'];
  readonly reason: string;
  /** Time of the edit that the server does not use; ISO 8601. */
  readonly since?: string;
}

/** A source whose edited entry a running server does not use. */
export type StaleSource = RunningSource & { readonly since: string };

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
