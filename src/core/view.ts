import { type AccessClause, admits } from './access-clause.ts';
import type { Bundles } from './bundle.ts';
import type { Caller } from './caller.ts';
import type { Catalog } from './catalog.ts';
import { canonicalJson } from './json.ts';
import { isOutOfUse, META_SOURCE } from './meta-tools.ts';
import { clampTuning, isCounted, ownedBy, type Policy, type Rule, tightenPolicy, withFallback } from './policy.ts';
import type { Profile } from './profile.ts';
import { compileSelector, type Selector } from './selector.ts';
import type { ToolSpec } from './tool-spec.ts';

/** The tools that a profile shows to callers who meet the same access clauses. */
export interface View {
  readonly profile: Profile;
  /** In catalog order. */
  readonly names: readonly string[];
  has(name: string): boolean;
  /** The spec with the policy of this view. */
  get(name: string): ToolSpec | undefined;
}

export interface ViewOptions {
  readonly profile: Profile;
  readonly catalog: Catalog;
  readonly bundles: Bundles;
  readonly caller: Caller;
  /** Fallback for absent fields; an additional layer for specs of untrusted sources. */
  readonly defaults: Policy;
  readonly isTrusted: (source: string) => boolean;
}

/** Creates a view. It filters after names are resolved, so hiding a tool never exposes another with the same name. */
export function view(options: ViewOptions): View {
  const { profile, catalog, bundles, caller } = options;
  const isIncluded =
    profile.include === undefined ? () => true : orMeta(anyOf(profile.include, bundles), profile.include);
  const isExcluded = anyOf(profile.exclude ?? [], bundles);
  const admitted = catalog.specs.filter(
    (spec) =>
      isIncluded(spec) &&
      !isExcluded(spec) &&
      !(spec.source === META_SOURCE && isOutOfUse(spec.name, profile)) &&
      clausesOf(spec, profile).every((clause) => admits(clause, caller)),
  );
  const names = admitted.map((spec) => spec.name);
  const visible = new Set(names);
  const policyFor = policyMaker(options);
  const tightened = new Map<string, ToolSpec>();
  const get = (name: string): ToolSpec | undefined => {
    const known = tightened.get(name);
    if (known !== undefined || !visible.has(name)) return known;
    const spec = catalog.get(name);
    if (spec === undefined) return undefined;
    const held = Object.freeze({ ...spec, policy: policyFor(spec) });
    tightened.set(name, held);
    return held;
  };
  return { profile, names, has: (name) => visible.has(name), get };
}

/** The distinct access clauses of a catalog and profile. Callers who meet the same clauses see the same tools. */
export function viewClauses(catalog: Catalog, profile: Profile): readonly AccessClause[] {
  const clauses = new Map<string, AccessClause>();
  const note = (clause: AccessClause) => clauses.set(canonicalJson(clause), clause);
  for (const spec of catalog.specs) spec.policy.access?.forEach(note);
  profile.policy?.access?.forEach(note);
  return [...clauses.values()];
}

/** Computes the policy of a spec: its own, the defaults, the profile, then tuning clamped by limits. */
function policyMaker(options: Omit<ViewOptions, 'catalog' | 'caller'>): (spec: ToolSpec) => Policy {
  const { profile, defaults } = options;
  const mustAsk = meantBy(profile.approve ?? [], options.bundles);
  const rulesFor = ruleMaker(profile, options.bundles);
  const layer = profile.policy ?? {};
  const shared = new Map<string, WeakMap<Policy, Policy>>();
  return (spec) => {
    const asks = mustAsk(spec);
    const { rules, key } = rulesFor(spec);
    const isTrusted = options.isTrusted(spec.source);
    const known = recall(shared, `${asks} ${key} ${isTrusted} ${isCounted(spec.policy) ? spec.name : ''}`);
    const cached = known.get(spec.policy);
    if (cached !== undefined) return cached;
    const own = ownedBy(spec.policy, `tool:${spec.name}`);
    const based = isTrusted ? own : tightenPolicy(own, defaults);
    const held = tightenPolicy(based, {
      ...(asks && { approval: 'always' }),
      ...(rules.length > 0 && { rules }),
    });
    const policy = withFallback(tightenPolicy(held, layer), defaults);
    const clamped = Object.freeze(clampTuning(policy));
    known.set(spec.policy, clamped);
    return clamped;
  };
}

/** The rules of a profile for a tool, with a key that is the same for all tools with the same rules. */
function ruleMaker(profile: Profile, bundles: Bundles): (spec: ToolSpec) => { rules: readonly Rule[]; key: string } {
  const rules = (profile.rules ?? []).map(({ tools, when, otherwise }) => ({
    selects: meantBy(tools, bundles),
    rule: { when, otherwise, of: `profile:${profile.name}` },
  }));
  return (spec) => {
    const held = rules.map(({ selects }) => selects(spec));
    return { rules: rules.filter((_, index) => held[index]).map(({ rule }) => rule), key: held.map(Number).join('') };
  };
}

/** Matches the selectors of profiles. The crib's own tools match only by exact name. */
function meantBy(selectors: readonly Selector[], bundles: Bundles): (spec: ToolSpec) => boolean {
  const isSelected = anyOf(selectors, bundles);
  return (spec) => (spec.source === META_SOURCE ? selectors.includes(spec.name) : isSelected(spec));
}

/** Includes the crib's own tools with any other tool; `[]` includes none. */
function orMeta(isIncluded: (spec: ToolSpec) => boolean, include: readonly Selector[]): (spec: ToolSpec) => boolean {
  return include.length === 0 ? isIncluded : (spec) => spec.source === META_SOURCE || isIncluded(spec);
}

function recall<K, V extends object>(map: Map<K, WeakMap<V, V>>, key: K): WeakMap<V, V> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = new WeakMap<V, V>();
  map.set(key, made);
  return made;
}

function clausesOf(spec: ToolSpec, profile: Profile): readonly AccessClause[] {
  return [...(spec.policy.access ?? []), ...(profile.policy?.access ?? [])];
}

function anyOf(selectors: readonly Selector[], bundles: Bundles): (spec: ToolSpec) => boolean {
  if (selectors.length === 0) return () => false;
  const tests = selectors.map(compileSelector);
  return (spec) => {
    const names = bundles.of(spec.name).map((bundle) => bundle.name);
    return tests.some((matches) => matches(spec, names));
  };
}
