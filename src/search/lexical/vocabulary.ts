import { countTerms, findTerm, type KeptTerms, packTerms, termAt } from './kept-terms.ts';
import { ownText } from './own-text.ts';

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
