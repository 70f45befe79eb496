import { isPromise, type MaybePromise } from '../core/json.ts';
import type { DenseIndex, QueryVectors } from '../core/retriever.ts';
import { createGloss } from './languages/gloss.ts';
import type { Misspelled } from './lexical/corrections.ts';
import type { LexicalIndex } from './lexical/lexical-index.ts';

/** Vectors in the package, whose similarities are calibrated, or vectors of an unknown model. */
export type VectorOrigin = 'builtin' | 'endpoint';

/** A request, prepared for ranking tools. */
export interface Prepared {
  /** Its words in English, if it is in another language. */
  readonly gloss: string;
  /** Its words that the vectors know, although no tool contains them: they are spelled right. */
  readonly known: ReadonlySet<string>;
  /** Undefined if not available. */
  readonly vectors: QueryVectors | undefined;
}

/** The inputs for preparing requests. */
export interface PrepareSources {
  readonly lexical: LexicalIndex;
  readonly dense: DenseIndex | undefined;
  readonly vectors: VectorOrigin;
}

/** Creates a function that prepares a request: words in English, misspelled words, and vectors of the corrected request. */
export function createPrepare({ lexical, dense, vectors: origin }: PrepareSources) {
  const glossOf = createGloss();

  /** Vectors of words know no misspelled word, so they get the right one. */
  function correct(
    request: string,
    misspelled: readonly Misspelled[],
    { prepare }: DenseIndex,
  ): Omit<Prepared, 'gloss'> {
    const known = new Set<string>();
    const isKnown = (word: string) => prepare(word) !== undefined;
    let corrected = request;
    for (const { word, meant } of misspelled) {
      if (isKnown(word)) known.add(word);
      else corrected = corrected.replaceAll(wholeWord(word), meant.find(isKnown) ?? word);
    }
    return { known, vectors: prepare(corrected) as QueryVectors | undefined }; // loaded, so not a promise
  }

  return (query: string): MaybePromise<Prepared> => {
    const gloss = glossOf(query);
    if (dense === undefined) return { gloss, known: NONE, vectors: undefined };
    const request = gloss === '' ? query : `${query}\n${gloss}`;
    const prepared = dense.prepare(request);
    const finish = (vectors: QueryVectors | undefined): Prepared => {
      // Models of endpoints understand misspelled words, and would be asked for each.
      const misspelled = origin === 'builtin' ? lexical.misspelled(request) : [];
      return { gloss, ...(misspelled.length === 0 ? { known: NONE, vectors } : correct(request, misspelled, dense)) };
    };
    return isPromise(prepared) ? prepared.then(finish) : finish(prepared);
  };
}

const NONE: ReadonlySet<string> = new Set();

function wholeWord(word: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`, 'giu');
}
