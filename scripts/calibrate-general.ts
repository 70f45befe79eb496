// Fits the same as calibrate-search.ts for requests in general terms: docs/search.md says on what, and how well.
import { parseArgs } from 'node:util';
import { builtinEmbedder } from '../src/search/dense/builtin-embedder.ts';
import { tryCatalogues, tryReworded } from './calibration/described-requests.ts';
import { barFor, fitLogistic, refusedBelow } from './calibration/fit-logistic.ts';
import type { Trial } from './calibration/held-out-requests.ts';
import { readTrainingSets } from './vectors/training-sets.ts';

const { values } = parseArgs({
  options: {
    sets: { type: 'string', default: '../shared/retrieval/train' },
    words: { type: 'boolean', default: false },
  },
});

/** The share of answerable requests that may be lost where nobody says otherwise. */
const MOST_LOST = 0.03;

const say = (line: string) => process.stdout.write(`${line}\n`);
const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
const weighted = (trials: readonly Trial[]) => trials.map((trial) => ({ ...trial, weight: 1 }));
/** The share of the answerable ones below a bar. */
const lostBelow = (bar: number, trials: readonly Trial[]) => {
  const answerable = trials.filter(({ isAnswerable }) => isAnswerable);
  return answerable.filter(({ score }) => score < bar).length / answerable.length;
};

const options = {
  sets: readTrainingSets(values.sets),
  embedder: builtinEmbedder(),
  byWords: values.words,
};
const written = tryCatalogues(options);
const bar = barFor(MOST_LOST, weighted(written));
for (const [name, own] of Map.groupBy([...written, ...tryReworded(options)], ({ set }) => set))
  say(`${name}: ${percent(lostBelow(bar, own))} lost, ${percent(refusedBelow(bar, weighted(own)))} refused`);
for (const lost of [0.01, 0.02, 0.05, 0.1])
  say(
    `catalogues, ${percent(lost)} lost: ${percent(refusedBelow(barFor(lost, weighted(written)), weighted(written)))} refused`,
  );
const count = (isAnswerable: boolean) => written.filter((trial) => trial.isAnswerable === isAnswerable).length;
const { bias, slope } = fitLogistic(written.map((trial) => ({ ...trial, weight: 1 / count(trial.isAnswerable) })));
say(`${written.length} requests. bias: ${bias.toFixed(2)}, slope: ${slope.toFixed(2)}`);
say(`minScore: ${(1 / (1 + Math.exp(-bias - slope * bar))).toFixed(3)}, bar ${bar.toFixed(3)}`);
