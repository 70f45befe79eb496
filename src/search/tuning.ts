import type { Field } from './search-texts.ts';

/** Weight of a word by field, relative to the description. */
const WEIGHTS: Readonly<Record<Field, number>> = {
  name: 2,
  title: 2,
  description: 1,
  rest: 0.6,
  source: 1,
  bundle: 1,
  category: 0.5,
  tags: 1,
  parameters: 0.5,
  parameterTexts: 0.4,
  examples: 1,
};

/** The usual number of words of a field. Fixed, so that adding a tool does not change the others. */
const USUAL_LENGTHS: Readonly<Record<Field, number>> = {
  name: 3,
  title: 3,
  description: 20,
  rest: 20,
  source: 2,
  bundle: 10,
  category: 2,
  tags: 3,
  parameters: 5,
  parameterTexts: 20,
  examples: 20,
};

/** Ranking parameters, chosen by measurement; docs/search-tuning.md says how. */
export const PARAMETERS = {
  weights: WEIGHTS,
  usualLengths: USUAL_LENGTHS,
  /** Saturation of repeated words (k1 of BM25). */
  saturation: 1,
  /** Penalty for long texts of a field (b of BM25). */
  lengthPenalty: 0.5,
  /** Maximum number of repetitions of a word in one field that count. */
  maxRepeats: 5,
  /** Weight of a word repeated in the request: its count to this power. */
  repetition: 0.25,
  /** Weight of a word in a name that begins with a request word. */
  prefix: 0.9,
  /** Weight of two consecutive words that occur in the request and in the tool, relative to their mean. */
  phrase: 0.3,
  /** Smaller catalogs count as this large: even a word in all tools says something. */
  leastTools: 100,
  /** Number of the rarest words that the best tool must share with a request for words to count fully. */
  evidence: 1.25,
  /** The weight of meaning relative to words: `most` up to `from` tools, lower with each tenfold. */
  dense: { most: 0.55, least: 0.2, fallsPerDecade: 0.13, from: 500 },
  /** The share of the best score that a hit must reach by default. */
  minShare: 0.2,
  /** The weight of a request word that no tool contains, when it is compared with titles: about that of a rare word. */
  unknown: 3,
  /** The gain of a tool whose title says the same as a clause of the request: `most` times the agreement to this power. */
  title: { most: 0.2, power: 3 },
  /** The gain of a tool with a verb of the class of the request, and the loss of one with a verb of another class. */
  verb: 0.03,
  /** Longer requests tell a story: their verbs and unknown words say little about the tool. */
  mostWords: 8,
  /** The loss of confidence if no word of a request is known, relative to the score. */
  doubt: 0.3,
  /** The weight of a synonym relative to the word of the request: of the built-in table, and of the owner's. */
  synonym: 0.7,
  ownSynonym: 0.85,
} as const;

/**
 * How a request was compared: by words only; by vectors only, if no tool contains a word of it; by both; or by both with
 * the vectors of an endpoint.
 */
export type SearchMode = 'words' | 'vectors' | 'hybrid' | 'endpoint';

/** The calibration of a mode. */
interface Calibration {
  /** Absent: the figure is not a probability, and hits show it unchanged. */
  readonly curve?: Curve;
  /** Below this, a tool does not clearly fit. */
  readonly bar: number;
}

/** Converts a figure to a probability; fitted on requests with and without an answer. */
export interface Curve {
  readonly bias: number;
  readonly slope: number;
}

/** Output of scripts/calibrate-search.ts; docs/search-tuning.md describes the data. Other vectors need other numbers. */
export const CALIBRATIONS: Readonly<Record<SearchMode, Calibration>> = {
  words: { curve: { bias: -1.8, slope: 3.99 }, bar: 0.51 },
  vectors: { curve: { bias: -2.73, slope: 6.48 }, bar: 0.49 },
  hybrid: { curve: { bias: -2.22, slope: 5.49 }, bar: 0.51 },
  endpoint: { bar: 0.49 },
};

/** The probability, from 0 to 1, that a tool with this score answers the request, if half of all requests have an answer. */
export function chanceOf(score: number, { bias, slope }: Curve): number {
  return 1 / (1 + Math.exp(-bias - slope * score));
}
