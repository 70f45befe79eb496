import { toPriority } from '../core/extension.ts';
import type { StoreStatus } from '../core/ports/store.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { EXTENSION_ORDER } from '../crib/built-ins.ts';
import { untoldTroubles } from '../crib/catalog/problems.ts';
import type { Chest } from '../crib/chest.ts';
import type { Crib } from '../crib/crib.ts';
import type { SourceReport } from '../crib/sources/source-slot.ts';
import { type Counting, type TokenFormat, tokensByFormat, tokensOf } from '../formats/token-cost.ts';

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
      tokens: await tokensOf(bySource.get(name) ?? [], 'openai', counting),
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

/** One chest for each profile, with the default marked. Without profiles, the default has all tools. */
export async function openProfiles(
  crib: Crib,
): Promise<readonly { readonly chest: Chest; readonly isDefault: boolean }[]> {
  const caller = { id: 'operator' };
  const usual = await crib.open(undefined, caller);
  const names = crib.profiles();
  if (!names.includes(usual.profile)) return [{ chest: usual, isDefault: true }, ...(await openAll(names))];
  return openAll(names);

  function openAll(profiles: readonly string[]) {
    return Promise.all(
      profiles.map(async (name) => ({ chest: await crib.open(name, caller), isDefault: name === usual.profile })),
    );
  }
}
