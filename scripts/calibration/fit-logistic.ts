import { createAdam } from '../vectors/adam.ts';

/** A score, whether there was an answer, and how much this one counts. */
export interface Example {
  readonly score: number;
  readonly isAnswerable: boolean;
  readonly weight: number;
}

/** The chance of an answer is the logistic function of `bias + slope * score`. */
export interface Logistic {
  readonly bias: number;
  readonly slope: number;
}

const STEPS = 2000;
const PACE = 0.1;

/** The logistic that finds the examples likeliest. */
export function fitLogistic(examples: readonly Example[]): Logistic {
  const values = new Float32Array(2);
  const total = examples.reduce((sum, { weight }) => sum + weight, 0);
  const adam = createAdam(values.length);
  for (let step = 0; step < STEPS; step++) {
    const [bias = 0, slope = 0] = values;
    const gradient = new Float32Array(2);
    for (const { score, isAnswerable, weight } of examples) {
      const chance = 1 / (1 + Math.exp(-bias - slope * score));
      const error = ((chance - (isAnswerable ? 1 : 0)) * weight) / total;
      gradient[0] = (gradient[0] ?? 0) + error;
      gradient[1] = (gradient[1] ?? 0) + error * score;
    }
    adam.step(values, gradient, PACE * (1 - step / STEPS));
  }
  const [bias = 0, slope = 0] = values;
  return { bias, slope };
}

/** The score that this share of the answerable examples stays below, by weight. */
export function barFor(lost: number, examples: readonly Example[]): number {
  const answerable = examples.filter(({ isAnswerable }) => isAnswerable).sort((a, b) => a.score - b.score);
  let left = lost * answerable.reduce((sum, { weight }) => sum + weight, 0);
  for (const { score, weight } of answerable) {
    left -= weight;
    if (left < 0) return score;
  }
  return Number.POSITIVE_INFINITY;
}

/** The share of the examples without an answer that stays below the bar, by weight. */
export function refusedBelow(bar: number, examples: readonly Example[]): number {
  const others = examples.filter(({ isAnswerable }) => !isAnswerable);
  const total = others.reduce((sum, { weight }) => sum + weight, 0);
  return others.reduce((sum, { score, weight }) => sum + (score < bar ? weight : 0), 0) / total;
}

/** The share of the answerable examples that stays below the bar, by weight. */
export function lostBelow(bar: number, examples: readonly Example[]): number {
  return refusedBelow(
    bar,
    examples.map((example) => ({ ...example, isAnswerable: !example.isAnswerable })),
  );
}
