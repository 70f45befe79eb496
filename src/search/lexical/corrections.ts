import type { EachAskedWord } from './asked-words.ts';
import type { RequestTerm, RequestTerms } from './request-terms.ts';
import type { NameTerms } from './similar-names.ts';
import type { Synonyms } from './synonyms.ts';
import { termOf } from './terms.ts';
import type { Vocabulary } from './vocabulary.ts';

/** A word of a request that no tool contains, and the forms of the similar word that it probably means. */
export interface Misspelled {
  readonly word: string;
  readonly meant: readonly string[];
}

/** Corrects words of requests. */
export interface Corrections {
  /** The words to correct in a request. */
  misspelled(request: string): readonly Misspelled[];
  /** Replaces unknown terms by similar ones of names and titles, except words that are `known` to be right. */
  correct(taken: RequestTerms, known: ReadonlySet<string>): RequestTerms;
  /** Terms that begin with an unfinished word: the last word of a short request. */
  begunBy(one: RequestTerm, taken: RequestTerms): readonly number[];
}

/** The inputs for correcting words. */
export interface CorrectionSources {
  readonly vocabulary: Vocabulary;
  readonly eachWord: EachAskedWord;
  /** The terms of names and titles. */
  names(): NameTerms;
  readonly synonyms: Synonyms;
}

const MAX_WORDS_OF_PREFIX_SEARCH = 4;

/** Creates the corrections over the words of tools. */
export function createCorrections({ vocabulary, eachWord, names, synonyms }: CorrectionSources): Corrections {
  function nearest(word: string, term: string): number | undefined {
    if (/\d/.test(word) || synonyms.of(term).length > 0) return undefined;
    // The stem of a misspelled word may be far from the right one.
    return names().near(term) ?? names().near(withoutPlural(word)) ?? names().near(word);
  }

  function begunBy({ term, number }: RequestTerm, { terms }: RequestTerms): readonly number[] {
    const isLast = terms.length <= MAX_WORDS_OF_PREFIX_SEARCH && terms.at(-1)?.term === term;
    return isLast && number === undefined && !/\d/.test(term) ? names().startingWith(term) : [];
  }

  return {
    begunBy,
    misspelled(request) {
      const found: Misspelled[] = [];
      eachWord(request, ({ word, term, number }, isWhole) => {
        if (number !== undefined || term === undefined || isWhole) return;
        const near = nearest(word, term);
        if (near !== undefined) found.push({ word, meant: wordsWith(vocabulary.text(near)) });
      });
      return found;
    },
    correct(taken, known) {
      if (taken.terms.every(({ number }) => number !== undefined)) return taken;
      const corrected = new Map<RequestTerm, RequestTerm>();
      for (const one of taken.terms) {
        if (one.number !== undefined || one.isWhole || known.has(one.word) || begunBy(one, taken).length > 0) continue;
        const number = nearest(one.word, one.term);
        if (number !== undefined)
          corrected.set(one, { ...one, number, term: vocabulary.text(number), isCorrected: true });
      }
      const right = (one: RequestTerm) => corrected.get(one) ?? one;
      const pairs = taken.pairs.map(([before, after]) => [right(before), right(after)] as const);
      return { ...taken, terms: taken.terms.map(right), pairs };
    },
  };
}

function withoutPlural(word: string): string {
  return word.endsWith('s') ? word.slice(0, -1) : word;
}

/** Endings that stemming removes, each behind the text that it leaves there; most frequent first. */
const ENDINGS: readonly (readonly [string, string])[] = [
  ...['', 'e', 'y', 'ion', 'ing', 'ed', 'er', 'or', 'al', 'ment', 'ation', 'able', 'ive', 'ity', 'ance', 'ence'].map(
    (ending) => ['', ending] as const,
  ),
  ['i', 'y'],
];

/** The words that a stem may come from; some of them do not exist. */
function wordsWith(stem: string): readonly string[] {
  return ENDINGS.flatMap(([left, ending]) => {
    if (!stem.endsWith(left)) return [];
    const word = stem.slice(0, stem.length - left.length) + ending;
    return termOf(word) === stem ? word : [];
  });
}
