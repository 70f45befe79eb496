import { createTextBytes, punctuationLength } from '../text-bytes.ts';
import { KINDS, LOWER, MAX_WHOLE_LENGTH, MAX_WORD_LENGTH, SEPARATOR, UPPER } from './words.ts';

/** The words of one text after the other, without a string for each: what `eachWord` visits, as places in `letters`. */
export interface WordScan {
  /** Scans a text and says how many words it has; `OTHER_LETTERS` for one that takes `eachWord`. */
  scan(text: string): number;
  /** The bytes of the text, its letters in lower case. */
  readonly letters: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** A hash of the letters of each word. */
  readonly hashes: Int32Array;
  /** 1 for a word that was put together again from its parts. */
  readonly wholes: Uint8Array;
  word(place: number): string;
}

export const OTHER_LETTERS = -1;
const HASH_START = 0x811c9dc5 | 0;
const HASH_STEP = 0x01000193;

/** What a scan finds is overwritten by the next. Texts that are longer than `maxLength` are left to `eachWord` as well. */
export function createWordScan(maxLength: number): WordScan {
  const { bytes: letters, write } = createTextBytes(maxLength);
  // A word takes two characters with what separates it, and two parts have a whole at most.
  const [starts, ends] = [new Uint32Array(maxLength + 2), new Uint32Array(maxLength + 2)];
  const [hashes, wholes] = [new Int32Array(maxLength + 2), new Uint8Array(maxLength + 2)];
  let count = 0;

  function note(start: number, end: number, hash: number): void {
    starts[count] = start;
    ends[count] = Math.min(end, start + MAX_WORD_LENGTH);
    hashes[count] = hash;
    wholes[count] = 0;
    count += 1;
  }

  function noteWhole(start: number, end: number): void {
    let hash = HASH_START;
    for (let index = start; index < end; index += 1) hash = Math.imul(hash ^ (letters[index] as number), HASH_STEP); // within the text
    note(start, end, hash);
    wholes[count - 1] = 1;
  }

  /** Notes the words of a run of letters and digits; returns where it ends. */
  function scanRun(start: number): number {
    let index = start;
    let partStart = start;
    let parts = 1;
    let hash = HASH_START;
    let isBehindUpper = false;
    for (; ; index += 1) {
      const code = letters[index] as number; // a nought stands behind the text
      const letter = FOLDED[code] as number; // there is one for every byte
      if (letter === NO_LETTER) break;
      const isUpper = letter !== code;
      if (isUpper) {
        if (index > partStart && (!isBehindUpper || isBehindAbbreviation(letters, index))) {
          note(partStart, index, hash);
          partStart = index;
          parts += 1;
          hash = HASH_START;
        }
        letters[index] = letter;
      }
      isBehindUpper = isUpper;
      hash = Math.imul(hash ^ letter, HASH_STEP);
    }
    note(partStart, index, hash);
    if (parts > 1 && parts < 4 && index - start <= MAX_WHOLE_LENGTH) noteWhole(start, index);
    return index;
  }

  function scan(text: string): number {
    if (text.length > maxLength) return OTHER_LETTERS;
    const end = write(text);
    count = 0;
    let index = 0;
    while (index < end) {
      const code = letters[index] as number; // within the text
      if (FOLDED[code] !== NO_LETTER) {
        index = scanRun(index);
        continue;
      }
      const length = code < 128 ? 1 : punctuationLength(letters, index);
      if (length === 0) return OTHER_LETTERS;
      index += length;
    }
    return count;
  }

  return {
    ...{ scan, letters, starts, ends, hashes, wholes },
    word: (place) => letters.toString('latin1', starts[place], ends[place]),
  };
}

const NO_LETTER = 0;

/** By byte: a letter in lower case, a digit as it is, else `NO_LETTER`. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, code) => {
  if (code > 127 || KINDS[code] === SEPARATOR) return NO_LETTER;
  return KINDS[code] === UPPER ? code | 0x20 : code;
});

/** As for strings: an upper-case letter behind another one, where a word begins. */
function isBehindAbbreviation(letters: Uint8Array, index: number): boolean {
  const [next = 0, afterNext = 0] = [letters[index + 1], letters[index + 2]];
  if (KINDS[next] !== LOWER) return false;
  return next !== SMALL_S || KINDS[afterNext] === LOWER;
}

const SMALL_S = 0x73;
