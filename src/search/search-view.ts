import { type Bundles, expand, type ResolvedBundle } from '../core/bundle.ts';
import { RESERVED_NAMES } from '../core/meta-tools.ts';
import type { Generation } from '../core/ports/generation.ts';
import { describe, readOptions } from '../core/read-options.ts';
import type { RankOptions, Retriever, SearchHit, SearchOptions } from '../core/retriever.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { View } from '../core/view.ts';

/** What a search looks at, for whom. */
export interface Searched {
  /** What the caller sees at this moment. */
  view(): View;
  readonly rank: Retriever['rank'];
  readonly usage: RankOptions['usage'];
  generation(): Generation;
}

const DEFAULT_LIMIT = 10;
const SEARCH_KEYS = ['limit', 'minScore', 'expand', 'bundleFilter'] as const;
/** Of the hits that something belongs with. */
const MOST_NAMED = 3;

/** The tools of a view that fit a request, and if asked for what belongs with them. */
export async function searchView(
  query: string,
  given: SearchOptions,
  searched: Searched,
): Promise<readonly SearchHit[]> {
  if (typeof query !== 'string')
    throw new ToolcribError('invalid_option', `search takes words, got ${describe(query)}.`);
  const options = readSearchOptions(given);
  const { limit = DEFAULT_LIMIT } = options;
  const ranked = await rankIn(searched, query, { ...options, limit });
  // Ranking may have waited: what has gone meanwhile is not returned. And a retriever of somebody else may return anything.
  const view = searched.view();
  const { bundles } = searched.generation();
  const byName = new Map(ranked.filter(({ name }) => isFindable(name, view)).map((hit) => [hit.name, hit]));
  const hits = [...byName.keys()].slice(0, limit);
  const reasonFor = reasonsToAdd(hits, bundles);
  return namesWith(hits, options, { view, bundles }).flatMap((name) => {
    const spec = view.get(name);
    if (spec === undefined) return [];
    const [bundle] = bundles.of(name);
    const hit = byName.get(name) ?? { name, score: 0, why: reasonFor(name) };
    return { ...hit, description: spec.description, ...(bundle !== undefined && { bundle: bundle.name }), spec };
  });
}

/** True for what the caller may use; what finds tools is no find. */
function isFindable(name: string, view: View): boolean {
  return view.has(name) && !RESERVED_NAMES.includes(name);
}

function rankIn(
  { view: viewNow, rank, usage }: Searched,
  query: string,
  { limit, minScore }: SearchOptions & { readonly limit: number },
) {
  const view = viewNow();
  return rank(query, {
    limit,
    among: (name) => isFindable(name, view),
    ...(minScore !== undefined && { minScore }),
    ...(usage !== undefined && { usage }),
  });
}

function namesWith(
  hits: readonly string[],
  { expand: isExpanded, bundleFilter }: SearchOptions,
  { view, bundles }: { readonly view: View; readonly bundles: Bundles },
): readonly string[] {
  if (isExpanded !== true) return hits;
  const requiresOf = (name: string) => view.get(name)?.requires ?? [];
  return expand(hits, bundles, { isInView: view.has, requiresOf, ...(bundleFilter && { bundleFilter }) });
}

/** Says with which hits a tool belongs: those of its bundles, or all where it is required. */
function reasonsToAdd(hits: readonly string[], bundles: Bundles): (name: string) => string {
  const inBundle = new Map<ResolvedBundle, readonly string[]>();
  for (const hit of hits)
    for (const bundle of bundles.of(hit)) {
      const known = inBundle.get(bundle) ?? [];
      if (known.length <= MOST_NAMED) inBundle.set(bundle, [...known, hit]); // one more than are named, to know of it
    }
  return (name) => {
    const siblings = new Set(bundles.of(name).flatMap((bundle) => inBundle.get(bundle) ?? []));
    const all = siblings.size > 0 ? [...siblings] : hits;
    return `belongs with ${all.slice(0, MOST_NAMED).join(', ')}${all.length > MOST_NAMED ? ' and others' : ''}`;
  };
}

/** A value that means nothing here would find nothing, or everything, without a word. */
function readSearchOptions(given: SearchOptions): SearchOptions {
  const options = readOptions<SearchOptions>(given, SEARCH_KEYS, 'search');
  const { limit = 0, minScore = 0, expand: isExpanded = false, bundleFilter = () => true } = options;
  const wrong = (key: string, wanted: string, value: unknown) =>
    new ToolcribError('invalid_option', `"${key}" of search must be ${wanted}, got ${describe(value)}.`);
  if (typeof limit !== 'number' || !(limit >= 0)) throw wrong('limit', 'a number of at least 0', limit);
  if (typeof minScore !== 'number' || Number.isNaN(minScore)) throw wrong('minScore', 'a number', minScore);
  if (typeof isExpanded !== 'boolean') throw wrong('expand', 'true or false', isExpanded);
  if (typeof bundleFilter !== 'function') throw wrong('bundleFilter', 'a function', bundleFilter);
  return options;
}
