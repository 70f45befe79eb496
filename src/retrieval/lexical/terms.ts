import { ownText } from './own-text.ts';
import { stem } from './stem.ts';
import { STOP_WORDS } from './stop-words.ts';
import { eachWord } from './words.ts';

const ENGLISH = /^[a-z]{3,}$/;

/** The form under which a word is kept; undefined for one that says nothing. */
export function termOf(word: string): string | undefined {
  if (STOP_WORDS.has(word)) return undefined;
  return ENGLISH.test(word) ? stem(word) : word;
}

const REMEMBERED_WORDS = 20_000;

/** `termOf` with a memory: requests use the same words again and again. */
export function rememberTerms(): typeof termOf {
  const terms = new Map<string, string | undefined>();
  return (word) => {
    const known = terms.get(word);
    if (known !== undefined || terms.has(word)) return known;
    const term = termOf(word);
    if (terms.size >= REMEMBERED_WORDS) terms.clear();
    terms.set(ownText(word), term);
    return term;
  };
}

/** A word of a request: how often it stands there, and as what it was written. */
interface RequestTerm {
  readonly term: string;
  readonly word: string;
  readonly count: number;
  /** Put together from parts that count themselves: of no account where no tool knows it. */
  readonly isWhole: boolean;
}

/** A longer request says nothing new about which tool is meant. */
const MAX_REQUEST_LENGTH = 10_000;
const MAX_REQUEST_TERMS = 200;

/** What a request is made of. */
export interface RequestTerms {
  /** Each once, in their order. */
  readonly terms: readonly RequestTerm[];
  /** Terms that follow each other, but for words that say nothing. */
  readonly pairs: readonly (readonly [string, string])[];
}

/** Takes a request apart; `toTerm` is `termOf`, or one that remembers. */
export function requestTerms(request: string, toTerm: typeof termOf): RequestTerms {
  const found = new Map<string, RequestTerm>();
  const pairs: (readonly [string, string])[] = [];
  let before: string | undefined;
  eachWord(request.slice(0, MAX_REQUEST_LENGTH), (word, isWhole) => {
    const term = toTerm(word);
    if (term === undefined) return;
    const known = found.get(term);
    if (known === undefined && found.size >= MAX_REQUEST_TERMS) return;
    found.set(term, {
      term,
      word: known?.word ?? word,
      count: (known?.count ?? 0) + 1,
      isWhole: known?.isWhole ?? isWhole,
    });
    if (isWhole) return;
    if (before !== undefined && before !== term && pairs.length < MAX_REQUEST_TERMS) pairs.push([before, term]);
    before = term;
  });
  return { terms: [...found.values()], pairs };
}
