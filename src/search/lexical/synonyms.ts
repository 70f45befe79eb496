import { PARAMETERS } from '../tuning.ts';
import { wordsOf } from './split-words.ts';
import { NOUNS, VERBS } from './synonym-words.ts';
import { termOf } from './terms.ts';

/** A word that means nearly the same, and its weight relative to the word itself. */
export interface Synonym {
  readonly term: string;
  readonly share: number;
}

/** A table of synonyms. */
export interface Synonyms {
  /** The synonyms of a term, best first; empty for most terms. */
  of(term: string): readonly Synonym[];
  /** The synonyms of two consecutive terms: `get rid` means `delete`; undefined for most pairs. */
  ofPhrase(before: string, after: string): readonly Synonym[] | undefined;
}

/** Groups of words that mean nearly the same, as the owner of a crib writes them. */
export type SynonymGroups = readonly (readonly string[])[];

/** Creates the table of synonyms: the built-in groups, and those of the owner. */
export function createSynonyms(own: SynonymGroups = []): Synonyms {
  let table: ReadonlyMap<string, readonly Synonym[]> | undefined;
  const find = (key: string) => {
    table ??= tableOf(own);
    return table.get(key);
  };
  return { of: (term) => find(term) ?? NONE, ofPhrase: (before, after) => find(`${before} ${after}`) };
}

const NONE: readonly Synonym[] = [];

function tableOf(own: SynonymGroups): ReadonlyMap<string, readonly Synonym[]> {
  const shares = new Map<string, Map<string, number>>();
  const note = (words: readonly string[], share: number) => {
    const keys = words.map((word) => termsOf(word).join(' ')).filter((key) => key !== '');
    for (const key of keys) {
      const others = shares.get(key) ?? new Map<string, number>();
      shares.set(key, others);
      // A phrase stands for words, but no word for a phrase.
      for (const other of keys)
        if (other !== key && !other.includes(' ')) others.set(other, Math.max(share, others.get(other) ?? 0));
    }
  };
  for (const line of `${VERBS}${NOUNS}`.trim().split(/\n+/)) note(line.split(' '), PARAMETERS.synonym);
  for (const words of own) note(words, PARAMETERS.ownSynonym);
  return new Map(
    Array.from(shares, ([term, others]) => [
      term,
      Array.from(others, ([other, share]) => ({ term: other, share })).toSorted((a, b) => b.share - a.share),
    ]),
  );
}

/** The terms of a word or phrase, without joined words. */
function termsOf(phrase: string): readonly string[] {
  return wordsOf(phrase).flatMap(({ text, isWhole }) => (isWhole ? [] : (termOf(text) ?? [])));
}
