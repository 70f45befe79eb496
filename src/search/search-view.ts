import { type Bundles, expand, type ResolvedBundle } from '../core/bundle.ts';
import { isRecord } from '../core/json.ts';
import { describe, readOptions } from '../core/read-options.ts';
import type { Confidence, GoalSearch, Ranked, SearchHit, SearchOptions, SearchRequest } from '../core/retriever.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { View } from '../core/view.ts';
import { rankGoalInView } from './goals/rank-goal.ts';
import { isFindable, rankInView, type Searched } from './rank-in-view.ts';

const DEFAULT_LIMIT = 10;
const SEARCH_KEYS = ['limit', 'minScore', 'expand', 'bundleFilter'] as const;
/** Limit of hits named in a reason. */
const MOST_NAMED = 3;

/** The tools of a view that fit a request or a goal and, with `expand`, the tools that belong with them. */
export async function searchView(
  request: SearchRequest,
  given: SearchOptions | undefined,
  searched: Searched,
): Promise<readonly SearchHit[]> {
  const { words, isGoal, options } = readSearch(request, given);
  const { limit = DEFAULT_LIMIT } = options;
  const rankWords = isGoal ? rankGoalInView : rankInView;
  const ranked = await rankWords(searched, words, { ...options, limit });
  // Ranking may have waited, so tools that are gone meanwhile are dropped. A custom retriever may return anything.
  const view = searched.view();
  const { bundles } = searched.generation();
  const byName = new Map(ranked.filter(({ name }) => isFindable(name, view)).map((hit) => [hit.name, hit]));
  const hits = [...byName.keys()].slice(0, limit);
  const reasonFor = reasonsToAdd(hits, bundles);
  return namesWith(hits, options, { view, bundles }).flatMap((name) => {
    const spec = view.get(name);
    if (spec === undefined) return [];
    const [bundle] = bundles.of(name);
    const { confidence, ...hit }: Ranked = byName.get(name) ?? { name, score: 0, why: reasonFor(name) };
    return {
      ...hit,
      ...(isConfidence(confidence) && { confidence }),
      description: spec.description,
      ...(bundle !== undefined && { bundle: bundle.name }),
      spec,
    };
  });
}

/** Checks the value, because a custom retriever may return anything. */
function isConfidence(given: unknown): given is Confidence {
  return given === 'high' || given === 'low';
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

/** Names the hits that a tool belongs with: those of its bundles, or all hits if it is required. */
function reasonsToAdd(hits: readonly string[], bundles: Bundles): (name: string) => string {
  const inBundle = new Map<ResolvedBundle, readonly string[]>();
  for (const hit of hits)
    for (const bundle of bundles.of(hit)) {
      const known = inBundle.get(bundle) ?? [];
      if (known.length <= MOST_NAMED) inBundle.set(bundle, [...known, hit]); // one more than are named, to detect that there are more
    }
  return (name) => {
    const siblings = new Set(bundles.of(name).flatMap((bundle) => inBundle.get(bundle) ?? []));
    const all = siblings.size > 0 ? [...siblings] : hits;
    return `belongs with ${all.slice(0, MOST_NAMED).join(', ')}${all.length > MOST_NAMED ? ' and others' : ''}`;
  };
}

/** Reads a request in words with its options, or a goal that has its options beside it. */
function readSearch(request: SearchRequest, given: SearchOptions = {}) {
  if (typeof request === 'string') return { words: request, isGoal: false, options: readSearchOptions(given) };
  if (!isRecord(request))
    throw new ToolcribError('invalid_option', `search: the query must be text, got ${describe(request)}.`);
  const { goal, ...beside } = readOptions<GoalSearch>(request, ['goal', ...SEARCH_KEYS], 'search');
  if (typeof goal !== 'string')
    throw new ToolcribError('invalid_option', `search: "goal" must be text, got ${describe(goal)}.`);
  return { words: goal, isGoal: true, options: readSearchOptions({ ...beside, ...given }) };
}

/** Validates the options, because a wrong value would silently find nothing, or everything. */
function readSearchOptions(given: SearchOptions): SearchOptions {
  const options = readOptions<SearchOptions>(given, SEARCH_KEYS, 'search');
  const { limit = 0, minScore = 0, expand: isExpanded = false, bundleFilter = () => true } = options;
  const wrong = (key: string, wanted: string, value: unknown) =>
    new ToolcribError('invalid_option', `search: "${key}" must be ${wanted}, got ${describe(value)}.`);
  if (typeof limit !== 'number' || !(limit >= 0)) throw wrong('limit', 'a number of at least 0', limit);
  if (typeof minScore !== 'number' || Number.isNaN(minScore)) throw wrong('minScore', 'a number', minScore);
  if (typeof isExpanded !== 'boolean') throw wrong('expand', 'true or false', isExpanded);
  if (typeof bundleFilter !== 'function') throw wrong('bundleFilter', 'a function', bundleFilter);
  return options;
}
