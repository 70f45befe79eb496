import { createRandom } from '../scripts/vectors/random.ts';

const RESAMPLES = 2000;
const SEED = 24;

/** The mean difference of paired shares in points, with its 95 % interval by a paired bootstrap. */
export function differenceOf(ours: readonly number[], theirs: readonly number[]): string {
  const differences = ours.map((value, index) => 100 * (value - (theirs[index] ?? 0)));
  const random = createRandom(SEED);
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    for (let drawn = 0; drawn < differences.length; drawn += 1)
      sum += differences[random.below(differences.length)] ?? 0;
    return sum / differences.length;
  }).sort((a, b) => a - b);
  const at = (share: number) => signed(means[Math.floor(share * RESAMPLES)] ?? 0);
  const mean = differences.reduce((sum, value) => sum + value, 0) / differences.length;
  return `${signed(mean)} (${at(0.025)} to ${at(0.975)})`;
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(1)}`;
}
