import { toPriority } from '../../../core/extension.ts';
import type { StoreStatus } from '../../../core/ports/store.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import type { ToolSpec } from '../../../core/tool-spec.ts';
import type { Crib } from '../../../crib/crib.ts';
import { EXTENSION_ORDER } from '../../../crib/extensions/built-ins.ts';
import { type Counting, type TokenFormat, tokensByFormat } from '../../../formats/token-cost.ts';
import { openProfiles } from '../profile-chests.ts';
import type { StaleSource } from '../running-sources.ts';
import { describeSources } from './describe-sources.ts';

/** What `check` finds out; the JSON of `check --json`. */
export interface CheckReport {
  /** Nothing is wrong: no source failed and nothing is reported. */
  readonly ok: boolean;
  readonly configuration: { readonly ok: boolean; readonly message?: string };
  readonly sources: Awaited<ReturnType<typeof describeSources>>;
  readonly store?: StoreStatus;
  /** From the outermost to the innermost. */
  readonly extensions: readonly { readonly name: string; readonly priority: number; readonly reason: string }[];
  /** Built-in guards that the configuration turned off. */
  readonly guardsOff: readonly string[];
  /** Names that two sources claim. */
  readonly conflicts: readonly string[];
  /** Selectors that match nothing, requirements nobody meets, entries that were left out, tools that cannot run here. */
  readonly problems: readonly string[];
  /** What works, and otherwise than the owner may think: commands that run without a sandbox. */
  readonly notes: readonly string[];
  readonly profiles: readonly {
    readonly name: string;
    readonly default: boolean;
    readonly toolCount: number;
    readonly tokens: Readonly<Record<TokenFormat, number>>;
  }[];
  readonly tokensExact: boolean;
}

/** Counting more than these takes too long to wait for. */
const MANY_TOOLS = 2000;

/** Looks at everything a crib says about itself, and at what a running server has not taken yet. */
export async function reportOn(crib: Crib, stale: readonly StaleSource[] = []): Promise<CheckReport> {
  const counting: Counting = crib.catalog.specs.length > MANY_TOOLS ? 'estimate' : 'exact';
  const sources = await describeSources(crib, counting, stale);
  const { store, storeProblems } = await lookAtStore(crib);
  const conflicts = crib.catalog.held.map(({ message }) => message);
  const review = await crib.review();
  const found = [
    ...otherWarnings(crib, conflicts),
    ...crib.server.stateWarnings(),
    ...storeProblems,
    ...review.problems,
  ];
  const problems = [...new Set(found)];
  const isUp = sources.every(({ state }) => state === 'ready');
  return {
    ok: isUp && conflicts.length === 0 && problems.length === 0,
    configuration: { ok: true },
    sources,
    ...(store !== undefined && { store }),
    extensions: describeExtensions(crib),
    guardsOff: guardsOff(crib),
    conflicts,
    problems,
    notes: review.notes,
    profiles: await Promise.all(
      (await openProfiles(crib)).map(async ({ chest, isDefault }) => describeProfile(chest, isDefault, counting)),
    ),
    tokensExact: counting === 'exact',
  };
}

/** What can be said about a configuration that cannot be used. */
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

async function lookAtStore(
  crib: Crib,
): Promise<{ readonly store?: StoreStatus; readonly storeProblems: readonly string[] }> {
  try {
    const store = await crib.store?.status();
    return store === undefined
      ? { storeProblems: [] }
      : { store, storeProblems: store.problem === undefined ? await crib.keys.problems() : [store.problem] };
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return { storeProblems: [cause.message] }; // it could not even be opened
  }
}

// A source that failed is told with the sources, a name that was held back with the conflicts.
function otherWarnings(crib: Crib, conflicts: readonly string[]): readonly string[] {
  const ofSources = crib.sources().map(({ name }) => `Source "${name}": `);
  return crib
    .warnings()
    .filter((warning) => !conflicts.includes(warning) && !ofSources.some((begin) => warning.startsWith(begin)));
}

function describeExtensions(crib: Crib): CheckReport['extensions'] {
  return crib.extensions.list().map(({ name, priority }) => ({
    name,
    priority: toPriority(priority),
    reason: EXTENSION_ORDER.find((row) => row.name === name)?.reason ?? 'yours',
  }));
}

function guardsOff(crib: Crib): readonly string[] {
  const on = crib.extensions.list().map(({ name }) => name);
  return EXTENSION_ORDER.filter(({ name, isOptional }) => isOptional !== true && !on.includes(name)).map(
    ({ name }) => name,
  );
}
