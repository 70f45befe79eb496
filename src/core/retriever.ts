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
  readonly minScore?: number;
}

/** A name with how well it fits, from 0 to 1, and why. */
export interface Ranked {
  readonly name: string;
  readonly score: number;
  readonly why: string;
}

/** A ranked tool as a chest returns it; `bundle` is the first one it belongs to. */
export interface SearchHit extends Ranked {
  readonly description: string;
  readonly bundle?: string;
  readonly spec: ToolSpec;
}
