import { readModel, type WordVectors, writeModel } from '../../src/search/dense/builtin-embedder.ts';
import { createEmbedInto, fingerprint } from '../../src/search/dense/embed-words.ts';

/** A clock that stands still and never rings. */
export const stillClock = { now: () => 0, setTimer: () => () => undefined };

/** Numbers from -1 to 1 that are the same for the same seed. */
export function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state / 2_147_483_648;
  };
}

/** A model that knows these words, each with a direction of its own. */
export function modelOf(words: readonly string[], dimensions = 16): Uint8Array {
  return writeModel(partsOf(words, dimensions));
}

/** Embeds one text after the other by the bytes of a model. */
export function embedBy(file: Uint8Array): (text: string) => Float32Array {
  const model = readModel(file, 'a model');
  const embedInto = createEmbedInto(model);
  return (text) => embedInto(text, new Float32Array(model.dimensions));
}

function partsOf(words: readonly string[], dimensions: number): Omit<WordVectors, 'checksum'> {
  const next = numbersFrom(words.length);
  const fingerprints = Uint32Array.from(new Set(words.map(fingerprint))).sort();
  return {
    dimensions,
    fingerprints,
    scales: new Float32Array(fingerprints.length).fill(0.01),
    vectors: Int8Array.from({ length: fingerprints.length * dimensions }, () => Math.round(next() * 127)),
  };
}
