import type { Batch } from './contrast.ts';
import { type EncodedText, encodeText } from './encode-text.ts';
import { type Random, shuffled } from './random.ts';
import { dot } from './rows.ts';
import type { PairSet, TrainingPair } from './training-pairs.ts';
import { toIndexes, type Vocabulary } from './vocabulary.ts';
import type { WordModel } from './word-model.ts';

/** How batches are made. */
export interface BatchOptions {
  readonly batchSize: number;
  /** Tools of the same set that nobody in the batch asked for. */
  readonly extraTools: number;
  /** The share of words that is left out of a text, so that no single word is relied on. */
  readonly dropWords: number;
  /** How often a request of several sentences stands for itself, instead of the sentence that is nearest to its tool. */
  readonly wholeQueries: number;
  readonly random: Random;
}

/** Pairs of one set that are trained on together: tools of one kind are harder to tell apart than any tools. */
export interface PlannedBatch {
  readonly set: IndexedSet;
  readonly pairs: readonly TrainingPair[];
}

/** A set with its texts as places in the vocabulary. */
export interface IndexedSet {
  readonly set: PairSet;
  readonly ids: readonly string[];
  readonly tools: ReadonlyMap<string, readonly Int32Array[]>;
  readonly queries: ReadonlyMap<TrainingPair, readonly Int32Array[]>;
}

/** Looks all words up once. */
export function indexSet(set: PairSet, vocabulary: Vocabulary): IndexedSet {
  const indexed = (texts: readonly string[]) => texts.map((text) => toIndexes(text, vocabulary));
  const tools = new Map(Array.from(set.tools, ([id, texts]) => [id, indexed(texts)]));
  const queries = new Map(set.pairs.map((pair) => [pair, indexed(pair.query).filter(({ length }) => length > 0)]));
  return { set, ids: [...tools.keys()], tools, queries };
}

/** The batches of one pass over one set. */
export function planPass(set: IndexedSet, { batchSize, random }: BatchOptions): readonly PlannedBatch[] {
  const usable = set.set.pairs.filter((pair) => (set.queries.get(pair)?.length ?? 0) > 0);
  const pairs: TrainingPair[] = [];
  while (pairs.length < set.set.perPass && usable.length > 0) pairs.push(...shuffled(usable, random));
  pairs.length = Math.min(pairs.length, set.set.perPass);
  const batches: PlannedBatch[] = [];
  for (let start = 0; start < pairs.length; start += batchSize) {
    batches.push({ set, pairs: pairs.slice(start, start + batchSize) });
  }
  return batches;
}

/** The texts of a batch on their way through the model. */
export function toBatch(model: WordModel, { set, pairs }: PlannedBatch, options: BatchOptions): Batch {
  const { random } = options;
  const columns = new Map<string, number>();
  const columnOf = (id: string): number => {
    const column = columns.get(id) ?? columns.size;
    columns.set(id, column);
    return column;
  };
  const wanted = Int32Array.from(pairs, ({ relevant }) => columnOf(relevant[random.below(relevant.length)] ?? ''));
  for (let extra = 0; extra < options.extraTools; extra++) columnOf(set.ids[random.below(set.ids.length)] ?? '');
  const tools = [...columns.keys()].map((id) => {
    const texts = set.tools.get(id) ?? [];
    return encodeText(model, dropSome(texts[random.below(texts.length)] ?? new Int32Array(), options));
  });
  const queries = pairs.map((pair, row) => {
    const texts = set.queries.get(pair) ?? [];
    return encodeText(model, dropSome(chooseText(model, { texts, tool: tools[wanted[row] ?? 0] }, options), options));
  });
  const alsoRight = pairs.map(({ relevant }) => new Set(relevant.flatMap((id) => columns.get(id) ?? [])));
  return { queries, tools, wanted, alsoRight };
}

interface Meeting {
  readonly texts: readonly Int32Array[];
  readonly tool: EncodedText | undefined;
}

/** The whole text, or the sentence that is nearest to the tool: each sentence may ask for another. */
function chooseText(model: WordModel, { texts, tool }: Meeting, options: BatchOptions): Int32Array {
  const [whole = new Int32Array(), ...sentences] = texts;
  if (tool === undefined || sentences.length < 2 || options.random.next() < options.wholeQueries) return whole;
  const similarities = sentences.map((words) => dot(encodeText(model, words).vector, tool.vector));
  return sentences[similarities.indexOf(Math.max(...similarities))] ?? whole;
}

function dropSome(words: Int32Array, { dropWords, random }: BatchOptions): Int32Array {
  const kept = words.filter(() => random.next() >= dropWords);
  return kept.length === 0 ? words : kept;
}
