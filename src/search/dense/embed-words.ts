import { createFingerprintsOf } from './fingerprints-of.ts';
import type { WordVectors } from './model-file.ts';
import { createPlainSum, createWasmSum } from './wasm/sum-words.ts';

/** Beyond this a text says nothing new, and a megabyte of it must not cost a second. */
const MAX_CHARACTERS = 8192;

/** Texts after which it pays to add by WebAssembly, and to know where to look for a word. */
const MANY = 500;

/** Writes the sum of the weighted vectors of a text's words into an array, and returns that; noughts where none is known. */
export type EmbedInto = (text: string, into: Float32Array) => Float32Array;

/** Embeds by a model, into arrays of its dimensions. */
export function createEmbedInto(model: WordVectors): EmbedInto {
  const { dimensions } = model;
  const fingerprintsOf = createFingerprintsOf(MAX_CHARACTERS);
  let { fingerprints } = model;
  let starts: Uint32Array | undefined;
  let sums = createPlainSum(model);
  let texts = 0;
  let read: WordVectors | undefined = model;
  return (text, into) => {
    const found = fingerprintsOf(text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text);
    texts += 1;
    if (texts === MANY) hurry();
    sums.start();
    for (const wanted of found) {
      const place = placeOf(wanted);
      if (place >= 0) sums.add(place);
    }
    sums.finish();
    for (let index = 0; index < dimensions; index++) into[index] = sums.sum[index] as number; // as long as each other
    return into;
  };

  /** Few texts are not worth the copy. With all of it copied, the file need not stay in memory. */
  function hurry(): void {
    starts = startsOf(fingerprints);
    const faster = read && createWasmSum({ ...read, scales: read.scales.slice() });
    if (faster === undefined) return;
    sums = faster;
    fingerprints = fingerprints.slice();
    read = undefined;
  }

  function placeOf(wanted: number): number {
    if (starts === undefined) return placeIn(fingerprints, wanted);
    const end = starts[(wanted >>> 16) + 1] as number; // there is one for every 16 bits
    for (
      let place = starts[wanted >>> 16] as number;
      place < end;
      place++ // likewise
    )
      if (fingerprints[place] === wanted) return place;
    return -1;
  }
}

/** The place of a fingerprint in an ascending list; negative where it is not there. */
function placeIn(fingerprints: Uint32Array, wanted: number): number {
  let low = 0;
  let high = fingerprints.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((fingerprints[middle] as number) < wanted)
      low = middle + 1; // within the list
    else high = middle;
  }
  return fingerprints[low] === wanted ? low : -1;
}

/** Where the fingerprints begin that share their upper 16 bits: about one each, so that a word is found at once. */
function startsOf(fingerprints: Uint32Array): Uint32Array {
  const starts = new Uint32Array(65_537);
  let next = 0;
  for (let place = 0; place < fingerprints.length; place++) {
    const upper = (fingerprints[place] as number) >>> 16; // within the list
    while (next <= upper) starts[next++] = place;
  }
  return starts.fill(fingerprints.length, next);
}
