import type { WordScan } from './scan-words.ts';

/** Numbers of words that a scan has met before, found by their letters: no string is made, and none is hashed again. */
export interface KnownWords {
  /** The number of the word at a place of the scan; undefined where it is new. */
  find(scan: WordScan, place: number): number | undefined;
  /** Notes a word that is new. */
  note(scan: WordScan, place: number, number: number): void;
  /** Forgets all. */
  clear(): void;
}

const FEWEST_SLOTS = 1024;
const MAX_WORDS = 150_000;
const FREE = 0;

/** A table of open slots; its letters lie one word behind the other. */
export function createKnownWords(): KnownWords {
  let slots = new Uint32Array(FEWEST_SLOTS); // the place of a word, from 1 on
  let [hashes, ends, numbers] = [new Int32Array(256), new Uint32Array(256), new Int32Array(256)];
  let letters = new Uint8Array(2048);
  let count = 0;

  function clear(): void {
    slots.fill(FREE);
    count = 0;
  }

  function isSame(word: number, scan: WordScan, place: number): boolean {
    const start = scan.starts[place] as number; // `place` is one of the scan
    const length = (scan.ends[place] as number) - start; // likewise
    const from = word === 0 ? 0 : (ends[word - 1] as number); // a word before this one
    if ((ends[word] as number) - from !== length) return false; // `word` is noted
    for (let index = 0; index < length; index += 1)
      if (letters[from + index] !== scan.letters[start + index]) return false;
    return true;
  }

  function grow(wantedLetters: number): void {
    if (wantedLetters > letters.length) letters = copied(letters, new Uint8Array(wantedLetters * 2));
    if (count < ends.length) return;
    hashes = copied(hashes, new Int32Array(count * 2));
    ends = copied(ends, new Uint32Array(count * 2));
    numbers = copied(numbers, new Int32Array(count * 2));
  }

  function fillSlot(hash: number, word: number): void {
    const mask = slots.length - 1;
    let slot = spread(hash) & mask;
    while (slots[slot] !== FREE) slot = (slot + 1) & mask;
    slots[slot] = word + 1;
  }

  return {
    find(scan, place) {
      const hash = scan.hashes[place] as number; // `place` is one of the scan
      const mask = slots.length - 1;
      for (let slot = spread(hash) & mask; ; slot = (slot + 1) & mask) {
        const word = (slots[slot] as number) - 1; // the mask keeps it within
        if (word < 0) return undefined;
        if (hashes[word] === hash && isSame(word, scan, place)) return numbers[word];
      }
    },
    note(scan, place, number) {
      if (count >= MAX_WORDS) clear();
      const [start = 0, end = 0, hash = 0] = [scan.starts[place], scan.ends[place], scan.hashes[place]];
      const from = count === 0 ? 0 : (ends[count - 1] ?? 0);
      grow(from + end - start);
      letters.set(scan.letters.subarray(start, end), from);
      ends[count] = from + end - start;
      hashes[count] = hash;
      numbers[count] = number;
      fillSlot(hash, count);
      count += 1;
      if (count * 2 <= slots.length) return;
      slots = new Uint32Array(slots.length * 2);
      for (let word = 0; word < count; word += 1) fillSlot(hashes[word] ?? 0, word);
    },
    clear,
  };
}

/** The upper bits of a hash say more than its lower ones. */
function spread(hash: number): number {
  return hash ^ (hash >>> 15);
}

function copied<T extends Uint8Array | Uint32Array | Int32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
