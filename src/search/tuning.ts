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
  /** What share of the best score a hit must reach where nobody says otherwise. */
  minShare: 0.2,
} as const;

/**
 * What a request was compared by: words alone; vectors alone, where no tool says a word of it; both; or both with the
 * vectors of an endpoint.
 */
export type SearchMode = 'words' | 'vectors' | 'hybrid' | 'endpoint';

/** What the figures of a mode are worth. */
interface Calibration {
  /** Absent: the figure is not a chance, and hits show how well they fit. */
  readonly curve?: Curve;
  /** Below it a tool does not clearly fit. */
  readonly bar: number;
}

/** Makes a figure a chance, fitted on requests with and without an answer. */
export interface Curve {
  readonly bias: number;
  readonly slope: number;
}

/** What scripts/calibrate-search.ts printed; docs/search.md says on what. Other vectors in the file need other numbers. */
export const CALIBRATIONS: Readonly<Record<SearchMode, Calibration>> = {
  words: { curve: { bias: -1.72, slope: 2.82 }, bar: 0.57 },
  vectors: { curve: { bias: -2.67, slope: 5.5 }, bar: 0.53 },
  hybrid: { curve: { bias: -2.13, slope: 4.12 }, bar: 0.49 },
  endpoint: { bar: 0.5 },
};

/** How likely it is, from 0 to 1, that a tool with this score answers the request, if half of all requests had an answer. */
export function chanceOf(score: number, { bias, slope }: Curve): number {
  return 1 / (1 + Math.exp(-bias - slope * score));
}
