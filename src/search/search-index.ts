import { type Bundles, expand, type ResolvedBundle } from '../core/bundle.ts';
import type { Generation } from '../core/catalog.ts';
import { isRecord } from '../core/json.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import type { StoredSnapshots } from '../core/ports/store.ts';
import { describe, readOptions } from '../core/read-options.ts';
import type {
  Confidence,
  GoalSearch,
  Ranked,
  Retriever,
  SearchHit,
  SearchOptions,
  SearchRequest,
} from '../core/retriever.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { View } from '../core/view.ts';
import { rankGoalInView } from './goals/rank-goal.ts';
import { isFindable, rankInView, type Searched } from './rank-in-view.ts';

/** Inputs for opening a crib's retriever. */
export interface RetrieverPorts {
  /** The stored snapshot. */
  readonly snapshot?: Uint8Array;
  readonly bundlesOf: (tool: string) => readonly string[];
  readonly clock: Clock;
  warn(message: string): void;
}

/** A retriever, possibly with snapshots, so that the next process need not index everything again. */
type OpenedRetriever = Retriever & { snapshot?(): Uint8Array; readonly changes?: number };

/** Opens a retriever. A different function means a different retriever. */
export type OpenRetriever = (ports: RetrieverPorts) => Promise<OpenedRetriever>;

export interface SearchIndexOptions {
  generation(): Generation;
  /** The opener of the retriever that is configured now. */
  opener(): OpenRetriever;
  /** The storage for snapshots; undefined if nothing is stored. */
  kept(): StoredSnapshots | undefined;
  readonly clock: Clock;
  warn(message: string): void;
}

/** Smaller catalogs are indexed faster than a store is opened. */
const KEPT_FROM = 1000;
const KEPT_BYTES = 64 * 2 ** 20;
const KEPT_AS = 'search';
/** Minimum interval between writes, for a catalog that changes often. */
const KEEP_EVERY_MS = 60_000;

/** Ranks over the current catalog. Nothing is loaded before the first search; then the index is updated incrementally. */
export function createSearchIndex(options: SearchIndexOptions): Retriever['rank'] {
  let index: { readonly opener: OpenRetriever; readonly opened: Promise<FollowingIndex> } | undefined;
  return async (query, rankOptions) => {
    const opener = options.opener();
    if (index?.opener !== opener) index = { opener, opened: open(opener, options) };
    const { opened } = index;
    const { follow, retriever, keep } = await opened.catch((cause) => {
      if (index?.opened === opened) index = undefined; // the next search retries
      throw cause;
    });
    follow();
    const hits = await retriever.rank(query, rankOptions);
    keep();
    return hits;
  };
}

interface FollowingIndex {
  readonly retriever: OpenedRetriever;
  /** Indexes the changes since the last call. */
  follow(): void;
  /** Stores a snapshot in the background, if it is worth it. */
  keep(): void;
}

async function open(opener: OpenRetriever, options: SearchIndexOptions): Promise<FollowingIndex> {
  const { generation, clock, warn } = options;
  const isLarge = () => generation().catalog.specs.length >= KEPT_FROM;
  const kept = isLarge()
    ? await options
        .kept()
        ?.get(KEPT_AS)
        .catch(() => undefined)
    : undefined;
  let seen: Generation | undefined;
  const bundlesOf = (tool: string) => (seen === undefined ? [] : bundleTexts(seen.bundles.of(tool)));
  const snapshot = kept === undefined ? {} : { snapshot: kept };
  const retriever = await opener({ ...snapshot, bundlesOf, clock, warn });
  let keptChanges = kept === undefined ? -1 : 0;
  let triedAt = Number.NEGATIVE_INFINITY;
  return {
    retriever,
    follow() {
      const before = seen;
      const now = generation();
      if (before === now) return;
      seen = now;
      const changed = before === undefined ? now.catalog.specs : specsOnlyIn(now, before);
      const gone = before === undefined ? [] : specsOnlyIn(before, now);
      try {
        retriever.remove(gone.map((spec) => spec.name));
        retriever.add(changed);
      } catch (cause) {
        seen = before; // the next search retries
        throw cause;
      }
    },
    keep() {
      const { changes } = retriever;
      if (changes === undefined || changes === keptChanges || clock.now() - triedAt < KEEP_EVERY_MS || !isLarge())
        return;
      triedAt = clock.now();
      const snapshots = options.kept();
      if (snapshots === undefined) return;
      keptChanges = changes;
      const bytes = retriever.snapshot?.();
      if (bytes === undefined || bytes.length > KEPT_BYTES) return;
      snapshots.put(KEPT_AS, bytes).catch(() => {}); // a snapshot has a checksum; if this fails, the next process builds the index again
    },
  };
}

/** The specs of one generation that differ in another, or have other bundles there: bundle texts are searched, too. */
function specsOnlyIn(one: Generation, other: Generation): readonly ToolSpec[] {
  return one.catalog.specs.filter((spec) => {
    if (other.catalog.get(spec.name) !== spec) return true;
    const bundles = one.bundles.of(spec.name);
    const others = other.bundles.of(spec.name);
    return bundles.length !== others.length || !bundles.every((bundle, place) => saysTheSame(bundle, others[place]));
  });
}

function saysTheSame(one: ResolvedBundle, other: ResolvedBundle | undefined): boolean {
  return one.name === other?.name && one.definition.description === other.definition.description;
}

/** The names and descriptions of a tool's bundles: a request for them means their tools. */
function bundleTexts(bundles: readonly ResolvedBundle[]): readonly string[] {
  const known = textsOfBundles.get(bundles);
  if (known !== undefined) return known;
  const texts = bundles.flatMap(({ name, definition: { description = '' } }) => [name, description]);
  textsOfBundles.set(bundles, texts);
  return texts;
}

// Thousands of tools of one source share the same list of bundles.
const textsOfBundles = new WeakMap<readonly ResolvedBundle[], readonly string[]>();

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
