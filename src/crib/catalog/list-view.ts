import type { Bundles } from '../../core/bundle.ts';
import { RESERVED_NAMES } from '../../core/meta-tools.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import type { View } from '../../core/view.ts';
import { describeSearch } from '../../search/search-meta-tools.ts';
import type { Setups } from './setups.ts';

/** The tools of a view as they are listed. */
export interface Listed {
  /** What belongs to an active bundle, or to none. */
  readonly active: readonly ToolSpec[];
  /** What a model is shown of it. */
  readonly shown: readonly ToolSpec[];
}

export interface ListingOptions {
  readonly view: View;
  readonly bundles: Bundles;
  readonly active: readonly string[];
  readonly essential: readonly string[];
  rewriteListing(specs: readonly ToolSpec[]): readonly ToolSpec[];
}

/** Lists what is active, and what of it a model is shown, which its profile's `expose` decides. */
export function listView({ view, bundles, active, essential, rewriteListing }: ListingOptions): Listed {
  const specsOf = (isMeant: (name: string) => boolean) =>
    Object.freeze(view.names.filter(isMeant).flatMap((name) => view.get(name) ?? []));
  const isIn = (name: string, some: ReadonlySet<string>) => bundles.of(name).some((bundle) => some.has(bundle.name));
  const chosen = new Set(active);
  const listed = rewriteListing(specsOf((name) => bundles.of(name).length === 0 || isIn(name, chosen)));
  if (view.profile.expose !== 'search') return { active: listed, shown: listed };
  const always = new Set(essential);
  const shown = specsOf((name) => RESERVED_NAMES.includes(name) || isIn(name, always));
  return { active: listed, shown: rewriteListing(shown.map((spec) => describeSearch(spec, view, bundles))) };
}

/** One prompt text and where it comes from. */
export interface Section {
  readonly from: 'bundle' | 'tool';
  readonly name: string;
  readonly text: string;
}

/** What prompt texts are made of. */
interface SectionParts {
  readonly active: ReadonlySet<string>;
  readonly specs: readonly ToolSpec[];
  readonly bundles: Bundles;
  /** What setups made. */
  readonly setups: Pick<Setups, 'made'>;
}

/** The prompt texts of bundles, each followed by the text that its setup made, then those of tools, in their order. */
export function sectionsOf({ active, specs, bundles, setups }: SectionParts): readonly Section[] {
  const said = new Set<string>(); // a text that several bundles inherit is said once
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

/** The texts, parted by blank lines. */
export function joinSections(sections: readonly Section[]): string {
  return sections.map((section) => section.text).join('\n\n');
}
