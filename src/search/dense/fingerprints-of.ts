import { createTextBytes, punctuationLength } from '../text-bytes.ts';

/** The fingerprints of a text's words; what it returns is overwritten by the next. */
export type FingerprintsOf = (text: string) => Uint32Array;

const NOT_ASCII = -1;

/** Reads texts of at most `maxLength` characters. Most are ASCII but for punctuation, and no string is made of their words. */
export function createFingerprintsOf(maxLength: number): FingerprintsOf {
  const { bytes, write } = createTextBytes(maxLength);
  const found = new Uint32Array(maxLength);

  /** How many words the bytes have up to an end; `NOT_ASCII` where they are of another script. */
  function findAll(end: number): number {
    let count = 0;
    let hash = FINGERPRINT_START;
    let length = 0;
    let before = OTHER;
    // The nought behind the text ends its last word.
    for (let index = 0; index <= end; index++) {
      const code = bytes[index] as number; // within the text, or behind it
      const kind = KINDS[code] as number; // there is one for every byte
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

/** By byte. */
const KINDS = Uint8Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (code > 127) return BEYOND;
  if (/[a-z]/.test(character)) return LOWER;
  if (/[A-Z]/.test(character)) return UPPER;
  return /\d/.test(character) ? DIGIT : OTHER;
});

/** Whether a word ends before a character of this kind. */
function endsBefore(before: number, kind: number, next: number): boolean {
  if (kind === LOWER) return before === DIGIT;
  if (kind === UPPER) return before !== UPPER || KINDS[next] === LOWER;
  return kind !== before;
}

/** Where the fingerprint of every word begins. */
const FINGERPRINT_START = 0x811c9dc5;

/** 32 bits that stand for a word in the model file. Part of the format: another formula needs another version. */
export function fingerprint(word: string): number {
  let hash = FINGERPRINT_START;
  for (let index = 0; index < word.length; index++) hash = takeCharacter(hash, word.charCodeAt(index));
  return finishFingerprint(hash);
}

/** The fingerprint with one more character; to be finished. */
function takeCharacter(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193);
}

/** The last characters would leave the high bits as they are; this spreads them. */
function finishFingerprint(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** A word longer than this is no word; it is cut, so that a megabyte without a space costs nothing. */
const MAX_WORD_LENGTH = 40;

const CASE_CHANGE = /(\p{Ll}|\d)(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu;
const WORD = /\p{L}[\p{L}\p{M}]*|\p{N}+/gu;

/** The words of a text in lower case; names are split at case changes, digits and punctuation. */
export function wordsOf(text: string): readonly string[] {
  const spaced = text.normalize('NFKC').replaceAll(CASE_CHANGE, '$& ').toLowerCase();
  const words = spaced.match(WORD) ?? [];
  return words.map((word) => (word.length > MAX_WORD_LENGTH ? word.slice(0, MAX_WORD_LENGTH) : word));
}
