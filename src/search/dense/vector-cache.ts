import type { MaybePromise } from '../../core/json.ts';

/** Keeps vectors under the hash of their text, as bytes. */
export interface VectorCache {
  get(key: string): MaybePromise<Uint8Array | undefined>;
  set(key: string, vector: Uint8Array): MaybePromise<void>;
}

/** In memory; the vector that was used longest ago goes first. */
export function memoryVectorCache(maxVectors = 2000): VectorCache {
  const kept = new Map<string, Uint8Array>();
  return {
    get(key) {
      const vector = kept.get(key);
      if (vector === undefined) return undefined;
      kept.delete(key);
      kept.set(key, vector);
      return vector;
    },
    set(key, vector) {
      kept.delete(key);
      kept.set(key, vector);
      const [oldest] = kept.keys();
      if (kept.size > maxVectors && oldest !== undefined) kept.delete(oldest);
    },
  };
}
