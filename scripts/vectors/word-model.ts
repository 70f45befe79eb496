import type { Random } from './random.ts';
import { addScaled, createRows, dot, normOf, type Rows, rowAt, scale } from './rows.ts';
import type { Vocabulary } from './vocabulary.ts';

/**
 * What is learned. The vector of a word is `map * base + own`, counted with `exp(logWeight)`: the map moves all words
 * together, those that no training text holds as well; `own` moves one.
 */
export interface WordModel {
  readonly base: Rows;
  readonly map: Rows;
  readonly own: Rows;
  readonly logWeights: Float32Array;
}

/** Rare words weigh more: a word that makes up this share of all counts half. */
const HALF_WEIGHT_SHARE = 1e-3;

/** A model that knows what the general vectors know. */
export function createWordModel(
  vocabulary: Vocabulary,
  general: ReadonlyMap<string, Float32Array>,
  { dimensions, random }: { readonly dimensions: number; readonly random: Random },
): WordModel {
  const width = general.values().next().value?.length ?? dimensions;
  const base = createRows(vocabulary.words.length, width);
  for (const [index, word] of vocabulary.words.entries()) rowAt(base, index).set(general.get(word) ?? []);
  centre(base);
  const logWeights = Float32Array.from(vocabulary.counts, (count) =>
    Math.log(HALF_WEIGHT_SHARE / (HALF_WEIGHT_SHARE + Math.max(count, 0.5) / Math.max(1, vocabulary.total))),
  );
  return { base, map: createRotation(dimensions, width, random), own: createRows(base.length, dimensions), logWeights };
}

/** The vector of one word, weight included, as it is shipped. */
export function vectorOf(model: WordModel, word: number): Float32Array {
  const vector = Float32Array.from(rowAt(model.own, word));
  const base = rowAt(model.base, word);
  for (const [index, row] of model.map.entries()) vector[index] = (vector[index] ?? 0) + dot(row, base);
  scale(vector, Math.exp(model.logWeights[word] ?? 0));
  return vector;
}

/** What all words share says nothing about any of them. */
function centre(base: Rows): void {
  const known = base.filter((row) => normOf(row) > 0);
  const mean = new Float32Array(base[0]?.length ?? 0);
  for (const row of known) addScaled(mean, row, 1 / known.length);
  let norms = 0;
  for (const row of known) {
    addScaled(row, mean, -1);
    norms += normOf(row) / known.length;
  }
  for (const row of known) scale(row, 1 / norms);
}

/** Columns at right angles: angles between words stay as they are, and no dimension holds more than the others. */
function createRotation(dimensions: number, width: number, random: Random): Rows {
  const columns = createRows(width, dimensions);
  for (const [index, column] of columns.entries()) {
    for (let at = 0; at < dimensions; at++) column[at] = random.normal();
    if (index < dimensions)
      for (const earlier of columns.slice(0, index)) addScaled(column, earlier, -dot(column, earlier));
    scale(column, 1 / normOf(column));
  }
  const rows = createRows(dimensions, width);
  for (const [at, row] of rows.entries()) {
    for (const [index, column] of columns.entries()) row[index] = column[at] ?? 0;
  }
  return rows;
}
