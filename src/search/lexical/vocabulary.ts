import { crc32 } from 'node:zlib';
import { ownText } from './scan-words.ts';

/** The terms that tools use, numbered; a number whose term nobody uses any more is given to another. */
export interface Vocabulary {
  /** One more than the highest number in use. */
  readonly size: number;
  find(term: string): number | undefined;
  text(number: number): string;
  /** The number of a term, a new one if need be; undefined where there is no room for more. */
  take(term: string): number | undefined;
  release(number: number): void;
  /** How many numbers were released so far. */
  readonly releases: number;
  /** Rises whenever a term gets a number or loses it. */
  readonly changes: number;
  /** All terms, to be kept. */
  pack(): KeptTerms;
}

/** A term has to fit beside the bits of its fields. */
const MAX_TERMS = 2 ** 22;

export function createVocabulary(kept?: KeptTerms): Vocabulary {
  // A start asks for a few of the terms that were kept; all of them are unpacked before one changes.
  let packed = kept;
  const texts: string[] = [];
  const numbers = new Map<string, number>();
  const free: number[] = [];
  let releases = 0;
  let changes = 0;
  function unpack(): void {
    if (packed === undefined) return;
    for (let number = 0; number < countTerms(packed); number += 1) {
      const text = termAt(packed, number);
      texts.push(text);
      if (text === '') free.push(number);
      else numbers.set(text, number);
    }
    packed = undefined;
  }
  return {
    get size() {
      return packed === undefined ? texts.length : countTerms(packed);
    },
    find: (term) => (packed === undefined ? numbers.get(term) : findTerm(packed, term)),
    text: (number) => (packed === undefined ? (texts[number] ?? '') : termAt(packed, number)),
    take(term) {
      unpack();
      const known = numbers.get(term);
      if (known !== undefined) return known;
      if (free.length === 0 && texts.length >= MAX_TERMS) return undefined;
      const number = free.pop() ?? texts.length;
      const own = ownText(term);
      texts[number] = own;
      numbers.set(own, number);
      changes += 1;
      return number;
    },
    release(number) {
      unpack();
      numbers.delete(texts[number] ?? '');
      texts[number] = '';
      free.push(number);
      releases += 1;
      changes += 1;
    },
    get releases() {
      return releases;
    },
    get changes() {
      return changes;
    },
    pack: () => packed ?? packTerms(texts),
  };
}

/** Terms as a snapshot keeps them: one is found without making a string of each, which a start would wait for. */
export interface KeptTerms {
  /** All of them by number, a line each; a free number has an empty one. No term holds a line break: it separates words. */
  readonly text: string;
  /** Where the line of each number begins; one more for the end. */
  readonly starts: Uint32Array;
  /** A hash table: 0 for an empty slot, otherwise one more than a number. Its size is a power of two. */
  readonly slots: Uint32Array;
}

/** Packs terms by number. */
export function packTerms(terms: readonly string[]): KeptTerms {
  const starts = new Uint32Array(terms.length + 1);
  const slots = new Uint32Array(2 ** Math.ceil(Math.log2(1.5 * terms.length + 2))); // a third of them stays empty
  terms.forEach((term, number) => {
    starts[number + 1] = (starts[number] ?? 0) + term.length + 1;
    if (term === '') return;
    let slot = firstSlot(term, slots);
    while (slots[slot] !== 0) slot = (slot + 1) % slots.length;
    slots[slot] = number + 1;
  });
  return { text: terms.map((term) => `${term}\n`).join(''), starts, slots };
}

/** How many numbers there are, free ones as well. */
export function countTerms({ starts }: KeptTerms): number {
  return starts.length - 1;
}

/** The term of a number; empty where that is free. */
export function termAt({ text, starts }: KeptTerms, number: number): string {
  return text.slice(starts[number] ?? 0, Math.max(0, (starts[number + 1] ?? 0) - 1));
}

/** The number of a term; undefined where there is none. */
export function findTerm(kept: KeptTerms, term: string): number | undefined {
  const { slots } = kept;
  const first = firstSlot(term, slots);
  for (let step = 0; step < slots.length; step += 1) {
    const number = (slots[(first + step) % slots.length] ?? 0) - 1;
    if (number < 0) return undefined;
    if (termAt(kept, number) === term) return number;
  }
  return undefined;
}

function firstSlot(term: string, slots: Uint32Array): number {
  return crc32(term) % slots.length;
}
