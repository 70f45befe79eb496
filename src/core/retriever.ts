import type { ResolvedBundle } from './bundle.ts';
import type { MaybePromise } from './json.ts';
import type { ToolSpec } from './tool-spec.ts';

/** Ranks specs for a query. */
export interface Retriever {
  add(specs: readonly ToolSpec[]): void;
  remove(names: readonly string[]): void;
  rank(query: string, options: RankOptions): Promise<readonly Ranked[]>;
}

export interface RankOptions {
  readonly limit: number;
  /** Filter: only these names are returned. */
  readonly among?: (name: string) => boolean;
  /** Minimum score. Absent: hits share a word or a meaning with the query and are not far behind the best. */
  readonly minScore?: number;
  /** Tie-breaker: how often the caller's profile used a tool. */
  readonly usage?: (name: string) => number;
  /** Changes the order of hits, but not which tools are hits, nor the confidence of the best one. */
  readonly preference?: (name: string) => SearchPreference | undefined;
}

export type SearchPreference = 'pin' | 'boost' | 'bury';

/** Confidence that a tool fits. `low` is typical for the best hit of a query that no tool answers. */
export type Confidence = 'high' | 'low';

/** A tool name with its score from 0 to 1, and an explanation. */
export interface Ranked {
  readonly name: string;
  readonly score: number;
  /** Absent if the retriever does not report it. */
  readonly confidence?: Confidence;
  readonly why: string;
}

/** A ranked tool as a chest returns it; `bundle` is the first bundle of the tool. */
export interface SearchHit extends Ranked {
  readonly description: string;
  readonly bundle?: string;
  readonly spec: ToolSpec;
}

/** The answer of a door to a search. */
export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  /** Confidence of the best hit; `low` without hits; absent if the retriever does not report it. */
  readonly confidence?: Confidence;
  /** Present if the hits are only the nearest tools. */
  readonly note?: string;
}

/** Number of hits to show if no tool clearly fits. */
const NEAREST = 3;

/** Builds the answer to a search. If no tool clearly fits, it holds only the nearest tools. */
export function toSearchAnswer(hits: readonly SearchHit[]): SearchAnswer {
  const [best] = hits;
  if (best === undefined) return { hits, confidence: 'low' };
  if (best.confidence === 'low')
    return { hits: hits.slice(0, NEAREST), confidence: 'low', note: 'No tool clearly fits; nearest:' };
  return best.confidence === undefined ? { hits } : { hits, confidence: best.confidence };
}

/** A tool for a dense index. The retriever assigns the id, a small integer that is reused after removal. */
export interface DenseTool {
  readonly id: number;
  /** Name and description texts, most significant first. */
  readonly texts: readonly string[];
}

/** The vectors of a query, one per sentence. Only the index that made them reads them. */
export interface QueryVectors {
  readonly sentences: readonly unknown[];
}

/** Compares tools and queries by meaning. */
export interface DenseIndex {
  /** Adds tools or replaces known ids. An index with a remote embedder returns at once and is up to date when `prepare` resolves. */
  add(tools: readonly DenseTool[]): void;
  remove(ids: readonly number[]): void;
  /** True if the id was added or came with a snapshot, and was not removed. */
  has(id: number): boolean;
  /** Embeds a query; undefined if that fails, and search falls back to words only. */
  prepare(query: string): MaybePromise<QueryVectors | undefined>;
  /** The most similar tools, best first, by the best sentence of the query. */
  rank(query: QueryVectors, limit: number): readonly DenseHit[];
  /** The similarity of each id, in order; 0 for an unknown id. */
  similarity(query: QueryVectors, ids: Uint32Array): Float32Array;
  /** Serializes the index, for creating the next one. */
  snapshot(): Uint8Array;
}

/** A tool with its cosine similarity, from -1 to 1. */
export interface DenseHit {
  readonly id: number;
  readonly similarity: number;
}

/** Options for searching a chest. */
export interface SearchOptions {
  /** 10 if absent. */
  readonly limit?: number;
  readonly minScore?: number;
  /** Adds the other tools of the hits' bundles and the tools they require. */
  readonly expand?: boolean;
  readonly bundleFilter?: (bundle: ResolvedBundle) => boolean;
}

/** A search for the few tools of a job of several steps: the best ones of each step in turns. */
export interface GoalSearch extends SearchOptions {
  readonly goal: string;
}

/** A request in words, or a goal. */
export type SearchRequest = string | GoalSearch;

/** Turns texts into vectors that can be compared by angle. */
export interface Embedder {
  /** Identifies the model. Vectors of different models are never compared. */
  readonly model: string;
  /** Returns one vector per text, all of one length, in order; zeros for a text without content. Rejects if embedding fails. */
  embed(texts: readonly string[]): MaybePromise<readonly Float32Array[]>;
}
