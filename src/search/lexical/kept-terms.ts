import { crc32 } from 'node:zlib';

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
