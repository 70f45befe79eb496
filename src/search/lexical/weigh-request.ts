import { PARAMETERS } from '../tuning.ts';
import { pairOf } from './count-terms.ts';
import { type ExactRequest, toExactRequest } from './exact-request.ts';
import { createKnownWords, createWordScan, OTHER_LETTERS, ownText } from './scan-words.ts';
import type { NameTerms } from './similar-names.ts';
import { eachWord } from './split-words.ts';
import { termOf } from './terms.ts';
import type { Vocabulary } from './vocabulary.ts';

/** The weighted terms of a request. */
export interface WeighedRequest {
  readonly terms: readonly WeightedTerm[];
  /** By term number: the first entry in `terms`. */
  readonly byNumber: RareNumbers<WeightedTerm>;
  /** Weights of pairs of consecutive terms, encoded by `pairOf`. */
  readonly pairs: RareNumbers<number>;
  /** Undefined for a request that cannot be a name or title: too long, or with a word that no tool contains. */
  readonly exact: ExactRequest | undefined;
}

/** A term that some tool contains, with its weight in this request. */
interface WeightedTerm {
  readonly number: number;
  readonly word: string;
  readonly weight: number;
}

/** The inputs for weighing requests. */
export interface Scales {
  readonly vocabulary: Vocabulary;
  /** The inverse document frequency of a term. */
  rarity(number: number): number;
  /** The terms of names, to guess the meaning of an unknown word. */
  names(): NameTerms;
}

const MAX_WORDS_OF_PREFIX_SEARCH = 4;

/** Creates a function that weighs the words of a request. */
export function createWeighRequest({ vocabulary, rarity, names }: Scales): (request: string) => WeighedRequest {
  const eachWord = createAskedWords(vocabulary);

  /** Guesses the terms that an unknown word may mean. */
  function guesses(word: string, isUnfinished: boolean): readonly Guess[] {
    if (/\d/.test(word)) return [];
    const begun = isUnfinished ? names().startingWith(word) : [];
    if (begun.length > 0) return begun.map((number) => ({ number, share: PARAMETERS.prefix }));
    return names()
      .near(word)
      .map((number) => ({ number, share: PARAMETERS.typo }));
  }

  function weighTerms({ terms: asked }: RequestTerms): readonly WeightedTerm[] {
    const terms: WeightedTerm[] = [];
    asked.forEach(({ term, number, word, count, isWhole }, place) => {
      if (number !== undefined) {
        terms.push({ number, word, weight: rarity(number) * count ** PARAMETERS.repetition });
        return;
      }
      const isUnfinished = place === asked.length - 1 && asked.length <= MAX_WORDS_OF_PREFIX_SEARCH;
      for (const guess of isWhole ? [] : guesses(term, isUnfinished))
        terms.push({ number: guess.number, word, weight: rarity(guess.number) * guess.share });
    });
    return terms;
  }

  function weighPairs({ pairs }: RequestTerms): RareNumbers<number> {
    const weights = createRareNumbers<number>();
    for (const [{ number: before }, { number: after }] of pairs) {
      if (before === undefined || after === undefined) continue;
      weights.set(pairOf(before, after), (PARAMETERS.phrase * (rarity(before) + rarity(after))) / 2);
    }
    return weights;
  }

  function exactOf({ terms, pairs }: RequestTerms): ExactRequest | undefined {
    const numbers: number[] = [];
    for (const { number, isWhole } of terms) {
      if (number !== undefined) numbers.push(number);
      else if (!isWhole) return undefined;
    }
    const together = pairs.map(([before, after]) => pairOf(before.number ?? 0, after.number ?? 0));
    return toExactRequest(numbers, together, vocabulary);
  }

  return (request) => {
    const taken = requestTerms(request, eachWord);
    const terms = weighTerms(taken);
    const byNumber = createRareNumbers<WeightedTerm>();
    for (const term of terms) if (byNumber.get(term.number) === undefined) byNumber.set(term.number, term);
    return { terms, byNumber, pairs: weighPairs(taken), exact: exactOf(taken) };
  };
}

interface Guess {
  readonly number: number;
  /** Its weight relative to a correctly spelled word. */
  readonly share: number;
}

/** A map with few keys. Most lookups are for other numbers, which a filter of 256 bits detects. */
interface RareNumbers<T> {
  get(number: number): T | undefined;
  set(number: number, value: T): void;
}

