import type { ResolvedBundle } from './bundle.ts';
import type { MaybePromise } from './json.ts';
import type { ToolSpec } from './tool-spec.ts';

/** Ranks specs for a request in words. */
export interface Retriever {
  add(specs: readonly ToolSpec[]): void;
  remove(names: readonly string[]): void;
  rank(query: string, options: RankOptions): Promise<readonly Ranked[]>;
}

export interface RankOptions {
  readonly limit: number;
  /** Only these names may be returned. */
  readonly among?: (name: string) => boolean;
  /** The least score of a hit; absent: whatever shares a word or a meaning with the request, and is not far behind the best. */
  readonly minScore?: number;
  /** Decides between equals: how often the caller's profile used a tool. */
  readonly usage?: (name: string) => number;
}

/** Whether a tool clearly fits: `low` is what the best hit of a request that nothing answers mostly is. */
export type Confidence = 'high' | 'low';

/** A name with how well it fits, from 0 to 1, and why. */
export interface Ranked {
  readonly name: string;
  readonly score: number;
  /** Absent where the retriever does not know. */
  readonly confidence?: Confidence;
  readonly why: string;
}

/** A ranked tool as a chest returns it; `bundle` is the first one it belongs to. */
export interface SearchHit extends Ranked {
  readonly description: string;
  readonly bundle?: string;
  readonly spec: ToolSpec;
}

/** What a door answers to a search. */
export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  /** That of the best hit, `low` where there is none; absent where the retriever does not know. */
  readonly confidence?: Confidence;
  /** Present where the hits are no more than the nearest tools. */
  readonly note?: string;
}

/** As many as are worth a look where no tool clearly fits. */
const NEAREST = 3;

/** The hits, or the nearest of them where no tool clearly fits, and how sure search is. */
export function toSearchAnswer(hits: readonly SearchHit[]): SearchAnswer {
  const [best] = hits;
  if (best === undefined) return { hits, confidence: 'low' };
  if (best.confidence === 'low')
    return { hits: hits.slice(0, NEAREST), confidence: 'low', note: 'No tool clearly fits; nearest:' };
  return best.confidence === undefined ? { hits } : { hits, confidence: best.confidence };
}

/** A tool as a dense index takes it: the retriever gives the id, a small integer that is used again after removal. */
export interface DenseTool {
  readonly id: number;
  /** What it is called and what it does, most telling first. */
  readonly texts: readonly string[];
}

/** The vectors of a request, one for each of its sentences; only the index that made them reads them. */
export interface QueryVectors {
  readonly sentences: readonly unknown[];
}

/** Compares tools and requests by meaning, beside their words. */
export interface DenseIndex {
  /** An id that is known is replaced. Who embeds elsewhere returns at once and has caught up when `prepare` resolves. */
  add(tools: readonly DenseTool[]): void;
  remove(ids: readonly number[]): void;
  /** True for an id that was added here or came with a snapshot, and is not removed. */
  has(id: number): boolean;
  /** The vectors of a request; undefined where none can be had, and search goes on by words alone. */
  prepare(query: string): MaybePromise<QueryVectors | undefined>;
  /** The most similar tools, best first; the best sentence of the request counts. */
  rank(query: QueryVectors, limit: number): readonly DenseHit[];
  /** The similarity of each id asked, in their order; 0 for one that is not known. */
  similarity(query: QueryVectors, ids: Uint32Array): Float32Array;
  /** Everything it holds, to be handed to the maker of the next one. */
  snapshot(): Uint8Array;
}

/** A tool with its cosine similarity, from -1 to 1. */
export interface DenseHit {
  readonly id: number;
  readonly similarity: number;
}

/** How a chest is searched. */
export interface SearchOptions {
  /** 10 if absent. */
  readonly limit?: number;
  readonly minScore?: number;
  /** Adds what belongs with the hits. */
  readonly expand?: boolean;
  readonly bundleFilter?: (bundle: ResolvedBundle) => boolean;
}

/** Turns texts into vectors whose angles say how close their meanings are. */
export interface Embedder {
  /** Tells models apart: vectors of one are never compared with those of another. */
  readonly model: string;
  /** One vector a text, all of one length, in order; noughts for a text that says nothing. Rejects if there are none to be had. */
  embed(texts: readonly string[]): MaybePromise<readonly Float32Array[]>;
}
