import type { createPackedLists } from './packed-lists.ts';
import type { WeightedWord } from './weigh-request.ts';

type PackedLists = ReturnType<typeof createPackedLists>;

/** The lower bits of an entry of a list of tools are the impact of the term; the upper bits are the id. */
export const IMPACT_BITS = 8;
const IMPACT_MASK = 255;

/** A synonym that more tools contain says little about them, and reading its list takes time. */
const MOST_OF_SYNONYM = 3000;

/** Computes the scores of all tools for the words of a request. */
export interface WordScores {
  /** By id; valid until the next call. */
  scoresOf(words: readonly WeightedWord[], idLimit: number): Float32Array;
}

/** Scores are computed over lists by term: the tools that contain it, each with its impact. */
export function createWordScores(postings: PackedLists): WordScores {
  let scores = new Float32Array(64);
  // The best of a word and its synonyms; zero between two words.
  let bests = new Float32Array(scores.length);

  /** Adds the scores of a word with several meanings: of its terms, the best of each tool. */
  function addBest(given: WeightedWord['terms']): void {
    const { data } = postings;
    const terms = given.filter(({ number, share }) => share === 1 || postings.length(number) <= MOST_OF_SYNONYM);
    for (const { number, weight } of terms) {
      const share = weight / IMPACT_MASK;
      const start = postings.start(number);
      const end = start + postings.length(number);
      for (let at = start; at < end; at += 1) {
        const entry = data[at] as number; // within the list
        const id = entry >>> IMPACT_BITS;
        const gain = share * (entry & IMPACT_MASK) - (bests[id] as number); // an id is below the limit
        if (gain <= 0) continue;
        bests[id] = (bests[id] as number) + gain; // as above
        scores[id] = (scores[id] as number) + gain; // as above
      }
    }
    for (const { number } of terms) {
      const start = postings.start(number);
      const end = start + postings.length(number);
      for (let at = start; at < end; at += 1) bests[(data[at] as number) >>> IMPACT_BITS] = 0; // as above
    }
  }

  /** Adds the scores of a word with one meaning. */
  function addOnly({ number, weight }: WeightedWord['terms'][number]): void {
    const { data } = postings;
    const share = weight / IMPACT_MASK;
    const start = postings.start(number);
    const end = start + postings.length(number);
    for (let at = start; at < end; at += 1) {
      const entry = data[at] as number; // within the list
      scores[entry >>> IMPACT_BITS] = (scores[entry >>> IMPACT_BITS] as number) + share * (entry & IMPACT_MASK); // an id is below the limit
    }
  }

  return {
    scoresOf(words, idLimit) {
      if (idLimit > scores.length) {
        scores = new Float32Array(idLimit * 2);
        bests = new Float32Array(scores.length);
      }
      scores.fill(0, 0, idLimit);
      for (const { terms } of words) {
        const [only] = terms;
        if (only !== undefined && terms.length === 1) addOnly(only);
        else addBest(terms);
      }
      return scores.subarray(0, idLimit);
    },
  };
}

/** Creates a function that computes the rarity of a term from its number of tools; logarithms are cached for small numbers. */
export function createRarity(): (frequency: number, count: number) => number {
  const known = new Float64Array(4096);
  let knownFor = 0;
  return (frequency, count) => {
    if (count !== knownFor) known.fill(0);
    knownFor = count;
    const before = known[frequency] ?? 0;
    if (before > 0) return before;
    const made = Math.log(1 + (count - frequency + 0.5) / (frequency + 0.5));
    if (frequency < known.length) known[frequency] = made;
    return made;
  };
}

/** Removes a tool from the list of a term. */
export function dropTool(postings: PackedLists, term: number, id: number): void {
  const start = postings.start(term);
  const length = postings.length(term);
  const { data } = postings;
  for (let place = 0; place < length; place += 1) {
    if ((data[start + place] ?? 0) >>> IMPACT_BITS === id) {
      postings.drop(term, place);
      return;
    }
  }
}
