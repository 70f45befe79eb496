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
  /** All terms by number; empty text for a free one. */
  all(): readonly string[];
}

/** A term has to fit beside the bits of its fields. */
const MAX_TERMS = 2 ** 22;

export function createVocabulary(kept: readonly string[] = []): Vocabulary {
  const texts = [...kept];
  const numbers = new Map<string, number>();
  const free: number[] = [];
  let releases = 0;
  texts.forEach((text, number) => {
    if (text === '') free.push(number);
    else numbers.set(text, number);
  });
  return {
    get size() {
      return texts.length;
    },
    find: (term) => numbers.get(term),
    text: (number) => texts[number] ?? '',
    take(term) {
      const known = numbers.get(term);
      if (known !== undefined) return known;
      if (free.length === 0 && texts.length >= MAX_TERMS) return undefined;
      const number = free.pop() ?? texts.length;
      const own = ownText(term);
      texts[number] = own;
      numbers.set(own, number);
      return number;
    },
    release(number) {
      numbers.delete(texts[number] ?? '');
      texts[number] = '';
      free.push(number);
      releases += 1;
    },
    get releases() {
      return releases;
    },
    all: () => texts,
  };
}
