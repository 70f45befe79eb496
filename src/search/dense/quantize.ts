/** A vector as stored in an index. */
export interface QuantizedVector {
  /** Steps of equal size, at most 127. */
  readonly steps: Int8Array;
  /** One bit per positive number, eight per byte. */
  readonly signs: Int8Array;
  /** 1 / length of `steps`; 0 for a zero vector, which is similar to nothing. */
  readonly inverseNorm: number;
}

const MOST_STEPS = 127;

/** Rounds a vector to bytes. Only its direction is kept; NaN and infinite numbers count as zero. */
export function quantize(vector: Float32Array): QuantizedVector {
  const steps = new Int8Array(vector.length);
  const signs = new Int8Array(Math.ceil(vector.length / 64) * 8);
  return { steps, signs, inverseNorm: fillQuantized(vector, steps, signs) };
}

/** Creates a quantizer whose result is overwritten by the next call. */
export function createQuantizer(dimensions: number): typeof quantize {
  const steps = new Int8Array(dimensions);
  const signs = new Int8Array(Math.ceil(dimensions / 64) * 8);
  return (vector) => ({ steps, signs, inverseNorm: fillQuantized(vector, steps, signs) });
}

/** Writes steps and signs; returns the inverse norm. */
function fillQuantized(vector: Float32Array, steps: Int8Array, signs: Int8Array): number {
  let largest = 0;
  for (let index = 0; index < vector.length; index++) largest = Math.max(largest, Math.abs(vector[index] as number)); // within the vector
  if (!Number.isFinite(largest)) return fillQuantized(vector.map(finiteOrNought), steps, signs);
  const scale = largest === 0 ? 0 : MOST_STEPS / largest;
  let squares = 0;
  let bits = 0;
  for (let index = 0; index < vector.length; index++) {
    // Shifted to positive numbers, where truncation rounds correctly: Math.round takes three times as long.
    const step = (((vector[index] as number) * scale + ABOVE_NOUGHT + 0.5) | 0) - ABOVE_NOUGHT; // within the vector
    steps[index] = step;
    squares += step * step;
    // The sign bit of the negation instead of a comparison, because half of all branch predictions would be wrong.
    bits |= (-step >>> 31) << (index & 7);
    if ((index & 7) === 7) {
      signs[index >> 3] = bits;
      bits = 0;
    }
  }
  if ((vector.length & 7) !== 0) signs[vector.length >> 3] = bits;
  return squares === 0 ? 0 : 1 / Math.sqrt(squares);
}

/** Offset that makes the lowest step positive. */
const ABOVE_NOUGHT = 128;

function finiteOrNought(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

/** Rows are stored in chunks, so that growing never moves a row. */
export const CHUNK_SHIFT = 12;
export const ROWS_PER_CHUNK = 1 << CHUNK_SHIFT;
/** Number of rows per call of `multiply`. */
export const LIST_LENGTH = 4096;

/** Memory layout of a scan; all values in bytes. */
export interface RowLayout {
  readonly dimensions: number;
  /** The signs of the request's vector, one bit each. */
  readonly querySigns: number;
  /** The request's vector as 16-bit numbers. */
  readonly queryVector: number;
  /** Number of rows at each distance. */
  readonly histogram: number;
  /** Input: addresses of rows; output: row numbers. */
  readonly list: number;
  readonly products: number;
  readonly chunks: number;
  readonly vectorBytes: number;
  readonly signBytes: number;
  /** Offsets within a chunk. */
  readonly signsInChunk: number;
  readonly distancesInChunk: number;
  readonly chunkBytes: number;
}

/** Computes the layout. Rows are padded with zeros, which change neither product nor distance. */
export function layoutRows(dimensions: number): RowLayout {
  const vectorBytes = Math.ceil(dimensions / 16) * 16;
  const signBytes = Math.ceil(dimensions / 64) * 8;
  const queryVector = Math.ceil(signBytes / 16) * 16;
  const histogram = queryVector + vectorBytes * 2;
  const list = Math.ceil((histogram + (dimensions + 1) * 4) / 16) * 16;
  const products = list + LIST_LENGTH * 4;
  const signsInChunk = ROWS_PER_CHUNK * vectorBytes;
  const distancesInChunk = signsInChunk + ROWS_PER_CHUNK * signBytes;
  return {
    ...{ dimensions, querySigns: 0, queryVector, histogram, list, products, chunks: products + LIST_LENGTH * 4 },
    ...{ vectorBytes, signBytes, signsInChunk, distancesInChunk, chunkBytes: distancesInChunk + ROWS_PER_CHUNK * 2 },
  };
}
