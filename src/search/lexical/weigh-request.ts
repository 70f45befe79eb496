import { PARAMETERS } from '../tuning.ts';
import { createAskedWords } from './asked-words.ts';
import { pairOf } from './count-terms.ts';
import { type ExactRequest, toExactRequest } from './exact-request.ts';
import { createRareNumbers, type RareNumbers } from './rare-numbers.ts';
import { type RequestTerm, type RequestTerms, requestTerms } from './request-terms.ts';
import type { NameTerms } from './similar-names.ts';
import type { Synonym, Synonyms } from './synonyms.ts';
import { NO_VERB, READ, verbOfTerm } from './verb-classes.ts';
import type { Vocabulary } from './vocabulary.ts';

/** The weighted terms of a request. */
export interface WeighedRequest {
  /** Each word of the request that tools contain, or whose synonyms or corrections they contain. */
  readonly words: readonly WeightedWord[];
  /** By term number: the words that it stands for. */
  readonly byNumber: RareNumbers<readonly MeantWord[]>;
  /** Weights of pairs of consecutive terms, encoded by `pairOf`. */
  readonly pairs: RareNumbers<number>;
  /** The total weight of each clause. */
  readonly clauses: readonly number[];
  /** The classes of the first verbs of the clauses, as bits. */
  readonly verbs: number;
  /** Undefined for a request that cannot be a name or title: too long, or with a word that no tool contains. */
  readonly exact: ExactRequest | undefined;
}

/** A word of a request with the terms that it may mean. Of several terms in a tool, the best counts. */
export interface WeightedWord {
  readonly word: string;
  readonly weight: number;
  readonly clauses: number;
  /** Its own term first. */
  readonly terms: readonly WeightedTerm[];
}

/** A term that some tool contains, with its weight in this request. */
interface WeightedTerm {
  readonly number: number;
  readonly weight: number;
  /** Its weight relative to the word of the request. */
  readonly share: number;
}

/** A word of the request that a term stands for. */
export interface MeantWord extends WeightedTerm {
  readonly word: string;
  /** The index of the word. */
  readonly place: number;
}

/** The terms of a request that mean something by themselves, and the meanings of phrases by their last term. */
interface MeantTerms {
  readonly terms: readonly RequestTerm[];
  readonly phrases: ReadonlyMap<RequestTerm, readonly Synonym[]>;
}

/** The inputs for weighing requests. */
export interface Scales {
  readonly vocabulary: Vocabulary;
  /** The inverse document frequency of a term. */
  rarity(number: number): number;
  /** The terms of names, to guess the meaning of an unknown word. */
  names(): NameTerms;
  readonly synonyms: Synonyms;
}

const MAX_WORDS_OF_PREFIX_SEARCH = 4;

