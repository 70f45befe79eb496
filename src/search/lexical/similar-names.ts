import { ownText } from './scan-words.ts';

/** Terms that stand in names, to find the one that a mistyped or unfinished word means. */
export interface NameTerms {
  add(number: number, term: string): void;
  remove(number: number, term: string): void;
  /** Terms that `word` begins, shortest first. */
  startingWith(word: string): readonly number[];
  /** Terms that differ from `word` by a letter, or by two where it is long. */
  near(word: string): readonly number[];
}

interface Entry {
  readonly number: number;
  readonly term: string;
  /** Which letters it has. */
  readonly letters: number;
}

const MIN_TYPO_LENGTH = 4;
const MIN_LENGTH_FOR_TWO = 8;
const MIN_PREFIX_LENGTH = 3;
const MAX_FOUND = 3;
const REMEMBERED_WORDS = 2000;

/** An index by first letter and length: who mistypes a word mostly gets its first letter right. */
export function createNameTerms(): NameTerms {
  const uses = new Map<number, number>();
  const shelves = new Map<number, Entry[]>();
  // What words that no tool says are near to: requests repeat them, too.
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
/** More than a term is long. */
const LENGTHS = 128;

function shelfNumber(word: string, length: number): number {
  return word.charCodeAt(0) * LENGTHS + length;
}

/** A bit for each letter of a word; others than English ones share bits. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let index = 0; index < word.length; index += 1) letters |= 1 << (word.charCodeAt(index) & 31);
  return letters;
}

/** False where more letters differ than typos can account for, two each: most words fail here. */
function mayBeWithin(differing: number, reach: number): boolean {
  let rest = differing;
  for (let letter = 0; letter < 2 * reach; letter += 1) rest &= rest - 1;
  return rest === 0;
}

// By spelling, so that the order in which tools came does not matter.
function firstOf(found: readonly Entry[]): readonly number[] {
  return found
    .toSorted((a, b) => a.term.length - b.term.length || (a.term < b.term ? -1 : 1))
    .slice(0, MAX_FOUND)
    .map(({ number }) => number);
}

/** True where `reach` letters put in, left out, replaced or swapped with the next make one word of the other, from a place on in each. */
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
