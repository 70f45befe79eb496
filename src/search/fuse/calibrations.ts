/** What scores are worth, for each way to ask. */
export interface Calibration {
  /** For requests that speak of one case, as people do. */
  readonly particular: Curve;
  /** For requests in general terms, see `isInGeneralTerms`: more is to be expected of their best hit. */
  readonly general: Curve;
}

/** Makes a score a chance, fitted on requests with and without an answer; and the least that is worth showing. */
export interface Curve {
  readonly bias: number;
  readonly slope: number;
  readonly minScore: number;
}

// All are what scripts/calibrate-search.ts and scripts/calibrate-general.ts printed; docs/search.md says on what.

/** For words and the vectors that come with the package. Other vectors in the file need other numbers. */
export const BUILTIN_VECTORS: Calibration = {
  particular: { bias: -3.32, slope: 5.47, minScore: 0.094 },
  general: { bias: -6.7, slope: 10.04, minScore: 0.172 },
};

/** For words alone. */
export const WORDS_ALONE: Calibration = {
  particular: { bias: -2.6, slope: 3.54, minScore: 0.124 },
  general: { bias: -5.14, slope: 6.71, minScore: 0.17 },
};

/** How likely it is, from 0 to 1, that a tool with this score answers the request, if half of all requests had an answer. */
export function chanceOf(score: number, { bias, slope }: Curve): number {
  return 1 / (1 + Math.exp(-bias - slope * score));
}
