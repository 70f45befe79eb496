import { fingerprintsOf } from './fingerprints-of.ts';
import type { WordVectors } from './model-file.ts';

/** Beyond this a text says nothing new, and a megabyte of it must not cost a second. */
const MAX_CHARACTERS = 8192;

/** The sum of the weighted vectors of a text's words; noughts where none is known. */
export type EmbedWords = (text: string) => Float32Array;

/** Embeds by a model. */
export function createEmbedWords(model: WordVectors): EmbedWords {
  const { dimensions, fingerprints, scales, vectors } = model;
  const starts = startsOf(fingerprints);
  // Of the kind that numbers are added in: rounding each step would take as long as the sum itself.
  const sum = new Float64Array(dimensions);
  return (text) => {
    sum.fill(0);
    for (const wanted of fingerprintsOf(text.slice(0, MAX_CHARACTERS))) {
      const place = placeOf(wanted);
      if (place >= 0) addWord(place);
    }
    return new Float32Array(sum);
  };

  function addWord(place: number): void {
    const scale = scales[place] ?? 0;
    const first = place * dimensions;
    for (let index = 0; index < dimensions; index++) {
      sum[index] = (sum[index] ?? 0) + scale * (vectors[first + index] ?? 0);
    }
  }

  function placeOf(wanted: number): number {
    const end = starts[(wanted >>> 16) + 1] ?? 0;
    for (let place = starts[wanted >>> 16] ?? 0; place < end; place++) if (fingerprints[place] === wanted) return place;
    return -1;
  }
}

/** Where the fingerprints begin that share their upper 16 bits: about one each, so that a word is found at once. */
function startsOf(fingerprints: Uint32Array): Uint32Array {
  const starts = new Uint32Array(65_537);
  for (const value of fingerprints) starts[(value >>> 16) + 1] = (starts[(value >>> 16) + 1] ?? 0) + 1;
  for (let index = 1; index < starts.length; index++) starts[index] = (starts[index] ?? 0) + (starts[index - 1] ?? 0);
  return starts;
}
