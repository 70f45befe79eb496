import { expand } from '../core/bundle.ts';
import { describe, readOptions } from '../core/known-keys.ts';
import { RESERVED_NAMES } from '../core/meta-tools.ts';
import type { RankOptions, Retriever, SearchHit } from '../core/retriever.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { View } from '../core/view.ts';
import type { SearchOptions } from './chest.ts';
import type { Generation } from './generation.ts';

/** What a search looks at, for whom. */
export interface Searched {
  readonly view: View;
  readonly rank: Retriever['rank'];
  readonly usage: RankOptions['usage'];
  generation(): Generation;
}

const DEFAULT_LIMIT = 10;
const SEARCH_KEYS = ['limit', 'minScore', 'expand', 'bundleFilter'] as const;

/** The tools of a view that fit a request, and if asked for what belongs with them. */
export async function searchView(
  query: string,
  given: SearchOptions,
  { view, rank, usage, generation }: Searched,
): Promise<readonly SearchHit[]> {
  if (typeof query !== 'string')
    throw new ToolcribError('invalid_option', `search takes words, got ${describe(query)}.`);
  const options = readOptions<SearchOptions>(given, SEARCH_KEYS, 'search');
  const { limit = DEFAULT_LIMIT, minScore, bundleFilter } = options;
  const ranked = await rank(query, {
    limit,
    among: (name) => view.has(name) && !RESERVED_NAMES.includes(name), // what finds tools is no find
    ...(minScore !== undefined && { minScore }),
    ...(usage !== undefined && { usage }),
  });
  const { bundles } = generation();
  const byName = new Map(ranked.map((hit) => [hit.name, hit]));
  const hits = [...byName.keys()];
  const requiresOf = (name: string) => view.get(name)?.requires ?? [];
  const names =
    options.expand === true
      ? expand(hits, bundles, { isInView: view.has, requiresOf, ...(bundleFilter && { bundleFilter }) })
      : hits;
  return names.flatMap((name) => {
    const spec = view.get(name);
    if (spec === undefined) return [];
    const [bundle] = bundles.of(name);
    const hit = byName.get(name) ?? { name, score: 0, why: `belongs with ${hits.join(', ')}` };
    return { ...hit, description: spec.description, ...(bundle !== undefined && { bundle: bundle.name }), spec };
  });
}
