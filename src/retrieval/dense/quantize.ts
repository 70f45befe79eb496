/** A vector as an index keeps it. */
export interface QuantizedVector {
  /** Steps of equal size, the largest 127. */
  readonly steps: Int8Array;
  /** A bit for each number above nought, eight a byte. */
  readonly signs: Int8Array;
  /** 1 / length of `steps`; 0 for a vector of noughts, which is similar to nothing. */
  readonly inverseNorm: number;
}

const MOST_STEPS = 127;

/** Rounds a vector to bytes. Only its direction is kept; numbers that are none count as nought. */
export function quantize(vector: Float32Array): QuantizedVector {
  let largest = 0;
  for (const value of vector) if (Math.abs(value) > largest && Number.isFinite(value)) largest = Math.abs(value);
  const steps = new Int8Array(vector.length);
  const signs = new Int8Array(Math.ceil(vector.length / 64) * 8);
  const scale = largest === 0 ? 0 : MOST_STEPS / largest;
  let squares = 0;
  for (let index = 0; index < vector.length; index++) {
    const value = (vector[index] ?? 0) * scale;
    const step = Number.isFinite(value) ? Math.round(value) : 0;
    steps[index] = step;
    squares += step * step;
    if (step > 0) signs[index >> 3] = (signs[index >> 3] ?? 0) | (1 << (index & 7));
  }
  return { steps, signs, inverseNorm: squares === 0 ? 0 : 1 / Math.sqrt(squares) };
}
