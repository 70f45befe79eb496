import type { Bundles } from '../../core/bundle.ts';
import type { Generation } from '../../core/catalog.ts';
import { RESERVED_NAMES } from '../../core/meta-tools.ts';
import { nearest } from '../../core/read-options.ts';
import { type Criteria, compileCriteria, flagsOf } from '../../core/selector.ts';
import { EFFECT_KEYS, type ToolSpec } from '../../core/tool-spec.ts';
import type { View } from '../../core/view.ts';
import { type DescribedTarget, describeOwnTool, describeTargets } from '../../search/describe-own-tools.ts';
import type { Setups } from './setups.ts';

/** The listed tools of a view. */
export interface Listed {
  /** Tools of active bundles, and tools without a bundle. */
  readonly active: readonly ToolSpec[];
  /** The tools to show to a model. */
  readonly shown: readonly ToolSpec[];
}

export interface ListingOptions {
  readonly view: View;
  readonly bundles: Bundles;
  readonly active: readonly string[];
  readonly essential: readonly string[];
  /** The profiles that the tool `delegate` reaches. */
  readonly targets: readonly DescribedTarget[];
  rewriteListing(specs: readonly ToolSpec[]): readonly ToolSpec[];
}

/** Lists the active tools and, depending on `expose` of the profile, the tools to show to a model. */
export function listView(options: ListingOptions): Listed {
  const { view, bundles, active, essential, targets, rewriteListing } = options;
  const specsOf = (wanted: readonly string[], isMeant: (name: string) => boolean) =>
    keptList(view, wanted, () => Object.freeze(view.names.filter(isMeant).flatMap((name) => view.get(name) ?? [])));
  const isIn = (name: string, some: ReadonlySet<string>) => bundles.of(name).some((bundle) => some.has(bundle.name));
  const withTargets = (specs: readonly ToolSpec[]) =>
    targets.length === 0 ? specs : specs.map((spec) => describeTargets(spec, targets, bundles));
  const chosen = new Set(active);
  const listed = rewriteListing(
    withTargets(specsOf(['active', ...active], (name) => bundles.of(name).length === 0 || isIn(name, chosen))),
  );
  const { expose = 'all' } = view.profile;
  if (expose === 'all') return { active: listed, shown: listed };
  const always = new Set(essential);
  const shown = withTargets(
    specsOf(['shown', ...essential], (name) => RESERVED_NAMES.includes(name) || isIn(name, always)),
  );
  return { active: listed, shown: rewriteListing(shown.map((spec) => describeOwnTool(spec, view, bundles))) };
}

/** The lists of each view: all requests of a generation share its views, and going through 10,000 tools takes longer than writing them. */
const lists = new WeakMap<View, Map<string, readonly ToolSpec[]>>();
const MOST_LISTS = 8;

function keptList(view: View, wanted: readonly string[], make: () => readonly ToolSpec[]): readonly ToolSpec[] {
  const known = lists.get(view) ?? new Map<string, readonly ToolSpec[]>();
  lists.set(view, known);
  const key = JSON.stringify(wanted);
  const list = known.get(key) ?? make();
  if (known.size >= MOST_LISTS) known.clear();
  known.set(key, list);
  return list;
}

/** The instructions of one bundle or tool. */
export interface Section {
  readonly from: 'bundle' | 'tool';
  readonly name: string;
  readonly text: string;
}

/** Options for collecting instructions. */
interface SectionParts {
  readonly active: ReadonlySet<string>;
  readonly specs: readonly ToolSpec[];
  readonly bundles: Bundles;
  /** Results of setups. */
  readonly setups: Pick<Setups, 'made'>;
}

/** Collects instructions: of bundles, each followed by those from its setup, then of tools, in order. */
export function sectionsOf({ active, specs, bundles, setups }: SectionParts): readonly Section[] {
  const said = new Set<string>(); // a text that several bundles inherit appears once
  const ofBundles = bundles.all
    .filter((bundle) => active.has(bundle.name))
    .map((bundle): Section => {
      const made = setups.made(bundle.name)?.instructions ?? '';
      const texts = [...bundle.texts, made].filter((text) => text !== '' && !said.has(text));
      for (const text of texts) said.add(text);
      return { from: 'bundle', name: bundle.name, text: texts.join('\n\n') };
    });
  const ofTools = specs.map((spec): Section => ({ from: 'tool', name: spec.name, text: spec.instructions ?? '' }));
  return [...ofBundles, ...ofTools].filter((section) => section.text !== '');
}

/** Joins instructions with blank lines. */
export function joinSections(sections: readonly Section[]): string {
  return sections.map((section) => section.text).join('\n\n');
}

/** The tools that match all criteria. */
export function matchSpecs(generation: Generation, criteria: Criteria): readonly ToolSpec[] {
  const { specs } = generation.catalog;
  const flags = new Set<string>(EFFECT_KEYS);
  for (const spec of specs) for (const flag of flagsOf(spec).keys()) flags.add(flag);
  // An unknown flag matches no tool; one that resembles an effect is a mistake.
  for (const [flag, value] of Object.entries(criteria ?? {}))
    if (typeof value === 'boolean' && nearest(flag, EFFECT_KEYS) === undefined) flags.add(flag);
  const matches = compileCriteria(criteria, flags);
  const bundlesOf = (spec: ToolSpec) => generation.bundles.of(spec.name).map((bundle) => bundle.name);
  return specs.filter((spec) => matches(spec, bundlesOf(spec)));
}
