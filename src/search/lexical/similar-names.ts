import type { createPackedLists } from './packed-lists.ts';
import { FIELD_BITS, NAME_BIT, TITLE_BIT } from './said-terms.ts';
import { ownText } from './scan-words.ts';
import type { Vocabulary } from './vocabulary.ts';

/** The terms in names and titles, to find the one that a misspelled or unfinished word means. */
export interface NameTerms {
  add(number: number, term: string): void;
  remove(number: number, term: string): void;
  /** Terms that begin with `word`, shortest first. */
  startingWith(word: string): readonly number[];
  /** The term that differs from `word` by one letter, or by two if it is long. Of several, the shortest. */
  near(word: string): number | undefined;
}

interface Entry {
  readonly number: number;
  readonly term: string;
  /** Its letters, as bits. */
  readonly letters: number;
}

const MIN_TYPO_LENGTH = 4;
const MIN_LENGTH_FOR_TWO = 6;
const MIN_PREFIX_LENGTH = 3;
const MAX_FOUND = 3;
const REMEMBERED_WORDS = 2000;

/** An index by first letter and length: typos rarely affect the first letter. */
export function createNameTerms(): NameTerms {
  const uses = new Map<number, number>();
  const shelves = new Map<number, Entry[]>();
  // Cached results for unknown words, because requests repeat them.
  const remembered = new Map<string, number | undefined>();
  const shelfOf = (word: string, length: number) => shelves.get(shelfNumber(word, length)) ?? NO_ENTRIES;

  function findNear(word: string): number | undefined {
    const allowed = word.length >= MIN_LENGTH_FOR_TWO ? 2 : 1;
    const letters = lettersOf(word);
    const found: Entry[] = [];
    for (let reach = 1; reach <= allowed && found.length === 0; reach += 1) {
      for (let length = word.length - reach; length <= word.length + reach; length += 1)
        for (const entry of shelfOf(word, length))
          if (mayBeWithin(letters ^ entry.letters, reach) && isWithin(word, entry.term, reach)) found.push(entry);
    }
    return firstOf(found)[0];
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
      if (word.length < MIN_TYPO_LENGTH) return undefined;
      if (remembered.has(word)) return remembered.get(word);
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

/** The terms in the names and titles of an index. */
interface ToolNames {
  /** The terms of all tools below an id. Only the first call reads them, because most words are spelled correctly. */
  terms(idLimit: number): NameTerms;
  /** Adds a tool, or removes it before it leaves the index. */
  add(id: number): void;
  remove(id: number): void;
}

interface ToolNamesSources {
  readonly said: ReturnType<typeof createPackedLists>;
  readonly vocabulary: Vocabulary;
}

/** Creates the names of the tools of an index. */
export function createToolNames({ said, vocabulary }: ToolNamesSources): ToolNames {
  let terms: NameTerms | undefined;

  function visit(id: number, take: NameTerms['add']): void {
    const start = said.start(id);
    for (let at = start; at < start + said.length(id); at += 1) {
      const entry = said.data[at] ?? 0;
      if ((entry & (NAME_BIT | TITLE_BIT)) === 0) break; // names and titles come first
      take(entry >>> FIELD_BITS, vocabulary.text(entry >>> FIELD_BITS));
    }
  }

  return {
    terms(idLimit) {
      if (terms !== undefined) return terms;
      terms = createNameTerms();
      for (let id = 0; id < idLimit; id += 1) visit(id, terms.add);
      return terms;
    },
    add(id) {
      if (terms !== undefined) visit(id, terms.add);
    },
    remove(id) {
      if (terms !== undefined) visit(id, terms.remove);
    },
  };
}
