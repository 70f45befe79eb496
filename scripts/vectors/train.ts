import { type Adam, createAdam } from './adam.ts';
import { type BatchOptions, indexSet, planPass, toBatch } from './batches.ts';
import { type Batch, contrast } from './contrast.ts';
import { type Gradients, traceBack } from './encode-text.ts';
import { shuffled } from './random.ts';
import { createRows, rowAt } from './rows.ts';
import type { PairSet } from './training-pairs.ts';
import type { Vocabulary } from './vocabulary.ts';
import type { WordModel } from './word-model.ts';

/** Everything about a run of training that can be chosen. */
export interface TrainingOptions extends BatchOptions {
  readonly passes: number;
  /** How sharply the nearest tool is told from the next. */
  readonly temperature: number;
  readonly mapRate: number;
  readonly ownRate: number;
  readonly weightRate: number;
  readonly say: (line: string) => void;
}

/** What is trained on. */
export interface TrainingData {
  readonly sets: readonly PairSet[];
  readonly vocabulary: Vocabulary;
}

/** The pace of learning falls to this share of what it was. */
const LAST_PACE = 0.05;

/** Trains the model in place. Equal input and equal seed give equal bytes. */
export function train(model: WordModel, { sets, vocabulary }: TrainingData, options: TrainingOptions): void {
  const indexed = sets.map((set) => indexSet(set, vocabulary));
  const update = createUpdate(model, options);
  for (let pass = 0; pass < options.passes; pass++) {
    const batches = shuffled(
      indexed.flatMap((set) => planPass(set, options)),
      options.random,
    );
    let loss = 0;
    for (const [index, planned] of batches.entries()) {
      const batch = toBatch(model, planned, options);
      loss += contrast(batch, options.temperature) / batches.length;
      const progress = (pass + index / batches.length) / options.passes;
      update(batch, Math.max(LAST_PACE, 1 - progress));
    }
    options.say(`pass ${pass + 1} of ${options.passes}: loss ${loss.toFixed(4)} over ${batches.length} batches`);
  }
}

function createUpdate(model: WordModel, options: TrainingOptions): (batch: Batch, pace: number) => void {
  const mapMemory = model.map.map((row) => createAdam(row.length));
  const memories = new Map<number, { readonly own: Adam; readonly weight: Adam }>();
  return ({ queries, tools }, pace) => {
    const gradients: Gradients = {
      map: createRows(model.map.length, model.base[0]?.length ?? 0),
      own: new Map(),
      logWeights: new Map(),
    };
    for (const text of [...queries, ...tools]) traceBack(model, text, gradients);
    for (const [index, memory] of mapMemory.entries()) {
      memory.step(rowAt(model.map, index), rowAt(gradients.map, index), options.mapRate * pace);
    }
    for (const [word, gradient] of gradients.own) {
      const memory = memories.get(word) ?? { own: createAdam(gradient.length), weight: createAdam(1) };
      memories.set(word, memory);
      memory.own.step(rowAt(model.own, word), gradient, options.ownRate * pace);
      const weight = model.logWeights.subarray(word, word + 1);
      memory.weight.step(weight, Float32Array.of(gradients.logWeights.get(word) ?? 0), options.weightRate * pace);
    }
  };
}
