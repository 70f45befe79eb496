import type { ResolvedBundle } from '../core/bundle.ts';
import type { Generation } from '../core/catalog.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import type { StoredSnapshots } from '../core/ports/store.ts';
import type { Retriever } from '../core/retriever.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { changedTools, type ExampleRequests, withRequests } from './examples/read-examples.ts';

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
  /** Requests that count as examples of tools, besides their own. */
  examples?(): ExampleRequests | undefined;
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
  let seenRequests: ExampleRequests = NO_REQUESTS;
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
      const requests = options.examples?.() ?? NO_REQUESTS;
      const requestsBefore = seenRequests;
      if (before === now && requestsBefore === requests) return;
      seen = now;
      seenRequests = requests;
      const isOther = hasOtherRequests(requestsBefore, requests);
      const changed = before === undefined ? now.catalog.specs : specsOnlyIn(now, before, isOther);
      const gone = before === undefined ? [] : specsOnlyIn(before, now, isOther);
      try {
        retriever.remove(gone.map((spec) => spec.name));
        retriever.add(changed.map((spec) => withRequests(spec, requests.get(spec.name))));
      } catch (cause) {
        seen = before; // the next search retries
        seenRequests = requestsBefore;
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

const NO_REQUESTS: ExampleRequests = new Map();

function hasOtherRequests(one: ExampleRequests, other: ExampleRequests): (tool: string) => boolean {
  if (one === other) return () => false;
  const changed = changedTools(one, other);
  return (tool) => changed.has(tool);
}

/** The specs of one generation that differ in another, have other requests, or have other bundles there: bundle texts are searched, too. */
function specsOnlyIn(one: Generation, other: Generation, isOther = (_tool: string) => false): readonly ToolSpec[] {
  return one.catalog.specs.filter((spec) => {
    if (isOther(spec.name)) return true;
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