/** Creates a function that weighs the words of a request. */
export function createWeighRequest(scales: Scales): (request: string, gloss: string) => WeighedRequest {
  const { vocabulary, rarity, synonyms } = scales;
  const eachWord = createAskedWords(vocabulary);
  const weighWords = createWeighWords(scales);

  /** Finds phrases: their last word gets the meaning, and their first word says nothing by itself. */
  function meantTerms({ terms, pairs }: RequestTerms): MeantTerms {
    const phrases = new Map<RequestTerm, readonly Synonym[]>();
    const firsts = new Set<RequestTerm>();
    for (const [before, after] of pairs) {
      const meant = synonyms.ofPhrase(before.term, after.term);
      if (meant === undefined) continue;
      phrases.set(after, meant);
      if (before.count === 1) firsts.add(before);
    }
    return { phrases, terms: firsts.size === 0 ? terms : terms.filter((one) => !firsts.has(one)) };
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

  return (request, gloss) => {
    const taken = requestTerms(gloss === '' ? request : `${request}\n${gloss}`, eachWord);
    const meant = meantTerms(taken);
    const words = weighWords(meant);
    const clauses = Array.from({ length: taken.clauseCount }, (_, clause) => weightOfClause(words, clause));
    return {
      ...{ words, clauses },
      byNumber: meantByNumber(words),
      pairs: weighPairs(taken),
      verbs: verbsOf(meant, taken.questions),
      exact: exactOf(gloss === '' ? taken : requestTerms(request, eachWord)),
    };
  };
}

/** Creates a function that weighs words with all that they may mean. */
function createWeighWords({ vocabulary, rarity, names, synonyms }: Scales) {
  /** Guesses the terms that an unknown word may mean. */
  function guesses(word: string, isUnfinished: boolean): readonly WeightedTerm[] {
    if (/\d/.test(word)) return [];
    const begun = isUnfinished ? names().startingWith(word) : [];
    const [found, share] = begun.length > 0 ? [begun, PARAMETERS.prefix] : [names().near(word), PARAMETERS.typo];
    return found.map((number) => ({ number, share, weight: rarity(number) * share }));
  }

  /** The synonyms of a term that tools contain. A synonym that is rarer than the word says no more than the word. */
  function termsFor(meant: readonly Synonym[], most: number): readonly WeightedTerm[] {
    const terms: WeightedTerm[] = [];
    for (const { term: other, share } of meant) {
      const number = vocabulary.find(other);
      if (number === undefined) continue;
      const own = rarity(number);
      if (own > 0) terms.push({ number, share, weight: share * Math.min(most, own) });
    }
    return terms;
  }

  return ({ terms: asked, phrases }: MeantTerms): readonly WeightedWord[] => {
    const words: WeightedWord[] = [];
    asked.forEach((one, place) => {
      const { term, number, word, count, isWhole, clauses } = one;
      const phrase = phrases.get(one);
      const weight = number === undefined ? Number.POSITIVE_INFINITY : rarity(number) * count ** PARAMETERS.repetition;
      const meant = termsFor(phrase ?? synonyms.of(term), weight);
      if (number !== undefined) {
        words.push({ word, clauses, weight, terms: [{ number, weight, share: 1 }, ...meant] });
        return;
      }
      if (isWhole) return;
      const isUnfinished = place === asked.length - 1 && asked.length <= MAX_WORDS_OF_PREFIX_SEARCH;
      const terms = meant.length > 0 ? meant : guesses(term, isUnfinished);
      words.push({ word, clauses, weight: Math.max(PARAMETERS.unknown, ...terms.map((own) => own.weight)), terms });
    });
    return words;
  };
}

function meantByNumber(words: readonly WeightedWord[]): RareNumbers<readonly MeantWord[]> {
  const byNumber = createRareNumbers<MeantWord[]>();
  words.forEach(({ word, terms }, place) => {
    for (const term of terms) {
      const meant = { ...term, word, place };
      const known = byNumber.get(term.number);
      if (known === undefined) byNumber.set(term.number, [meant]);
      else known.push(meant);
    }
  });
  return byNumber;
}

function weightOfClause(words: readonly WeightedWord[], clause: number): number {
  return words.reduce((sum, { clauses, weight }) => ((clauses >> clause) & 1 ? sum + weight : sum), 0);
}

/** The classes of the first verbs of the clauses; a question without a verb reads. */
function verbsOf(meant: MeantTerms, questions: readonly boolean[]): number {
  if (meant.terms.length > PARAMETERS.mostWordsWithVerb) return NO_VERB;
  return questions.reduce(
    (verbs, isQuestion, clause) => verbs | (firstVerb(meant, clause) || (isQuestion ? READ : NO_VERB)),
    NO_VERB,
  );
}

function firstVerb({ terms, phrases }: MeantTerms, clause: number): number {
  for (const one of terms) {
    if (((one.clauses >> clause) & 1) === 0) continue;
    const meant = phrases.get(one);
    for (const { term } of meant ?? [one]) {
      const verb = verbOfTerm(term);
      if (verb !== NO_VERB) return verb;
    }
  }
  return NO_VERB;
}
