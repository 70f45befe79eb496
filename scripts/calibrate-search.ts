// Fits what the figures of search are worth, mode by mode: docs/search-tuning.md says on what, and how well.
import { parseArgs } from 'node:util';
import { builtinEmbedder } from '../src/search/dense/builtin-embedder.ts';
import { sentencesOf } from '../src/search/dense/dense-index.ts';
import type { SearchMode } from '../src/search/tuning.ts';
import { tryCatalogues, tryDomains, tryProducts, tryReworded } from './calibration/described-requests.ts';
import { barFor, type Example, fitLogistic, lostBelow, refusedBelow } from './calibration/fit-logistic.ts';
import { type Trial, tryRequests } from './calibration/held-out-requests.ts';
import { createRandom } from './vectors/random.ts';
import { readTrainingSets, type TrainingSet } from './vectors/training-sets.ts';

/** Vectors that know a set would be too sure of it: each `--fold FILE=SET,SET` names vectors that were trained without these sets. */
const { values } = parseArgs({
  options: {
    sets: { type: 'string', default: '../shared/retrieval/train' },
    fold: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string', default: '1' },
  },
});

const MODES: readonly SearchMode[] = ['words', 'vectors', 'hybrid', 'endpoint'];
/** Enough of a set to find sentences in. */
const REQUESTS_WITH_TALK = 2000;
const STATEMENT = /^(I|I'm|I've|My|We|Our|The|There|It)\b[^?]{10,}\.$/;
const ASKS = /\b(need|want|would|please|can|could|help|find|give|show|provide|tell|looking|like to)\b/i;

/** The share of answerable requests that may be marked low. */
const MOST_WRONG = 0.1;

const say = (line: string) => process.stdout.write(`${line}\n`);
const percent = (share: number) => (Number.isNaN(share) ? 'not known' : `${(100 * share).toFixed(1)} %`);
const sets = readTrainingSets(values.sets);

/** Each set counts alike, and in it requests with an answer as much as those without. */
function weighted(trials: readonly Trial[]): readonly (Trial & Example)[] {
  const groupOf = ({ set, isAnswerable }: Trial) => `${set} ${isAnswerable}`;
  const groups = Map.groupBy(trials, groupOf);
  return trials.map((trial) => ({ ...trial, weight: 1 / (groups.get(groupOf(trial))?.length ?? 1) }));
}

function report(trials: readonly Trial[], bar: number): void {
  for (const [name, own] of Map.groupBy(weighted(trials), ({ set }) => set))
    say(`  ${name}: low is right ${percent(refusedBelow(bar, own))}, wrong ${percent(lostBelow(bar, own))}`);
}

/** The highest bar, in hundredths, that is wrong for at most a tenth of the answerable requests of each set in the words of agents. */
function barForAgents(trials: readonly Trial[]): number {
  const asked = weighted(trials).filter(({ set }) => set.endsWith('as agents ask'));
  const bars = [...Map.groupBy(asked, ({ set }) => set).values()].map((own) => barFor(MOST_WRONG, own));
  return Math.floor(100 * Math.min(...bars)) / 100;
}

/** Requests of training sets, by vectors that do not know them. */
function tryFolds(mode: SearchMode): readonly Trial[] {
  const setOf = (wanted: string): TrainingSet | undefined => sets.find(({ name }) => name === wanted);
  const talk = sets
    .flatMap(({ queries }) => queries.slice(0, REQUESTS_WITH_TALK))
    .flatMap(({ query }) => sentencesOf(query))
    .filter((sentence) => STATEMENT.test(sentence) && !ASKS.test(sentence));
  const others = setOf('toucan_corpus')?.tools ?? [];
  const strangers = setOf('clinc150_train')?.queries ?? [];
  const common = { mode, others, strangers, talk, random: createRandom(Number(values.seed)) };
  return values.fold.flatMap((fold) => {
    const [file = '', names = ''] = fold.split('=');
    const embedder = builtinEmbedder(file);
    const held = sets.filter(({ name }) => names.split(',').includes(name));
    return held.flatMap((set) => [...tryRequests(set, { ...common, embedder })]);
  });
}

for (const mode of MODES) {
  const options = { sets, embedder: builtinEmbedder(), mode };
  const written = [...tryCatalogues(options), ...tryProducts(options), ...tryDomains(options)];
  const { bias, slope } = fitLogistic(weighted(written));
  const bar = barForAgents(written);
  say(
    `${mode}: ${written.length} requests, bias: ${bias.toFixed(2)}, slope: ${slope.toFixed(2)}, bar: ${bar.toFixed(3)}`,
  );
  report(written, bar);
  report(tryReworded(options), bar);
  report(tryFolds(mode), bar);
}
