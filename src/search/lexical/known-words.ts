import { grown } from '../grow.ts';
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

// What a slot holds, side by side: a look at a word that is known takes one from memory, and one at its letters.
const SLOT_SIZE = 4;
const HASH = 0;
const NUMBER = 1;
const START = 2;
const LENGTH = 3; // nought in a slot that is free

/** A table of open slots; its letters lie one word behind the other. */
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
    const from = scan.starts[place] as number; // `place` is one of the scan
    const length = (scan.ends[place] as number) - from; // likewise
    if (slots[slot + LENGTH] !== length) return false;
    const start = slots[slot + START] as number; // a slot has all four
    for (let index = 0; index < length; index += 1)
      if (letters[start + index] !== scan.letters[from + index]) return false;
    return true;
  }

  /** The slots twice as large. */
  function grow(): void {
    const before = slots;
    slots = new Int32Array(before.length * 2);
    for (let slot = 0; slot < before.length; slot += SLOT_SIZE) {
      if (before[slot + LENGTH] !== 0)
        slots.set(before.subarray(slot, slot + SLOT_SIZE), freeSlot(before[slot] as number)); // likewise
    }
  }

  function freeSlot(hash: number): number {
    let slot = firstSlot(hash, slots.length);
    while (slots[slot + LENGTH] !== 0) slot = nextSlot(slot, slots.length);
    return slot;
  }

  return {
    find(scan, place) {
      const hash = scan.hashes[place] as number; // `place` is one of the scan
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

/** Where a word is looked for first; the upper bits of a hash say more than its lower ones. */
function firstSlot(hash: number, size: number): number {
  return Math.imul(hash ^ (hash >>> 15), SLOT_SIZE) & (size - 1);
}

function nextSlot(slot: number, size: number): number {
  return (slot + SLOT_SIZE) & (size - 1);
}
