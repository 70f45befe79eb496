import { packModel } from './pack-model.ts';
import { createRandom } from './random.ts';
import { type TrainingOptions, train } from './train.ts';
import { allTexts, toPairSet } from './training-pairs.ts';
import type { TrainingSet } from './training-sets.ts';
import { chooseVocabulary } from './vocabulary.ts';
import { createWordModel } from './word-model.ts';

/** What a model is made of. */
export interface ModelRecipe {
  readonly sets: readonly TrainingSet[];
  /** Word vectors of the general language, the most frequent first. */
  readonly general: ReadonlyMap<string, Float32Array>;
  readonly seed: number;
  readonly say: (line: string) => void;
  /** What is chosen otherwise than in `CHOSEN`. */
  readonly other?: Partial<Record<keyof typeof CHOSEN, number>>;
}

/** How the shipped model is made; docs/vectors.md says how each was chosen. */
const CHOSEN = {
  words: 56_000,
  minCount: 2,
  dimensions: 128,
  passes: 3,
  batchSize: 256,
  extraTools: 128,
  temperature: 0.08,
  mapRate: 1e-3,
  ownRate: 2e-3,
  weightRate: 5e-3,
  dropWords: 0.15,
  wholeQueries: 0.3,
} as const satisfies Omit<TrainingOptions, 'random' | 'say'> & Readonly<Record<string, number>>;

/** Trains a model and returns its file. The same recipe gives the same bytes. */
export function trainModel({ sets, general, seed, say, other }: ModelRecipe): Uint8Array {
  const chosen = { ...CHOSEN, ...other };
  const random = createRandom(seed);
  const vocabulary = chooseVocabulary(textsOfAll(sets), general.keys(), chosen);
  const seen = vocabulary.counts.filter((count) => count > 0).length;
  say(`${vocabulary.words.length} words, ${seen} of them in the training texts`);
  const model = createWordModel(vocabulary, general, { dimensions: chosen.dimensions, random });
  train(model, { sets: sets.map(toPairSet), vocabulary }, { ...chosen, random, say });
  return packModel(model, vocabulary);
}

function* textsOfAll(sets: readonly TrainingSet[]): Generator<string> {
  for (const set of sets) yield* allTexts(set);
}
