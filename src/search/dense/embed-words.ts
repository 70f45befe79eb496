import { createTextBytes, punctuationLength } from '../byte-sections.ts';
import type { WordVectors } from './builtin-embedder.ts';
import { createPlainSum, createWasmSum } from './sum-words.ts';

/** Longer texts are cut: they add nothing new, and a megabyte must not cost a second. */
const MAX_CHARACTERS = 8192;

/** Number of texts after which WebAssembly and a lookup table pay off. */
const MANY = 500;

/** Writes the sum of the weighted word vectors of a text into an array and returns it; all zeros if no word is known. */
export type EmbedInto = (text: string, into: Float32Array) => Float32Array;

/** Creates the function that embeds texts with a model. */
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
    for (let index = 0; index < dimensions; index++) into[index] = sums.sum[index] as number; // both have the same length
    return into;
  };

  /** Switches to WebAssembly, which is not worth the copy for few texts. After the copy, the file need not stay in memory. */
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
    const end = starts[(wanted >>> 16) + 1] as number; // the table has an entry for every 16-bit value
    for (
      let place = starts[wanted >>> 16] as number;
      place < end;
      place++ // as above
    )
      if (fingerprints[place] === wanted) return place;
    return -1;
  }
}

/** The index of a fingerprint in an ascending list; negative if absent. */
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

/** The start index for each value of the upper 16 bits. There is about one fingerprint per value, so a lookup is immediate. */
function startsOf(fingerprints: Uint32Array): Uint32Array {
  const starts = new Uint32Array(65_537);
  let next = 0;
  for (let place = 0; place < fingerprints.length; place++) {
    const upper = (fingerprints[place] as number) >>> 16; // within the list
    while (next <= upper) starts[next++] = place;
  }
  return starts.fill(fingerprints.length, next);
}

/** Returns the fingerprints of a text's words; the result is overwritten by the next call. */
export type FingerprintsOf = (text: string) => Uint32Array;

const NOT_ASCII = -1;

/** Reads texts of at most `maxLength` characters. Most are ASCII except for punctuation; for them, no strings are created. */
export function createFingerprintsOf(maxLength: number): FingerprintsOf {
  const { bytes, write } = createTextBytes(maxLength);
  const found = new Uint32Array(maxLength);

  /** Counts the words up to `end`; `NOT_ASCII` for other scripts. */
  function findAll(end: number): number {
    let count = 0;
    let hash = FINGERPRINT_START;
    let length = 0;
    let before = OTHER;
    // The zero after the text ends its last word.
    for (let index = 0; index <= end; index++) {
      const code = bytes[index] as number; // within the text, or just after it
      const kind = KINDS[code] as number; // the table has an entry for every byte
      if (length > 0 && endsBefore(before, kind, bytes[index + 1] ?? 0)) {
        found[count++] = finishFingerprint(hash);
        hash = FINGERPRINT_START;
        length = 0;
      }
      before = kind;
      if (kind === BEYOND) {
        const bytesMore = punctuationLength(bytes, index) - 1;
        if (bytesMore < 0) return NOT_ASCII;
        index += bytesMore;
      } else if (kind !== OTHER) {
        if (length < MAX_WORD_LENGTH) hash = takeCharacter(hash, kind === UPPER ? code | 0x20 : code);
        length++;
      }
    }
    return count;
  }

  return (text) => {
    const count = findAll(write(text));
    return count === NOT_ASCII ? Uint32Array.from(wordsOf(text), fingerprint) : found.subarray(0, count);
  };
}

const OTHER = 0;
const DIGIT = 1;
const LOWER = 2;
const UPPER = 3;
const BEYOND = 4;

/** Indexed by byte. */
const KINDS = Uint8Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (code > 127) return BEYOND;
  if (/[a-z]/.test(character)) return LOWER;
  if (/[A-Z]/.test(character)) return UPPER;
  return /\d/.test(character) ? DIGIT : OTHER;
});

/** True if a word ends before a character of this kind. */
function endsBefore(before: number, kind: number, next: number): boolean {
  if (kind === LOWER) return before === DIGIT;
  if (kind === UPPER) return before !== UPPER || KINDS[next] === LOWER;
  return kind !== before;
}

/** Initial value of every fingerprint. */
const FINGERPRINT_START = 0x811c9dc5;

/** The 32-bit hash of a word in the model file. It is part of the file format: a change requires a new version. */
export function fingerprint(word: string): number {
  let hash = FINGERPRINT_START;
  for (let index = 0; index < word.length; index++) hash = takeCharacter(hash, word.charCodeAt(index));
  return finishFingerprint(hash);
}

/** Adds one character to an unfinished fingerprint. */
function takeCharacter(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193);
}

/** Spreads the bits, because the last characters would not affect the high ones. */
function finishFingerprint(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Longer words are cut, so that a megabyte without a space costs nothing. */
const MAX_WORD_LENGTH = 40;

const CASE_CHANGE = /(\p{Ll}|\d)(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu;
const WORD = /\p{L}[\p{L}\p{M}]*|\p{N}+/gu;

/** Splits a text into lower-case words; names are split at case changes, digits and punctuation. */
export function wordsOf(text: string): readonly string[] {
  const spaced = text.normalize('NFKC').replaceAll(CASE_CHANGE, '$& ').toLowerCase();
  const words = spaced.match(WORD) ?? [];
  return words.map((word) => (word.length > MAX_WORD_LENGTH ? word.slice(0, MAX_WORD_LENGTH) : word));
}
