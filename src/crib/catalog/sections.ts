import type { Bundles } from '../../core/bundle.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';

/** One prompt text and where it comes from. */
export interface Section {
  readonly from: 'bundle' | 'tool';
  readonly name: string;
  readonly text: string;
}

/** The prompt texts of bundles, then of tools, in their order. */
export function sectionsOf(
  active: ReadonlySet<string>,
  specs: readonly ToolSpec[],
  bundles: Bundles,
): readonly Section[] {
  const said = new Set<string>(); // a text that several bundles inherit is said once
  const ofBundles = bundles.all
    .filter((bundle) => active.has(bundle.name))
    .map((bundle): Section => {
      const texts = bundle.texts.filter((text) => !said.has(text));
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
