import type { Field } from './search-texts.ts';

/** How much a word counts in a field, a plain description being 1. */
const WEIGHTS: Readonly<Record<Field, number>> = {
  name: 2,
  title: 2,
  description: 1,
  source: 1,
  bundle: 1,
  category: 0.5,
  tags: 1,
  parameters: 0.5,
  parameterTexts: 0.4,
  examples: 1,
};

/** Everything about ranking that was chosen by measuring; docs/search.md says how. */
export const PARAMETERS = {
  weights: WEIGHTS,
  /** How soon a word that is repeated counts no more (k1 of BM25). */
  saturation: 1.5,
  /** How much a long text is held against a tool (b of BM25). */
  lengthPenalty: 0.75,
  /** The weighted number of words of a tool of usual length. Fixed, so that adding a tool changes no other. */
  usualLength: 25,
  /** Repetitions of a word in one field that count. */
  maxRepeats: 5,
  /** How much a word counts that the request repeats: its count to this power. */
  repetition: 0.25,
  /** What a word of a name counts that a word of the request resembles but for a typo. */
  typo: 0.9,
  /** What a word of a name counts that a word of the request begins. */
  prefix: 0.9,
  /** What two words count that stand together in the request and in the tool, beside the mean of both. */
  phrase: 0.3,
  /** A smaller catalogue is taken for one of so many tools: where all tools say a word, it still says something. */
  leastTools: 100,
  /** How many of the rarest words the best tool must have in common with a request for words to count in full. */
  evidence: 1.25,
  /** The weight of meaning beside words: `most` up to `from` tools, falling with each tenfold. */
  dense: { most: 0.5, least: 0.2, fallsPerDecade: 0.13, from: 500 },
  /** What the best hit must score where nobody says otherwise and its similarity is not calibrated. */
  minScore: 0.25,
  /** What share of the best score a hit must reach where nobody says otherwise. */
  minShare: 0.2,
} as const;
