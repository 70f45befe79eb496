import type { Bundles } from '../core/bundle.ts';
import type { Generation } from '../core/catalog.ts';
import { RESERVED_NAMES } from '../core/meta-tools.ts';
import type { Ranked, RankOptions, Retriever, SearchOptions, SearchPreference } from '../core/retriever.ts';
import { compileSelector, type Selector } from '../core/selector.ts';
import type { View } from '../core/view.ts';

/** The inputs of a search. */
export interface Searched {
  /** The tools that the caller sees at this moment. */
  view(): View;
  readonly rank: Retriever['rank'];
  readonly usage: RankOptions['usage'];
  generation(): Generation;
}

/** Ranks the tools of a view, in the order that its profile prefers. */
export function rankInView(
  { view: viewNow, rank, usage, generation }: Searched,
  query: string,
  { limit, minScore }: SearchOptions & { readonly limit: number },
): Promise<readonly Ranked[]> {
  const view = viewNow();
  const preference = preferenceIn(view, generation().bundles);
  return rank(query, {
    limit,
    among: (name) => isFindable(name, view),
    ...(minScore !== undefined && { minScore }),
    ...(usage !== undefined && { usage }),
    ...(preference !== undefined && { preference }),
  });
}

/** True for a tool that the caller may use, except the search tools themselves. */
export function isFindable(name: string, view: View): boolean {
  return view.has(name) && !RESERVED_NAMES.includes(name);
}

/** The preferences of the profile, by name of a tool. In several lists, pin counts before boost, and boost before bury. */
export function preferenceIn(view: View, bundles: Bundles): RankOptions['preference'] {
  const { search } = view.profile;
  if (search === undefined) return undefined;
  const compiled = (['pin', 'boost', 'bury'] as const).map(
    (key): readonly [SearchPreference, ReturnType<typeof compileSelector>[]] => [key, compile(search[key])],
  );
  return (name) => {
    const spec = view.get(name);
    if (spec === undefined) return undefined;
    const inBundles = bundles.of(name).map((bundle) => bundle.name);
    return compiled.find(([, tests]) => tests.some((matches) => matches(spec, inBundles)))?.[0];
  };
}

function compile(selectors: readonly Selector[] = []) {
  return selectors.map(compileSelector);
}
