import { PARAMETERS } from '../tuning.ts';
import { createAskedWords } from './asked-words.ts';
import { type Corrections, createCorrections, type Misspelled } from './corrections.ts';
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
  /** The share of the words that no tool contains, in any meaning; 0 for a story. */
  readonly unknown: number;
  /** Undefined for a request that cannot be a name or title: too long, or with a word that no tool contains. */
  readonly exact: ExactRequest | undefined;
}

/** A word of a request with the terms that it may mean. Of several terms in a tool, the best counts. */
export interface WeightedWord {
  readonly word: string;
  readonly weight: number;
  readonly clauses: number;
  /** True if it is misspelled, and its own term is that of the right word. */
  readonly isCorrected: boolean;
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
  /** True if it is not the term of the word as it is written. */
  readonly isMeant: boolean;
}

/** The terms of a request that mean something by themselves, and the meanings of phrases by their last term. */
interface MeantTerms {
  readonly terms: readonly RequestTerm[];
  readonly phrases: ReadonlyMap<RequestTerm, Phrase>;
}

/** Two words that mean something else together, as they are written. */
interface Phrase {
  readonly words: string;
  readonly meant: readonly Synonym[];
}

/** The inputs for weighing requests. */
export interface Scales {
  readonly vocabulary: Vocabulary;
  /** The inverse document frequency of a term. */
  rarity(number: number): number;
  /** The terms of names and titles, to guess the meaning of an unknown word. */
  names(): NameTerms;
  readonly synonyms: Synonyms;
}

/** A request to weigh. */
export interface Asked {
  readonly request: string;
  /** Its words in English, if it is in another language. */
  readonly gloss: string;
  /** Words that are spelled right, although no tool contains them. */
  readonly known: ReadonlySet<string>;
}

/** Weighs requests. */
interface WeighRequest {
  weigh(asked: Asked): WeighedRequest;
  /** The words of a request that are probably misspelled. */
  misspelled(request: string): readonly Misspelled[];
}

/** Creates functions that weigh the words of a request. */
export function createWeighRequest(scales: Scales): WeighRequest {
  const { vocabulary, rarity, synonyms } = scales;
  const eachWord = createAskedWords(vocabulary);
  const corrections = createCorrections({ ...scales, eachWord });
  const weighWords = createWeighWords(scales, corrections);

  /** Finds phrases: their last word gets the meaning, and their first word says nothing by itself. */
  function meantTerms({ terms, pairs }: RequestTerms): MeantTerms {
    const phrases = new Map<RequestTerm, Phrase>();
    const firsts = new Set<RequestTerm>();
    for (const [before, after] of pairs) {
      const meant = synonyms.ofPhrase(before.term, after.term);
      if (meant === undefined) continue;
      phrases.set(after, { words: `${before.word} ${after.word}`, meant });
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

  function weigh({ request, gloss, known }: Asked): WeighedRequest {
    const written = requestTerms(gloss === '' ? request : `${request}\n${gloss}`, eachWord);
    const taken = corrections.correct(written, known);
    const meant = meantTerms(taken);
    const words = weighWords(meant, taken);
    const clauses = Array.from({ length: taken.clauseCount }, (_, clause) => weightOfClause(words, clause));
    return {
      ...{ words, clauses },
      byNumber: meantByNumber(words),
      pairs: weighPairs(taken),
      verbs: isStory(meant) ? NO_VERB : verbsOf(meant, taken.questions),
      unknown: isStory(meant) ? 0 : unknownShare(words),
      exact: exactOf(gloss === '' ? written : requestTerms(request, eachWord)),
    };
  }

  return { weigh, misspelled: corrections.misspelled };
}

/** Creates a function that weighs words with all that they may mean. */
function createWeighWords({ vocabulary, rarity, synonyms }: Scales, { begunBy }: Corrections) {
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

  function begun(number: number): WeightedTerm {
    return { number, share: PARAMETERS.prefix, weight: PARAMETERS.prefix * rarity(number) };
  }

  return ({ terms: asked, phrases }: MeantTerms, taken: RequestTerms): readonly WeightedWord[] => {
    const words: WeightedWord[] = [];
    for (const one of asked) {
      const { term, number, count, isWhole, isCorrected, clauses } = one;
      const phrase = phrases.get(one);
      const word = phrase?.words ?? one.word;
      const own = number === undefined ? Number.POSITIVE_INFINITY : rarity(number) * count ** PARAMETERS.repetition;
      const meant = termsFor(phrase?.meant ?? synonyms.of(term), own);
      if (number !== undefined) {
        words.push({ word, clauses, weight: own, isCorrected, terms: [{ number, weight: own, share: 1 }, ...meant] });
        continue;
      }
      if (isWhole) continue;
      const terms = meant.length > 0 ? meant : begunBy(one, taken).map(begun);
      const weight = Math.max(PARAMETERS.unknown, ...terms.map((term) => term.weight));
      words.push({ word, clauses, weight, isCorrected, terms });
    }
    return words;
  };
}

function meantByNumber(words: readonly WeightedWord[]): RareNumbers<readonly MeantWord[]> {
  const byNumber = createRareNumbers<MeantWord[]>();
  words.forEach(({ word, isCorrected, terms }, place) => {
    for (const term of terms) {
      const meant = { ...term, word, place, isMeant: isCorrected || term.share < 1 };
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

/** True for a longer request: its verbs do not say what the tool should do, and many of its words are not about the tool. */
function isStory({ terms }: MeantTerms): boolean {
  return terms.length > PARAMETERS.mostWords;
}

function unknownShare(words: readonly WeightedWord[]): number {
  return words.filter(({ terms }) => terms.length === 0).length / Math.max(1, words.length);
}

/** The classes of the first verbs of the clauses; a question without a verb reads. */
function verbsOf(meant: MeantTerms, questions: readonly boolean[]): number {
  return questions.reduce(
    (verbs, isQuestion, clause) => verbs | (firstVerb(meant, clause) || (isQuestion ? READ : NO_VERB)),
    NO_VERB,
  );
}

function firstVerb({ terms, phrases }: MeantTerms, clause: number): number {
  for (const one of terms) {
    if (((one.clauses >> clause) & 1) === 0) continue;
    for (const { term } of phrases.get(one)?.meant ?? [one]) {
      const verb = verbOfTerm(term);
      if (verb !== NO_VERB) return verb;
    }
  }
  return NO_VERB;
}
