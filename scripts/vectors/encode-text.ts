import { addScaled, dot, normOf, rowAt, scale } from './rows.ts';
import type { WordModel } from './word-model.ts';

/** A text on its way through the model, with what the way back needs. */
export interface EncodedText {
  readonly words: Int32Array;
  /** The weighted sum of the words' base vectors. */
  readonly base: Float32Array;
  /** Of length 1. */
  readonly vector: Float32Array;
  readonly norm: number;
  /** What the loss says about `vector`. */
  readonly gradient: Float32Array;
}

/** The direction of the weighted sum of the words. */
export function encodeText(model: WordModel, words: Int32Array): EncodedText {
  const base = new Float32Array(model.base[0]?.length ?? 0);
  const vector = new Float32Array(model.map.length);
  for (const word of words) {
    const weight = Math.exp(model.logWeights[word] ?? 0);
    addScaled(base, rowAt(model.base, word), weight);
    addScaled(vector, rowAt(model.own, word), weight);
  }
  for (const [index, row] of model.map.entries()) vector[index] = (vector[index] ?? 0) + dot(row, base);
  const norm = Math.max(normOf(vector), 1e-6);
  scale(vector, 1 / norm);
  return { words, base, vector, norm, gradient: new Float32Array(vector.length) };
}

/** Collects what a batch says about the parts of the model. */
export interface Gradients {
  readonly map: readonly Float32Array[];
  readonly own: Map<number, Float32Array>;
  readonly logWeights: Map<number, number>;
}

/** Adds what the loss says about one text to what it says about the model. */
export function traceBack(model: WordModel, text: EncodedText, gradients: Gradients): void {
  const turn = Float32Array.from(text.gradient);
  // Only the direction of a text counts, so what would change its length is dropped.
  addScaled(turn, text.vector, -dot(turn, text.vector));
  scale(turn, 1 / text.norm);
  const onBase = new Float32Array(text.base.length);
  for (const [index, row] of model.map.entries()) {
    addScaled(rowAt(gradients.map, index), text.base, turn[index] ?? 0);
    addScaled(onBase, row, turn[index] ?? 0);
  }
  for (const word of text.words) {
    const weight = Math.exp(model.logWeights[word] ?? 0);
    const own = gradients.own.get(word) ?? new Float32Array(turn.length);
    gradients.own.set(word, own);
    addScaled(own, turn, weight);
    const onWeight = dot(turn, rowAt(model.own, word)) + dot(onBase, rowAt(model.base, word));
    gradients.logWeights.set(word, (gradients.logWeights.get(word) ?? 0) + weight * onWeight);
  }
}
