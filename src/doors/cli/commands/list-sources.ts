import { isRecord } from '../../../core/json.ts';
import type { Crib } from '../../../crib/crib.ts';
import { findServer } from '../../../crib/running-server.ts';
import type { SourceReport } from '../../../crib/sources/source-slot.ts';
import { type Counting, tokensOf } from '../../../formats/token-cost.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { type Flags, findConfig } from '../flags.ts';
import { withCrib } from '../open-crib.ts';
import { note, printJson, toLine, withProgress } from '../output.ts';
import { countingOf, figures, printTable, tokenText, USUAL_FORMAT } from '../table.ts';

/** `toolcrib sources`: where tools come from, how each source is doing and what its tools cost. */
export function listSources({ flags }: Invocation): Promise<ExitCode> {
  process.removeAllListeners('warning'); // what is wrong with a source stands beside it
  const counting = countingOf(flags);
  return withCrib(flags, async (crib) => {
    await withProgress('Asking sources', crib.reload()); // what is known of a server from before does not say whether it is there
    const sources = await describeSources(crib, counting, await troubledSources(crib, flags));
    if (flags.json === true) printJson({ sources, tokensExact: counting === 'exact' });
    else if (sources.length === 0) note('No sources.');
    else printSources(sources, counting);
    return 0;
  });
}

/** How every source is doing and what its tools cost; that of tools in code only if there are some. What a running server says of a source counts more. */
export async function describeSources(crib: Crib, counting: Counting, running: readonly RunningSource[] = []) {
  const reports = crib.sources().filter(({ name, toolCount }) => name !== 'code' || toolCount > 0);
  const bySource = Map.groupBy(crib.catalog.specs, (spec) => spec.source);
  const described = await Promise.all(
    reports.map(async ({ name, state, reason, toolCount }) => ({
      name,
      state,
      ...(reason !== undefined && { reason }),
      ...running.filter((source) => source.name === name).map(runningFields)[0],
      toolCount,
      tokens: await tokensOf(bySource.get(name) ?? [], USUAL_FORMAT, counting),
    })),
  );
  const unread = running.filter(({ name }) => !reports.some((report) => report.name === name)); // its entry cannot be read
  const absent = unread.map((source) => ({ name: source.name, ...runningFields(source), toolCount: 0, tokens: 0 }));
  return [...described, ...absent];
}

function runningFields({ state, reason, since }: RunningSource): Pick<RunningSource, 'state' | 'reason' | 'since'> {
  const said = `In the server that runs: ${reason}`;
  return since === undefined ? { state, reason: said } : { state: 'stale', reason: said, since };
}

/** The same as a table. */
export function printSources(sources: Awaited<ReturnType<typeof describeSources>>, counting: Counting): void {
  printTable(
    ['NAME', 'STATE', figures('TOOLS'), figures('TOKENS'), { heading: 'REASON', isWhole: true }],
    sources.map(({ name, state, reason = '', since, toolCount, tokens }) => [
      name,
      state,
      String(toolCount),
      tokenText(tokens, counting),
      toLine(since === undefined ? reason : `since ${since}: ${reason}`),
    ]),
  );
}

/** A source of which a running server says what is wrong. */
export interface RunningSource {
  readonly name: string;
  readonly state: SourceReport['state'];
  readonly reason: string;
  /** Since when the server does not use the edited entry; ISO 8601. */
  readonly since?: string;
}

/** A source whose edited entry a running server does not use. */
export type StaleSource = RunningSource & { readonly since: string };

const ANSWER_WITHIN_MS = 2000;

/** The sources of which a running server of the same configuration says what is wrong. Without a server, or if it does not answer, none. */
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
    const sources = (answer as { readonly sources?: unknown } | undefined)?.sources; // anybody may listen there
    return Array.isArray(sources) ? sources.filter(isTroubled) : [];
  } catch {
    return []; // it has ended since
  }
}

/** Those of them whose edited entry it does not use. */
export async function staleSources(crib: Crib, flags: Pick<Flags, 'config'>): Promise<readonly StaleSource[]> {
  return (await troubledSources(crib, flags)).filter((source): source is StaleSource => source.since !== undefined);
}

const TROUBLED: readonly unknown[] = ['down', 'failed', 'stale'];

function isTroubled(source: unknown): source is RunningSource {
  if (!isRecord(source) || typeof source.name !== 'string' || typeof source.reason !== 'string') return false;
  return typeof source.since === 'string' || (source.since === undefined && TROUBLED.includes(source.state));
}
