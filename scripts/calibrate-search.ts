// Fits how likely it is that the best hit answers a request: docs/search.md says on what, and how well.
import { parseArgs } from 'node:util';
import { builtinEmbedder } from '../src/search/dense/builtin-embedder.ts';
import { sentencesOf } from '../src/search/dense/dense-index.ts';
import { barFor, fitLogistic, refusedBelow } from './calibration/fit-logistic.ts';
import { tryRequests } from './calibration/held-out-requests.ts';
import { createRandom } from './vectors/random.ts';
import { readTrainingSets, type TrainingSet } from './vectors/training-sets.ts';

/** Vectors that know a set would be too sure of it: each `--fold FILE=SET,SET` names vectors that were trained without these sets. */
const { values } = parseArgs({
  options: {
    sets: { type: 'string', default: '../shared/retrieval/train' },
    fold: { type: 'string', multiple: true, default: [] },
    words: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
  },
});

/** The share of answerable requests that may be lost where nobody says otherwise, of whatever set. */
const MOST_LOST = 0.02;
/** Enough of a set to find sentences in. */
const REQUESTS_WITH_TALK = 2000;
const STATEMENT = /^(I|I'm|I've|My|We|Our|The|There|It)\b[^?]{10,}\.$/;
const ASKS = /\b(need|want|would|please|can|could|help|find|give|show|provide|tell|looking|like to)\b/i;

const say = (line: string) => process.stdout.write(`${line}\n`);
const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

const sets = readTrainingSets(values.sets);
const setOf = (wanted: string): TrainingSet | undefined => sets.find(({ name }) => name === wanted);
const talk = sets
  .flatMap(({ queries }) => queries.slice(0, REQUESTS_WITH_TALK))
  .flatMap(({ query }) => sentencesOf(query))
  .filter((sentence) => STATEMENT.test(sentence) && !ASKS.test(sentence));
const common = {
  byWords: values.words,
  others: setOf('toucan_corpus')?.tools ?? [],
  strangers: setOf('clinc150_train')?.queries ?? [],
  talk,
  random: createRandom(Number(values.seed)),
};

const trials = values.fold.flatMap((fold) => {
  const [file = '', names = ''] = fold.split('=');
  const embedder = builtinEmbedder(file);
  const held = sets.filter(({ name }) => names.split(',').includes(name));
  return held.flatMap((set) => [...tryRequests(set, { ...common, embedder })]);
});
const counts = Map.groupBy(trials, ({ set, isAnswerable }) => `${set} ${isAnswerable}`);
// Every set counts alike.
const weightOf = (group: string) => 1 / (counts.get(group)?.length ?? 1);
const examples = trials.map((trial) => ({ ...trial, weight: weightOf(`${trial.set} ${trial.isAnswerable}`) }));

for (const lost of [0.01, 0.02, 0.05, 0.1])
  say(`${percent(lost)} lost: ${percent(refusedBelow(barFor(lost, examples), examples))} refused`);
const bars = [...Map.groupBy(examples, ({ set }) => set)].map(([name, own]) => {
  const bar = barFor(MOST_LOST, own);
  say(`${name}: ${percent(MOST_LOST)} lost, ${percent(refusedBelow(bar, own))} refused below ${bar.toFixed(3)}`);
  return bar;
});
const { bias, slope } = fitLogistic(examples);
const bar = Math.min(...bars);
say(`${examples.length} requests. bias: ${bias.toFixed(2)}, slope: ${slope.toFixed(2)}`);
say(
  `minScore: ${(1 / (1 + Math.exp(-bias - slope * bar))).toFixed(3)}, ${percent(refusedBelow(bar, examples))} refused below ${bar.toFixed(3)}`,
);
