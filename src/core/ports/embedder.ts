import type { MaybePromise } from '../json.ts';

/** Turns texts into vectors whose angles say how close their meanings are. */
export interface Embedder {
  /** Tells models apart: vectors of one are never compared with those of another. */
  readonly model: string;
  /** One vector a text, all of one length, in order; noughts for a text that says nothing. Rejects if there are none to be had. */
  embed(texts: readonly string[]): MaybePromise<readonly Float32Array[]>;
}
