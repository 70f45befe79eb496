/** Makes a score a chance, fitted on requests with and without an answer; and the least that is worth showing. */
export interface Calibration {
  readonly bias: number;
  readonly slope: number;
  readonly minScore: number;
}

// Both are what scripts/calibrate-search.ts printed; docs/search.md says on what.

/** For words and the vectors that come with the package. Other vectors in the file need other numbers. */
export const BUILTIN_VECTORS: Calibration = { bias: -3.25, slope: 5.42, minScore: 0.1 };

/** For words alone. */
export const WORDS_ALONE: Calibration = { bias: -2.58, slope: 3.61, minScore: 0.14 };

/** How likely it is, from 0 to 1, that a tool with this score answers the request, if half of all requests had an answer. */
export function chanceOf(score: number, { bias, slope }: Calibration): number {
  return 1 / (1 + Math.exp(-bias - slope * score));
}
