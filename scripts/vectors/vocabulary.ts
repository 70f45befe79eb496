import { wordsOf } from '../../src/search/dense/embed-words.ts';

/** The words of a model, with how often each stands in the texts it is trained on. */
export interface Vocabulary {
  readonly words: readonly string[];
  readonly counts: Float64Array;
  readonly indexOf: ReadonlyMap<string, number>;
  readonly total: number;
}

/** How many words a model has, and how often one must occur in the training texts to be sure of a place. */
export interface VocabularySize {
  readonly words: number;
  readonly minCount: number;
}

/** Words that occur in the training texts come first; the most frequent of the general language fill what is left. */
export function chooseVocabulary(texts: Iterable<string>, general: Iterable<string>, size: VocabularySize): Vocabulary {
  const seen = countWords(texts);
  const chosen = [...seen].filter(([, count]) => count >= size.minCount);
  // Equal counts are ordered by the word itself, so that the order of the sets does not matter.
  chosen.sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));
  const words = new Set(chosen.slice(0, size.words).map(([word]) => word));
  for (const word of general) {
    if (words.size >= size.words) break;
    if (isOneWord(word)) words.add(word);
  }
  const list = [...words];
  return {
    words: list,
    counts: Float64Array.from(list, (word) => seen.get(word) ?? 0),
    indexOf: new Map(list.map((word, index) => [word, index])),
    total: [...seen.values()].reduce((sum, count) => sum + count, 0),
  };
}

/** The places of a text's words in the vocabulary; unknown ones are left out. */
export function toIndexes(text: string, vocabulary: Vocabulary): Int32Array {
  return Int32Array.from(wordsOf(text).flatMap((word) => vocabulary.indexOf.get(word) ?? []));
}

function countWords(texts: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function isOneWord(word: string): boolean {
  const words = wordsOf(word);
  return words.length === 1 && words[0] === word;
}
