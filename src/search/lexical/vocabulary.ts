import { crc32 } from 'node:zlib';
import { ownText } from './scan-words.ts';

/** The terms used by tools, numbered. The number of an unused term is given to another. */
export interface Vocabulary {
  /** The highest number in use, plus one. */
  readonly size: number;
  find(term: string): number | undefined;
  text(number: number): string;
  /** The number of a term, which is added if necessary; undefined if the vocabulary is full. */
  take(term: string): number | undefined;
  release(number: number): void;
  /** Number of releases so far. */
  readonly releases: number;
  /** Increases whenever a term gets or loses its number. */
  readonly changes: number;
  /** All terms, for a snapshot. */
  pack(): KeptTerms;
}

/** A term number must fit beside the bits of its fields. */
const MAX_TERMS = 2 ** 21;

export function createVocabulary(kept?: KeptTerms): Vocabulary {
  // A start needs only a few of the stored terms; all of them are unpacked before the first change.
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

/** Terms in a snapshot. A term can be found without creating all strings, which would delay a start. */
export interface KeptTerms {
  /** All terms by number, one per line; a free number has an empty line. Terms contain no line breaks, because these separate words. */
  readonly text: string;
  /** The start of each line, and the end of the last. */
  readonly starts: Uint32Array;
  /** A hash table: 0 for an empty slot, otherwise a number plus one. Its size is a power of two. */
  readonly slots: Uint32Array;
}

/** Packs terms by number. */
export function packTerms(terms: readonly string[]): KeptTerms {
  const starts = new Uint32Array(terms.length + 1);
  const slots = new Uint32Array(2 ** Math.ceil(Math.log2(1.5 * terms.length + 2))); // a third of the slots stays empty
  terms.forEach((term, number) => {
    starts[number + 1] = (starts[number] ?? 0) + term.length + 1;
    if (term === '') return;
    let slot = firstSlot(term, slots);
    while (slots[slot] !== 0) slot = (slot + 1) % slots.length;
    slots[slot] = number + 1;
  });
  return { text: terms.map((term) => `${term}\n`).join(''), starts, slots };
}

/** The number of term numbers, including free ones. */
export function countTerms({ starts }: KeptTerms): number {
  return starts.length - 1;
}

/** The term of a number; empty if it is free. */
export function termAt({ text, starts }: KeptTerms, number: number): string {
  return text.slice(starts[number] ?? 0, Math.max(0, (starts[number + 1] ?? 0) - 1));
}

/** The number of a term; undefined if it is unknown. */
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
