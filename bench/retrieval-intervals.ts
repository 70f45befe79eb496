import { createRandom } from '../scripts/vectors/random.ts';

const RESAMPLES = 2000;
const SEED = 24;

/** Shares of the requests of a set, by ours and by another method, in the same order. */
export type Paired = readonly [ours: readonly number[], theirs: readonly number[]];

/** The mean difference of paired shares in points, with its 95 % interval by a paired bootstrap. */
export function differenceOf(ours: readonly number[], theirs: readonly number[]): string {
  return differenceOfSets([[ours, theirs]]);
}

/** The same over several sets: the mean of their mean differences. */
export function differenceOfSets(sets: readonly Paired[]): string {
  const { mean, from, to } = intervalOf(
    sets.map(([ours, theirs]) => ours.map((value, index) => value - (theirs[index] ?? 0))),
  );
  return `${signed(mean)} (${signed(from)} to ${signed(to)})`;
}

/** The mean of shares in percent, with its 95 % interval by a bootstrap; empty without shares. */
export function shareOf(values: readonly number[]): string {
  if (values.length === 0) return '';
  const { mean, from, to } = intervalOf([values]);
  return `${mean.toFixed(1)} (${from.toFixed(1)} to ${to.toFixed(1)})`;
}

function intervalOf(sets: readonly (readonly number[])[]) {
  const random = createRandom(SEED);
  const means = Array.from({ length: RESAMPLES }, () =>
    meanOf(sets.map((values) => meanOf(values.map(() => values[random.below(values.length)] ?? 0)))),
  ).sort((a, b) => a - b);
  const at = (share: number) => 100 * (means[Math.floor(share * RESAMPLES)] ?? 0);
  return { mean: 100 * meanOf(sets.map(meanOf)), from: at(0.025), to: at(0.975) };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(1)}`;
}
