import { writeModel } from '../../src/search/dense/builtin-embedder.ts';
import { fingerprint } from '../../src/search/dense/embed-words.ts';
import type { Vocabulary } from './vocabulary.ts';
import { vectorOf, type WordModel } from './word-model.ts';

const MOST_STEPS = 127;

/** The file of a trained model: vectors rounded to bytes, in the order of the words' fingerprints. */
export function packModel(model: WordModel, vocabulary: Vocabulary): Uint8Array {
  const places = new Map<number, number>();
  // Of two words with one fingerprint the first stays: it is the more frequent.
  for (const [index, word] of vocabulary.words.entries()) {
    const print = fingerprint(word);
    if (!places.has(print)) places.set(print, index);
  }
  const fingerprints = Uint32Array.from(places.keys()).sort();
  const dimensions = model.map.length;
  const scales = new Float32Array(fingerprints.length);
  const vectors = new Int8Array(fingerprints.length * dimensions);
  for (const [place, print] of fingerprints.entries()) {
    const vector = vectorOf(model, places.get(print) ?? 0);
    const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    scales[place] = largest / MOST_STEPS;
    for (const [index, value] of vector.entries()) {
      vectors[place * dimensions + index] = largest === 0 ? 0 : Math.round((value / largest) * MOST_STEPS);
    }
  }
  return writeModel({ dimensions, fingerprints, scales, vectors });
}
