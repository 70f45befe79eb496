import { type EachAskedWord, MAX_REQUEST_LENGTH } from './asked-words.ts';

/** A term of a request, with its number of occurrences and its spelling. */
export interface RequestTerm {
  readonly term: string;
  /** Undefined if no tool contains it. */
  readonly number: number | undefined;
  readonly word: string;
  readonly count: number;
  /** Joined from parts that also count themselves; ignored if no tool contains it. */
  readonly isWhole: boolean;
  /** True if the word is misspelled, and the term is that of the right word. */
  readonly isCorrected: boolean;
  /** The clauses that contain it, as bits. */
  readonly clauses: number;
}

/** The terms of a request. */
export interface RequestTerms {
  /** Deduplicated, in order. */
  readonly terms: readonly RequestTerm[];
  /** Pairs of consecutive terms, ignoring stop words. */
  readonly pairs: readonly (readonly [RequestTerm, RequestTerm])[];
  readonly clauseCount: number;
  /** Whether each clause is a question. */
  readonly questions: readonly boolean[];
}

const MAX_REQUEST_TERMS = 200;
/** Each clause is a bit; the last one takes the rest of a longer request. */
const MAX_CLAUSES = 16;
const CLAUSE_END = /[.!?;,:。！？；，\n](?=\s|$|\P{ASCII})|\s(?:and|then|und|et|y)(?=\s)/gu;

/** Splits a request into terms, clause by clause. */
export function requestTerms(given: string, eachWord: EachAskedWord): RequestTerms {
  const request = given.slice(0, MAX_REQUEST_LENGTH);
  const found = new Map<string, RequestTerm & { count: number; clauses: number }>();
  const pairs: (readonly [RequestTerm, RequestTerm])[] = [];
  let before: RequestTerm | undefined;
  let clause = 0;
  const clauses = clausesOf(request);
  for (const text of clauses) {
    eachWord(text, ({ word, term, number }, isWhole) => {
      if (term === undefined) return;
      let own = found.get(term);
      if (own === undefined) {
        if (found.size >= MAX_REQUEST_TERMS) return;
        own = { term, number, word, count: 0, isWhole, isCorrected: false, clauses: 0 };
        found.set(term, own);
      }
      own.count += 1;
      own.clauses |= 1 << clause;
      if (isWhole) return;
      if (before !== undefined && before !== own && pairs.length < MAX_REQUEST_TERMS) pairs.push([before, own]);
      before = own;
    });
    clause += 1;
  }
  return {
    terms: [...found.values()],
    pairs,
    clauseCount: clauses.length,
    questions: clauses.map((text) => QUESTION.test(text)),
  };
}

const QUESTION = /^[\s.,;:]*(?:who|whose|what|which|when|where|how|why|is|are|was|were|does|did|has|have)\b/i;

function clausesOf(request: string): readonly string[] {
  const clauses: string[] = [];
  let start = 0;
  for (const { index } of request.matchAll(CLAUSE_END)) {
    if (clauses.length === MAX_CLAUSES - 1) break;
    if (index - start < 4) continue;
    clauses.push(request.slice(start, index));
    start = index;
  }
  clauses.push(request.slice(start));
  return clauses;
}