function createRareNumbers<T>(): RareNumbers<T> {
  // Signed numbers, which the engine stores without an object each.
  const values = new Map<number, T>();
  const bits = new Int32Array(8);
  return {
    get(number) {
      const word = bits[(number >>> 5) & 7] as number; // one of eight
      return (word >>> (number & 31)) & 1 ? values.get(number | 0) : undefined;
    },
    set(number, value) {
      const place = (number >>> 5) & 7;
      bits[place] = (bits[place] as number) | (1 << (number & 31)); // as above
      values.set(number | 0, value);
    },
  };
}

/** A term of a request, with its number of occurrences and its spelling. */
interface RequestTerm {
  readonly term: string;
  /** Undefined if no tool contains it. */
  readonly number: number | undefined;
  readonly word: string;
  readonly count: number;
  /** Joined from parts that also count themselves; ignored if no tool contains it. */
  readonly isWhole: boolean;
}

const MAX_REQUEST_TERMS = 200;

/** The terms of a request. */
interface RequestTerms {
  /** Deduplicated, in order. */
  readonly terms: readonly RequestTerm[];
  /** Pairs of consecutive terms, ignoring stop words. */
  readonly pairs: readonly (readonly [RequestTerm, RequestTerm])[];
}

/** Splits a request into terms. */
function requestTerms(request: string, eachWord: EachAskedWord): RequestTerms {
  const found = new Map<string, RequestTerm & { count: number }>();
  const pairs: (readonly [RequestTerm, RequestTerm])[] = [];
  let before: RequestTerm | undefined;
  eachWord(request, ({ word, term, number }, isWhole) => {
    if (term === undefined) return;
    let own = found.get(term);
    if (own === undefined) {
      if (found.size >= MAX_REQUEST_TERMS) return;
      own = { term, number, word, count: 0, isWhole };
      found.set(term, own);
    }
    own.count += 1;
    if (isWhole) return;
    if (before !== undefined && before !== own && pairs.length < MAX_REQUEST_TERMS) pairs.push([before, own]);
    before = own;
  });
  return { terms: [...found.values()], pairs };
}

/** A word in a request. */
interface AskedWord {
  readonly word: string;
  /** Undefined for a stop word. */
  readonly term: string | undefined;
  /** The number of its term; undefined if no tool contains it. */
  readonly number: number | undefined;
}

/** Calls `visit` with each word of a request. */
type EachAskedWord = (request: string, visit: (asked: AskedWord, isWhole: boolean) => void) => void;

/** Longer requests are cut, because they add nothing about which tool is meant. */
const MAX_REQUEST_LENGTH = 10_000;
const REMEMBERED_WORDS = 20_000;
const NEVER = -1;

/** Looks up the words of requests in a vocabulary. Results are cached, because requests repeat words. */
function createAskedWords(vocabulary: Vocabulary): EachAskedWord {
  const scan = createWordScan(MAX_REQUEST_LENGTH);
  const known = createKnownWords();
  // By the number in `known`.
  const words: Remembered[] = [];
  const others = new Map<string, Remembered>();

  function learn(place: number): Remembered {
    if (words.length >= REMEMBERED_WORDS) {
      known.clear();
      words.length = 0;
    }
    const made = toRemembered(scan.word(place));
    known.note(scan, place, words.length);
    words.push(made);
    return made;
  }

  function otherWord(word: string): Remembered {
    const found = others.get(word);
    if (found !== undefined) return found;
    if (others.size >= REMEMBERED_WORDS) others.clear();
    const made = toRemembered(ownText(word));
    others.set(made.word, made);
    return made;
  }

  function upToDate(asked: Remembered): AskedWord {
    if (asked.asOf === vocabulary.changes) return asked;
    asked.number = asked.term === undefined ? undefined : vocabulary.find(asked.term);
    asked.asOf = vocabulary.changes;
    return asked;
  }

  return (request, visit) => {
    const text = request.slice(0, MAX_REQUEST_LENGTH);
    const count = scan.scan(text);
    if (count === OTHER_LETTERS) eachWord(text, (word, isWhole) => visit(upToDate(otherWord(word)), isWhole));
    for (let place = 0; place < count; place += 1) {
      const found = known.find(scan, place);
      const asked = found === undefined ? learn(place) : (words[found] as Remembered); // `learn` stores each number with its word
      visit(upToDate(asked), scan.wholes[place] === 1);
    }
  };
}

/** A cached word, with the version of the vocabulary at its lookup. */
interface Remembered extends AskedWord {
  number: number | undefined;
  asOf: number;
}

function toRemembered(word: string): Remembered {
  return { word, term: termOf(word), number: undefined, asOf: NEVER };
}
