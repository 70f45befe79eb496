import { PARAMETERS } from '../tuning.ts';
import { pairOf } from './count-terms.ts';
import { type ExactRequest, toExactRequest } from './exact-request.ts';
import { createKnownWords, createWordScan, OTHER_LETTERS, ownText } from './scan-words.ts';
import type { NameTerms } from './similar-names.ts';
import { eachWord } from './split-words.ts';
import { termOf } from './terms.ts';
import type { Vocabulary } from './vocabulary.ts';

/** What a request asks for. */
export interface WeighedRequest {
  readonly terms: readonly WeightedTerm[];
  /** By the number of a term: the first one of `terms`. */
  readonly byNumber: RareNumbers<WeightedTerm>;
  /** What terms are worth that stand together, as `pairOf` has them. */
  readonly pairs: RareNumbers<number>;
  /** Undefined for a request that cannot be what a tool is called: too long, or with a word that no tool says. */
  readonly exact: ExactRequest | undefined;
}

/** A term that some tool says, and how much it counts in this request. */
interface WeightedTerm {
  readonly number: number;
  readonly word: string;
  readonly weight: number;
}

/** What requests are weighed by. */
export interface Scales {
  readonly vocabulary: Vocabulary;
  /** How much a term tells tools apart. */
  rarity(number: number): number;
  /** The terms of names, to find what a word that no tool says may have meant. */
  names(): NameTerms;
}

const MAX_WORDS_OF_PREFIX_SEARCH = 4;

/** Weighs the words of one request after the other. */
export function createWeighRequest({ vocabulary, rarity, names }: Scales): (request: string) => WeighedRequest {
  const eachWord = createAskedWords(vocabulary);

  /** What a word that no tool says may have meant. */
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
  /** What it counts beside a word that is spelled right. */
  readonly share: number;
}

/** What belongs to each of a few numbers. Most numbers it is asked for are none of them, and 256 bits tell. */
interface RareNumbers<T> {
  get(number: number): T | undefined;
  set(number: number, value: T): void;
}

function createRareNumbers<T>(): RareNumbers<T> {
  // Signed: the engine keeps those without an object each.
  const values = new Map<number, T>();
  const bits = new Int32Array(8);
  return {
    get(number) {
      const word = bits[(number >>> 5) & 7] as number; // one of eight
      return (word >>> (number & 31)) & 1 ? values.get(number | 0) : undefined;
    },
    set(number, value) {
      const place = (number >>> 5) & 7;
      bits[place] = (bits[place] as number) | (1 << (number & 31)); // likewise
      values.set(number | 0, value);
    },
  };
}

/** A term of a request: how often it stands there, and as what it was written. */
interface RequestTerm {
  readonly term: string;
  /** Undefined where no tool says it. */
  readonly number: number | undefined;
  readonly word: string;
  readonly count: number;
  /** Put together from parts that count themselves: of no account where no tool knows it. */
  readonly isWhole: boolean;
}

const MAX_REQUEST_TERMS = 200;

/** What a request is made of. */
interface RequestTerms {
  /** Each once, in their order. */
  readonly terms: readonly RequestTerm[];
  /** Terms that follow each other, but for words that say nothing. */
  readonly pairs: readonly (readonly [RequestTerm, RequestTerm])[];
}

/** Takes a request apart. */
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

/** A word that requests use. */
interface AskedWord {
  readonly word: string;
  /** Undefined where it says nothing. */
  readonly term: string | undefined;
  /** The number of its term; undefined where no tool says it. */
  readonly number: number | undefined;
}

/** Calls `visit` with each word of a request. */
type EachAskedWord = (request: string, visit: (asked: AskedWord, isWhole: boolean) => void) => void;

/** A longer request says nothing new about which tool is meant. */
const MAX_REQUEST_LENGTH = 10_000;
const REMEMBERED_WORDS = 20_000;
const NEVER = -1;

/** Looks the words of requests up in a vocabulary. They are remembered: requests use the same ones again and again. */
function createAskedWords(vocabulary: Vocabulary): EachAskedWord {
  const scan = createWordScan(MAX_REQUEST_LENGTH);
  const known = createKnownWords();
  // By the number under which they are known.
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
      const asked = found === undefined ? learn(place) : (words[found] as Remembered); // noted with its number
      visit(upToDate(asked), scan.wholes[place] === 1);
    }
  };
}

/** A word, and at which change of the vocabulary its number was looked up. */
interface Remembered extends AskedWord {
  number: number | undefined;
  asOf: number;
}

function toRemembered(word: string): Remembered {
  return { word, term: termOf(word), number: undefined, asOf: NEVER };
}
