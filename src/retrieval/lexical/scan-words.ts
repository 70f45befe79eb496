import { isBehindAbbreviation, KINDS, MAX_WHOLE_LENGTH, MAX_WORD_LENGTH, SEPARATOR, UPPER } from './words.ts';

/** The words of one text after the other, without a string for each: what `eachWord` visits, as places in `letters`. */
export interface WordScan {
  /** Scans a text and says how many words it has; `OTHER_LETTERS` for one that takes `eachWord`. */
  scan(text: string): number;
  /** The text in lower case. */
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
  const letters = new Uint8Array(maxLength);
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

  function scan(text: string): number {
    if (text.length > maxLength) return OTHER_LETTERS;
    count = 0;
    let start = 0; // of the run of letters and digits
    let partStart = 0;
    let parts = 0; // nought between runs
    let hash = HASH_START;
    let before = SEPARATOR;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      const kind = code < 128 ? (KINDS[code] as number) : SEPARATOR; // there is one for every ASCII code
      if (code > 127 && !isPunctuation(code)) return OTHER_LETTERS;
      if (kind === SEPARATOR) {
        if (parts > 0) note(partStart, index, hash);
        if (parts > 1 && parts < 4 && index - start <= MAX_WHOLE_LENGTH) noteWhole(start, index);
        parts = 0;
      } else if (parts === 0) {
        start = partStart = index;
        parts = 1;
        hash = HASH_START;
      } else if (kind === UPPER && (before !== UPPER || isBehindAbbreviation(text, index))) {
        note(partStart, index, hash);
        partStart = index;
        parts += 1;
        hash = HASH_START;
      }
      const letter = kind === UPPER ? code | 0x20 : code;
      letters[index] = letter;
      if (index - partStart < MAX_WORD_LENGTH) hash = Math.imul(hash ^ letter, HASH_STEP);
      before = kind;
    }
    if (parts > 0) note(partStart, text.length, hash);
    if (parts > 1 && parts < 4 && text.length - start <= MAX_WHOLE_LENGTH) noteWhole(start, text.length);
    return count;
  }

  return {
    ...{ scan, letters, starts, ends, hashes, wholes },
    word: (place) => String.fromCharCode(...letters.subarray(starts[place], ends[place])),
  };
}

/** Dashes, quotation marks, ellipses and spaces of many kinds: they stand in many a text that is ASCII but for them. */
function isPunctuation(code: number): boolean {
  return code >= 0x2000 && code < 0x2060;
}
