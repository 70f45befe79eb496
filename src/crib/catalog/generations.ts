import { type AccessClause, admits } from '../../core/access-clause.ts';
import { type Bundle, type Bundles, type ResolvedBundle, resolveBundles, whyNot } from '../../core/bundle.ts';
import {
  type Catalog,
  type Changes,
  compareCatalogs,
  type Generation,
  type ProfileSet,
  resolve,
  type SourceList,
} from '../../core/catalog.ts';
import type { Policy } from '../../core/policy.ts';
import type { Profile } from '../../core/profile.ts';
import { describe } from '../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import type { Surroundings, ToolSpec, When } from '../../core/tool-spec.ts';
import { type View, view, viewClauses } from '../../core/view.ts';
import { listOf } from '../../core/visible-text.ts';

/** The current generation. A change marks it as outdated; the next one is built on the next read, or at once if there are listeners. */
export interface Generations {
  current(): Generation;
  markOld(): void;
  onChange(listener: (changes: Changes) => void): () => void;
  /** Calls `listener` for each new generation, even if its tools are the same, as profiles and bundles may have changed. */
  onNext(listener: () => void): () => void;
}

export function createGenerations(build: () => Generation, warn: (message: string) => void): Generations {
  let generation = build();
  let isOld = false;
  let isJudging = false;
  const listeners = new Set<(changes: Changes) => void>();
  const followers = new Set<() => void>();

  /** A predicate may use the crib itself; it sees the previous generation. */
  const judged = <T>(work: () => T): T => {
    isJudging = true;
    try {
      return work();
    } finally {
      isJudging = false;
    }
  };
  const current = (): Generation => {
    if (isJudging) return generation;
    if (!isOld && (generation.isOutdated === undefined || !judged(generation.isOutdated))) return generation;
    isOld = false;
    const before = generation;
    generation = judged(build);
    if (listeners.size > 0) announce(compareCatalogs(before.catalog, generation.catalog));
    for (const follower of followers) follower();
    return generation;
  };

  const announce = (changes: Changes): void => {
    if (changes.added.length + changes.removed.length + changes.changed.length === 0) return;
    for (const listener of listeners) {
      try {
        listener(changes);
      } catch (cause) {
        warn(`A listener of onChange failed: ${messageOf(cause)}`);
      }
    }
  };

  return {
    current,
    markOld() {
      if (isOld) return;
      isOld = true;
      if (listeners.size + followers.size > 0) queueMicrotask(current); // several changes in a row are combined
    },
    onChange(listener) {
      if (typeof listener !== 'function')
        throw new ToolcribError('invalid_option', `onChange() needs a function, got ${describe(listener)}.`);
      current(); // excludes earlier changes, and clears the outdated mark, without which the next change would not be announced
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onNext(listener) {
      current(); // as above
      followers.add(listener);
      return () => followers.delete(listener);
    },
  };
}

export interface GenerationParts {
  /** In configuration order. */
  readonly lists: readonly SourceList[];
  readonly bundles: readonly Bundle[];
  readonly surroundings: Surroundings;
  readonly policyDefaults: Policy;
  readonly isTrusted: (source: string) => boolean;
  readonly profiles: ProfileSet;
}

/** Builds a generation: resolves names, removes tools and bundles whose `when` is not met, and caches views. */
export function createGeneration(parts: GenerationParts): Generation {
  const leftOut = { tools: new Map<string, string>(), bundles: new Map<string, string>() };
  const { judge, outdatedCheck } = createConditions(parts.surroundings);
  const present = parts.bundles.filter((bundle) => {
    const reason = judge(bundle.when);
    if (reason === undefined) return true;
    for (const tool of bundle.tools ?? [])
      leftOut.tools.set(tool, `its bundle "${bundle.name}" is left out: ${reason}`);
    leftOut.bundles.set(bundle.name, reason);
    return false;
  });
  for (const bundle of present) for (const tool of bundle.tools ?? []) leftOut.tools.delete(tool);
  const catalog = withoutLeftOut(resolve(parts.lists), judge, leftOut.tools);
  const bundles = resolveBundles(present, catalog);
  return {
    catalog,
    bundles,
    leftOut,
    policyDefaults: parts.policyDefaults,
    isOutdated: outdatedCheck(),
    currentProfile: profileLookup(parts.profiles),
    viewFor: viewCache(parts, catalog, bundles),
    ownerOf: ownerLookup(bundles),
  };
}

/** The conditions of one generation. */
interface Conditions {
  /** The reason why a condition is not met; `undefined` if it is met. */
  judge(when: When | undefined): string | undefined;
  /** Checks whether a condition has changed; undefined without conditions, so that calls need not look. */
  outdatedCheck(): Generation['isOutdated'];
}

/** Services and platform are fixed for a generation. Environment variables and predicates are checked again, each once. */
function createConditions(surroundings: Surroundings): Conditions {
  const variables = new Map<string, boolean>();
  const predicates = new Map<When, boolean>();
  const isSet = (name: string) => Boolean(surroundings.env[name]);
  const hasChanged = (): boolean => {
    for (const [name, wasSet] of variables) if (isSet(name) !== wasSet) return true;
    for (const [when, held] of predicates) if ((whyNot(when, surroundings) === undefined) !== held) return true;
    return false;
  };
  return {
    judge(when) {
      if (when === undefined) return undefined;
      for (const name of listOf(when.env)) variables.set(name, isSet(name));
      const reason = whyNot(when, surroundings);
      if (when.predicate !== undefined) predicates.set(when, reason === undefined);
      return reason;
    },
    outdatedCheck: () => (variables.size + predicates.size === 0 ? undefined : hasChanged),
  };
}

function profileLookup({ byName, usual, everything }: ProfileSet): Generation['currentProfile'] {
  const gone = new WeakMap<Profile, Profile>();
  return (profile) => {
    const current = profile === usual || profile === everything ? profile : byName.get(profile.name);
    if (current !== undefined) return current;
    const empty = gone.get(profile) ?? { name: profile.name, include: [] };
    gone.set(profile, empty);
    return empty;
  };
}

// Names are resolved first, so a tool that is left out here keeps its name from others.
function withoutLeftOut(resolved: Catalog, judge: Conditions['judge'], leftOut: Map<string, string>): Catalog {
  const isThere = (spec: ToolSpec): boolean => {
    const reason = judge(spec.when);
    if (reason !== undefined) leftOut.set(spec.name, reason);
    return !leftOut.has(spec.name);
  };
  const specs = resolved.specs.filter(isThere);
  if (specs.length === resolved.specs.length) return resolved;
  const get = (name: string) => (leftOut.has(name) ? undefined : resolved.get(name));
  return Object.freeze({ specs: Object.freeze(specs), held: resolved.held, get });
}

function viewCache(parts: GenerationParts, catalog: Catalog, bundles: Bundles): Generation['viewFor'] {
  const known = new WeakMap<
    Profile,
    { readonly clauses: readonly AccessClause[]; readonly views: Map<string, View> }
  >();
  return (profile, caller) => {
    let cached = known.get(profile);
    if (cached === undefined) {
      cached = { clauses: viewClauses(catalog, profile), views: new Map() };
      known.set(profile, cached);
    }
    const met = cached.clauses.map((clause) => (admits(clause, caller) ? '1' : '0')).join('');
    const found = cached.views.get(met);
    if (found !== undefined) return found;
    const made = view({
      profile,
      catalog,
      bundles,
      caller,
      defaults: parts.policyDefaults,
      isTrusted: parts.isTrusted,
    });
    cached.views.set(met, made);
    return made;
  };
}

// A bundle that defines a tool wins over one that includes it, and a bundle with a setup over one with requirements only.
function ownerLookup(bundles: Bundles): Generation['ownerOf'] {
  const owners = new Map<string, ResolvedBundle>();
  const note = (bundle: ResolvedBundle, tools: readonly string[]) => {
    for (const tool of tools) if (!owners.has(tool)) owners.set(tool, bundle);
  };
  const hasSetup = ({ definition }: ResolvedBundle) => definition.setup !== undefined || definition.ready !== undefined;
  for (const bundle of bundles.all.filter(hasSetup)) note(bundle, bundle.definition.tools ?? []);
  for (const bundle of bundles.all.filter(hasSetup)) note(bundle, bundle.members);
  for (const bundle of bundles.all.filter(({ requires }) => requires.length > 0)) note(bundle, bundle.members);
  return (tool) => owners.get(tool);
}
