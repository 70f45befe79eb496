import { toPriority } from '../../../core/extension.ts';
import type { StoreStatus } from '../../../core/ports/store.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import type { ToolSpec } from '../../../core/tool-spec.ts';
import { EXTENSION_ORDER } from '../../../crib/built-ins.ts';
import { untoldTroubles } from '../../../crib/catalog/problems.ts';
import type { Crib } from '../../../crib/crib.ts';
import { type Counting, TOKEN_FORMATS, type TokenFormat, tokensByFormat } from '../../../formats/token-cost.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { describeStarting, openProfiles, withCrib } from '../open-crib.ts';
import { counted, note, paint, print, printJson, reportFailure, toLine, withProgress } from '../output.ts';
import { figures, flexible, printTable, tokenText } from '../table.ts';
import { describeSources, printSources, type StaleSource, staleSources } from './list-sources.ts';
import { noteStops } from './stop-calls.ts';

/** `toolcrib check`: exit code 0 without problems, 1 with problems, 2 if the configuration cannot be used. */
export async function checkCrib({ flags }: Invocation): Promise<ExitCode> {
  process.removeAllListeners('warning'); // the report contains all of them
  try {
    return await withCrib(flags, async (crib) => {
      await withProgress(() => `Asking sources ${describeStarting(crib)}`, askAll(crib));
      const report = await reportOn(crib, await staleSources(crib, flags));
      if (flags.json === true) printJson(report);
      else printReport(report);
      await noteStops(crib);
      return report.ok ? 0 : 1;
    });
  } catch (cause) {
    if (flags.json === true && cause instanceof ToolcribError) printJson(reportUnusable(cause.message));
    return reportFailure(cause);
  }
}

/** Asks every source again: a cached list does not show whether its server is reachable. */
async function askAll(crib: Crib): Promise<void> {
  await crib.server.allListed();
  await crib.reload();
}

function printReport(report: CheckReport): void {
  const counting: Counting = report.tokensExact ? 'exact' : 'estimate';
  print(`${paint('bold', 'Configuration')}  ${report.ok ? 'ok' : countProblems(report)}`);
  if (report.store !== undefined) printStore(report.store);
  // The reasons are listed under Problems, where no text is cut.
  const sources = report.sources.map(({ reason, ...source }) =>
    reason === undefined ? source : { ...source, reason: 'see Problems' },
  );
  if (sources.length > 0) section('Sources', () => printSources(sources, counting));
  section('Extensions, outermost first', () =>
    printTable(
      [figures('PRIORITY'), 'NAME', flexible('REASON')],
      report.extensions.map(({ priority, name, reason }) => [String(priority), name, reason]),
    ),
  );
  section('Token cost of the tools that each profile shows at first', () =>
    printTable(
      ['PROFILE', figures('TOOLS'), ...TOKEN_FORMATS.map((format) => figures(format.toUpperCase()))],
      report.profiles.map(({ name, toolCount, tokens, ...profile }) => [
        profile.default ? `${name} (default)` : name,
        String(toolCount),
        ...TOKEN_FORMATS.map((format) => tokenText(tokens[format], counting)),
      ]),
    ),
  );
  printSentences('Disabled guards', report.guardsOff);
  printSentences('Name conflicts', report.conflicts);
  printSentences('Notes', report.notes);
  printSentences('Problems', report.problems);
  note(
    report.ok
      ? paint('green', 'No problems found.', process.stderr)
      : paint('yellow', `${countProblems(report)}: ${whereProblems(report)}.`, process.stderr),
  );
}

function countProblems({ conflicts, problems }: CheckReport): string {
  return `${counted(conflicts.length + problems.length, 'problem')} found`;
}

/** The sections that list the problems, and the sources that are not ready. */
function whereProblems({ conflicts, problems, sources }: CheckReport): string {
  const failing = sources.filter(({ state }) => state !== 'ready').map(({ name }) => toLine(name));
  return [
    ...(conflicts.length > 0 ? [`${conflicts.length} under Name conflicts`] : []),
    ...(problems.length > 0 ? [`${problems.length} under Problems`] : []),
    ...(failing.length > 0 ? [`not ready: ${failing.join(', ')}`] : []),
  ].join('; ');
}

function printStore({ engine, location, warnings }: NonNullable<CheckReport['store']>): void {
  print(`${paint('bold', 'Store')}          ${engine}, ${toLine(location)}`);
  for (const warning of warnings) print(`               ${toLine(warning)}`);
}

function section(title: string, printBody: () => void): void {
  print(`\n${paint('bold', title)}`);
  printBody();
}

function printSentences(title: string, sentences: readonly string[]): void {
  if (sentences.length === 0) return;
  section(title, () => {
    for (const sentence of sentences) print(`  ${toLine(sentence)}`);
  });
}

