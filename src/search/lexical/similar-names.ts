import { ownText } from './scan-words.ts';

/** The terms in names, to find the one that a misspelled or unfinished word means. */
export interface NameTerms {
  add(number: number, term: string): void;
  remove(number: number, term: string): void;
  /** Terms that begin with `word`, shortest first. */
  startingWith(word: string): readonly number[];
  /** Terms that differ from `word` by one letter, or by two if it is long. */
  near(word: string): readonly number[];
}

interface Entry {
  readonly number: number;
  readonly term: string;
  /** Its letters, as bits. */
  readonly letters: number;
}

const MIN_TYPO_LENGTH = 4;
const MIN_LENGTH_FOR_TWO = 8;
const MIN_PREFIX_LENGTH = 3;
const MAX_FOUND = 3;
const REMEMBERED_WORDS = 2000;

/** An index by first letter and length: typos rarely affect the first letter. */
export function createNameTerms(): NameTerms {
  const uses = new Map<number, number>();
  const shelves = new Map<number, Entry[]>();
  // Cached results for unknown words, because requests repeat them.
  const remembered = new Map<string, readonly number[]>();
  const shelfOf = (word: string, length: number) => shelves.get(shelfNumber(word, length)) ?? NO_ENTRIES;

  function findNear(word: string): readonly number[] {
    const allowed = word.length >= MIN_LENGTH_FOR_TWO ? 2 : 1;
    const letters = lettersOf(word);
    const found: Entry[] = [];
    for (let reach = 1; reach <= allowed && found.length === 0; reach += 1) {
      for (let length = word.length - reach; length <= word.length + reach; length += 1)
        for (const entry of shelfOf(word, length))
          if (mayBeWithin(letters ^ entry.letters, reach) && isWithin(word, entry.term, reach)) found.push(entry);
    }
    return firstOf(found);
  }

  return {
    add(number, term) {
      const before = uses.get(number) ?? 0;
      uses.set(number, before + 1);
      if (before > 0) return;
      remembered.clear();
      const entry = { number, term, letters: lettersOf(term) };
      const key = shelfNumber(term, term.length);
      const shelf = shelves.get(key);
      if (shelf === undefined) shelves.set(key, [entry]);
      else shelf.push(entry);
    },
    remove(number, term) {
      const before = uses.get(number) ?? 0;
      if (before > 1) {
        uses.set(number, before - 1);
        return;
      }
      uses.delete(number);
      remembered.clear();
      const key = shelfNumber(term, term.length);
      shelves.set(
        key,
        (shelves.get(key) ?? []).filter((entry) => entry.number !== number),
      );
    },
    startingWith(word) {
      if (word.length < MIN_PREFIX_LENGTH) return [];
      const found: Entry[] = [];
      for (let length = word.length + 1; length <= word.length + 8 && found.length < MAX_FOUND; length += 1)
        found.push(...shelfOf(word, length).filter(({ term }) => term.startsWith(word)));
      return firstOf(found);
    },
    near(word) {
      if (word.length < MIN_TYPO_LENGTH) return [];
      const known = remembered.get(word);
      if (known !== undefined) return known;
      const found = findNear(word);
      if (remembered.size >= REMEMBERED_WORDS) remembered.clear();
      remembered.set(ownText(word), found);
      return found;
    },
  };
}

const NO_ENTRIES: readonly Entry[] = [];
/** Longer than any term. */
const LENGTHS = 128;

function shelfNumber(word: string, length: number): number {
  return word.charCodeAt(0) * LENGTHS + length;
}

/** One bit per letter of a word; letters beyond English share bits. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let index = 0; index < word.length; index += 1) letters |= 1 << (word.charCodeAt(index) & 31);
  return letters;
}

/** False if more letters differ than typos can explain (two each): most words fail here. */
function mayBeWithin(differing: number, reach: number): boolean {
  let rest = differing;
  for (let letter = 0; letter < 2 * reach; letter += 1) rest &= rest - 1;
  return rest === 0;
}

// By spelling, so that the order of additions does not matter.
function firstOf(found: readonly Entry[]): readonly number[] {
  return found
    .toSorted((a, b) => a.term.length - b.term.length || (a.term < b.term ? -1 : 1))
    .slice(0, MAX_FOUND)
    .map(({ number }) => number);
}

/** True if at most `reach` insertions, deletions, replacements or swaps turn one word into the other, from the given positions. */
function isWithin(a: string, b: string, reach: number, atA = 0, atB = 0): boolean {
  let inA = atA;
  let inB = atB;
  while (inA < a.length && inB < b.length && a.charCodeAt(inA) === b.charCodeAt(inB)) {
    inA += 1;
    inB += 1;
  }
  const restA = a.length - inA;
  const restB = b.length - inB;
  if (restA === 0 || restB === 0) return restA + restB <= reach;
  if (reach === 0 || Math.abs(restA - restB) > reach) return false;
  const isSwapped = a.charCodeAt(inA) === b.charCodeAt(inB + 1) && a.charCodeAt(inA + 1) === b.charCodeAt(inB);
  return (
    (isSwapped && isWithin(a, b, reach - 1, inA + 2, inB + 2)) ||
    isWithin(a, b, reach - 1, inA + 1, inB + 1) ||
    isWithin(a, b, reach - 1, inA + 1, inB) ||
    isWithin(a, b, reach - 1, inA, inB + 1)
  );
}
