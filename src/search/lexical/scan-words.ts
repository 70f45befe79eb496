import { createTextBytes, grown, punctuationLength } from '../byte-sections.ts';
import { KINDS, LOWER, MAX_WHOLE_LENGTH, MAX_WORD_LENGTH, SEPARATOR, UPPER } from './split-words.ts';

/** Scans the words of texts without creating strings: the same words as `eachWord`, as positions in `letters`. */
export interface WordScan {
  /** Scans a text and returns the number of words; `OTHER_LETTERS` for a text that needs `eachWord`. */
  scan(text: string): number;
  /** The bytes of the text, with letters in lower case. */
  readonly letters: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** The hash of each word. */
  readonly hashes: Int32Array;
  /** 1 for a word that was joined from its parts. */
  readonly wholes: Uint8Array;
  word(place: number): string;
}

export const OTHER_LETTERS = -1;
const HASH_START = 0x811c9dc5 | 0;
const HASH_STEP = 0x01000193;

/** Creates a scan, whose results are overwritten by the next one. Texts longer than `maxLength` also need `eachWord`. */
export function createWordScan(maxLength: number): WordScan {
  const { bytes: letters, write } = createTextBytes(maxLength);
  // A word with its separator takes two characters, and two parts have at most one joined word.
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

  /** Records the words of a run of letters and digits; returns its end. */
  function scanRun(start: number): number {
    let index = start;
    let partStart = start;
    let parts = 1;
    let hash = HASH_START;
    let isBehindUpper = false;
    for (; ; index += 1) {
      const code = letters[index] as number; // the text is followed by a zero
      const letter = FOLDED[code] as number; // the table has an entry for every byte
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

/** By byte: a letter in lower case, a digit unchanged, else `NO_LETTER`. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, code) => {
  if (code > 127 || KINDS[code] === SEPARATOR) return NO_LETTER;
  return KINDS[code] === UPPER ? code | 0x20 : code;
});

/** True for an upper-case letter after another one, at which a word begins; as in `eachWord`. */
function isBehindAbbreviation(letters: Uint8Array, index: number): boolean {
  const [next = 0, afterNext = 0] = [letters[index + 1], letters[index + 2]];
  if (KINDS[next] !== LOWER) return false;
  return next !== SMALL_S || KINDS[afterNext] === LOWER;
}

const SMALL_S = 0x73;

/** Numbers of words that were scanned before, found by their bytes, without creating strings. */
export interface KnownWords {
  /** The number of the word at a position of the scan; undefined if it is new. */
  find(scan: WordScan, place: number): number | undefined;
  /** Records a new word. */
  note(scan: WordScan, place: number, number: number): void;
  /** Forgets all. */
  clear(): void;
}

const FEWEST_SLOTS = 1024;
const MAX_WORDS = 150_000;

// The fields of a slot are side by side: looking up a known word takes one memory access, and one for its letters.
const SLOT_SIZE = 4;
const HASH = 0;
const NUMBER = 1;
const START = 2;
const LENGTH = 3; // 0 in a free slot

/** A hash table with open addressing; the letters of all words are in one array. */
export function createKnownWords(): KnownWords {
  let slots = new Int32Array(FEWEST_SLOTS * SLOT_SIZE);
  let letters = new Uint8Array(2048);
  let lettersUsed = 0;
  let count = 0;

  function clear(): void {
    slots.fill(0);
    count = lettersUsed = 0;
  }

  function isSame(slot: number, scan: WordScan, place: number): boolean {
    const from = scan.starts[place] as number; // `place` is a position of the scan
    const length = (scan.ends[place] as number) - from; // as above
    if (slots[slot + LENGTH] !== length) return false;
    const start = slots[slot + START] as number; // a slot has all four fields
    for (let index = 0; index < length; index += 1)
      if (letters[start + index] !== scan.letters[from + index]) return false;
    return true;
  }

  /** Doubles the number of slots. */
  function grow(): void {
    const before = slots;
    slots = new Int32Array(before.length * 2);
    for (let slot = 0; slot < before.length; slot += SLOT_SIZE) {
      if (before[slot + LENGTH] !== 0)
        slots.set(before.subarray(slot, slot + SLOT_SIZE), freeSlot(before[slot] as number)); // as above
    }
  }

  function freeSlot(hash: number): number {
    let slot = firstSlot(hash, slots.length);
    while (slots[slot + LENGTH] !== 0) slot = nextSlot(slot, slots.length);
    return slot;
  }

  return {
    find(scan, place) {
      const hash = scan.hashes[place] as number; // `place` is a position of the scan
      const size = slots.length;
      for (let slot = firstSlot(hash, size); slots[slot + LENGTH] !== 0; slot = nextSlot(slot, size)) {
        if (slots[slot + HASH] === hash && isSame(slot, scan, place)) return slots[slot + NUMBER];
      }
      return undefined;
    },
    note(scan, place, number) {
      if (count >= MAX_WORDS) clear();
      if ((count + 1) * SLOT_SIZE * 2 > slots.length) grow();
      const [start = 0, end = 0, hash = 0] = [scan.starts[place], scan.ends[place], scan.hashes[place]];
      const word = scan.letters.subarray(start, end);
      if (lettersUsed + word.length > letters.length) letters = grown(letters, (lettersUsed + word.length) * 2);
      letters.set(word, lettersUsed);
      slots.set([hash, number, lettersUsed, word.length], freeSlot(hash));
      lettersUsed += word.length;
      count += 1;
    },
    clear,
  };
}

/** The first slot for a hash; its upper bits are mixed in, because they vary more. */
function firstSlot(hash: number, size: number): number {
  return Math.imul(hash ^ (hash >>> 15), SLOT_SIZE) & (size - 1);
}

function nextSlot(slot: number, size: number): number {
  return (slot + SLOT_SIZE) & (size - 1);
}

/** Copies a text, because a slice would keep the whole original text in memory. */
export function ownText(slice: string): string {
  return slice.length < 13 ? slice : Buffer.from(slice).toString(); // the engine copies shorter slices itself
}