/** The findings of `check`; the JSON of `check --json`. */
export interface CheckReport {
  /** True without conflicts and problems. */
  readonly ok: boolean;
  readonly configuration: { readonly ok: boolean; readonly message?: string };
  readonly sources: Awaited<ReturnType<typeof describeSources>>;
  readonly store?: StoreStatus;
  /** From the outermost to the innermost. */
  readonly extensions: readonly { readonly name: string; readonly priority: number; readonly reason: string }[];
  /** Built-in guards that the configuration disables. */
  readonly guardsOff: readonly string[];
  /** Tool names that two sources claim. */
  readonly conflicts: readonly string[];
  /** Invalid entries, sources that are not ready, selectors without a match, unmet requirements, tools that cannot run here. */
  readonly problems: readonly string[];
  /** Things that work, but maybe not as the operator expects: commands without a sandbox, and how pasted servers were read. */
  readonly notes: readonly string[];
  readonly profiles: readonly {
    readonly name: string;
    readonly default: boolean;
    readonly toolCount: number;
    readonly tokens: Readonly<Record<TokenFormat, number>>;
  }[];
  readonly tokensExact: boolean;
}

/** Above this number of tools, tokens are estimated: counting takes too long. */
const MANY_TOOLS = 2000;

/** Collects the state of a crib, and the sources whose edited entries a running server does not use yet. */
export async function reportOn(crib: Crib, stale: readonly StaleSource[] = []): Promise<CheckReport> {
  const counting: Counting = crib.catalog.specs.length > MANY_TOOLS ? 'estimate' : 'exact';
  const sources = await describeSources(crib, counting, stale);
  const { store, storeProblems, storeNotes = [] } = await lookAtStore(crib);
  const conflicts = crib.catalog.held.map(({ message }) => message);
  const warnings = crib.warnings().filter((warning) => !conflicts.includes(warning));
  const mistakes = crib.server.mistakes();
  const review = await crib.review();
  const found = [
    ...mistakes,
    ...warnings,
    ...untoldTroubles(
      sources.filter(({ state }) => state !== 'ready'),
      warnings,
    ),
    ...crib.server.stateWarnings(),
    ...storeProblems,
    ...review.problems,
  ];
  const problems = [...new Set(found)];
  return {
    ok: conflicts.length === 0 && problems.length === 0,
    configuration: mistakes.length === 0 ? { ok: true } : { ok: false, message: mistakes.join('\n') },
    sources,
    ...(store !== undefined && { store }),
    extensions: describeExtensions(crib),
    guardsOff: guardsOff(crib),
    conflicts,
    problems,
    notes: [...review.notes, ...crib.server.readings(), ...storeNotes],
    profiles: await Promise.all(
      (await openProfiles(crib)).map(async ({ chest, isDefault }) => describeProfile(chest, isDefault, counting)),
    ),
    tokensExact: counting === 'exact',
  };
}

/** The report for a configuration that cannot be used. */
export function reportUnusable(message: string): CheckReport {
  return {
    ok: false,
    configuration: { ok: false, message },
    sources: [],
    extensions: [],
    guardsOff: [],
    conflicts: [],
    problems: [],
    notes: [],
    profiles: [],
    tokensExact: true,
  };
}

async function describeProfile(
  chest: { readonly profile: string; list(): readonly ToolSpec[] },
  isDefault: boolean,
  counting: Counting,
): Promise<CheckReport['profiles'][number]> {
  const specs = chest.list();
  const tokens = await tokensByFormat(specs, counting);
  return { name: chest.profile, default: isDefault, toolCount: specs.length, tokens };
}

/** The store, and problems and notes about what it holds. */
interface StoreReview {
  readonly store?: StoreStatus;
  readonly storeProblems: readonly string[];
  readonly storeNotes?: readonly string[];
}

async function lookAtStore(crib: Crib): Promise<StoreReview> {
  try {
    const store = await crib.store?.status();
    if (store === undefined) return { storeProblems: [] };
    if (store.problem !== undefined) return { store, storeProblems: [store.problem] };
    const { problems, notes } = await crib.schedules.review();
    return { store, storeProblems: [...(await crib.keys.problems()), ...problems], storeNotes: notes };
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return { storeProblems: [cause.message] }; // the store could not be opened
  }
}

function describeExtensions(crib: Crib): CheckReport['extensions'] {
  return crib.extensions.list().map(({ name, priority }) => ({
    name,
    priority: toPriority(priority),
    reason: EXTENSION_ORDER.find((row) => row.name === name)?.reason ?? 'your own extension',
  }));
}

function guardsOff(crib: Crib): readonly string[] {
  const on = crib.extensions.list().map(({ name }) => name);
  return EXTENSION_ORDER.filter(({ name, isOptional }) => isOptional !== true && !on.includes(name)).map(
    ({ name }) => name,
  );
}
