import type { EachAskedWord } from './asked-words.ts';

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
export interface RequestTerms {
  /** Each once, in their order. */
  readonly terms: readonly RequestTerm[];
  /** Terms that follow each other, but for words that say nothing. */
  readonly pairs: readonly (readonly [RequestTerm, RequestTerm])[];
}

/** Takes a request apart. */
export function requestTerms(request: string, eachWord: EachAskedWord): RequestTerms {
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
