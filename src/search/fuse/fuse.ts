import { PARAMETERS } from '../parameters.ts';

/** A tool that words or meaning brought up. */
export interface Candidate {
  readonly id: number;
  /** What its words score. */
  readonly lexical: number;
  /** How similar it is in meaning, from -1 to 1; undefined where nobody compares meanings. */
  readonly similarity: number | undefined;
}

/** A candidate with both sides in one figure, from 0 to 1. */
export interface Fused extends Candidate {
  readonly score: number;
}

/** Only a tool that the request names is certain. */
const MOST = 0.99;

/** The weighted sum of how well words fit, beside the best tool, and how close the meaning is. */
export function fuse(candidates: readonly Candidate[], catalogSize: number): readonly Fused[] {
  const best = candidates.reduce((most, { lexical }) => Math.max(most, lexical), 0);
  // Where even the best tool has hardly a word in common with the request, being the best is worth little.
  const whole = Math.max(best, PARAMETERS.evidence * Math.log(1 + Math.max(catalogSize, PARAMETERS.leastTools)));
  const weight = denseWeight(catalogSize);
  return candidates.map(({ id, lexical, similarity }) => {
    const words = lexical / whole;
    const score = similarity === undefined ? words : (1 - weight) * words + weight * Math.max(0, similarity);
    return { id, lexical, similarity, score: Math.min(MOST, score) };
  });
}

/** How much meaning counts beside words: less in a large catalogue, where something similar is always found. */
function denseWeight(catalogSize: number): number {
  const { most, least, fallsPerDecade, from } = PARAMETERS.dense;
  const decades = Math.log10(Math.max(1, catalogSize) / from);
  return Math.min(most, Math.max(least, most - fallsPerDecade * decades));
}
