import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createQuantizer, quantize } from '../../src/search/dense/quantize.ts';

const vectors = fc
  .array(fc.float({ noNaN: true, noDefaultInfinity: true, min: -1000, max: 1000 }), { minLength: 1, maxLength: 70 })
  .map((values) => Float32Array.from(values));

/** What bytes of a vector are to be. */
function stepsOf(vector: Float32Array): readonly number[] {
  const largest = Math.max(...vector.map(Math.abs));
  return [...vector].map((value) => (largest === 0 ? 0 : Math.round((value * 127) / largest)));
}

describe('vectors as bytes', () => {
  it('are rounded, so that the largest number is 127', () => {
    fc.assert(
      fc.property(vectors, (vector) => {
        const { steps } = quantize(vector);
        const wanted = stepsOf(vector);
        for (const [index, step] of steps.entries())
          expect(Math.abs(step - (wanted[index] ?? 0))).toBeLessThanOrEqual(1);
        expect(Math.max(...steps.map(Math.abs))).toBe(vector.some((value) => value !== 0) ? 127 : 0);
      }),
      { examples: [[Float32Array.of(1, -1, 0.5, -0.5, 0.004, -0.004)], [Float32Array.of(1e-45, -1e-45)]] },
    );
    expect([...quantize(Float32Array.of(127, 1.4, 1.6, -1.4, -1.6, 0, -127)).steps]).toEqual([
      127, 1, 2, -1, -2, 0, -127,
    ]);
  });

  it('have a bit for each number above zero, and their length', () => {
    fc.assert(
      fc.property(vectors, (vector) => {
        const { steps, signs, inverseNorm } = quantize(vector);
        for (const [index, step] of steps.entries()) {
          expect(((signs[index >> 3] ?? 0) >> (index & 7)) & 1).toBe(step > 0 ? 1 : 0);
        }
        const squares = steps.reduce((sum, step) => sum + step * step, 0);
        expect(inverseNorm).toBe(squares === 0 ? 0 : 1 / Math.sqrt(squares));
      }),
    );
  });

  it('a value that is not a finite number is zero', () => {
    const { steps, inverseNorm } = quantize(Float32Array.of(Number.NaN, 2, Number.POSITIVE_INFINITY, -1, -Infinity));
    expect([...steps]).toEqual([0, 127, 0, -63, 0]);
    expect(inverseNorm).toBeGreaterThan(0);
    expect(quantize(Float32Array.of(Number.NaN, Number.NaN)).inverseNorm).toBe(0);
  });

  it('converted together equal those converted alone', () => {
    fc.assert(
      fc.property(fc.array(vectors), (all) => {
        for (const vector of all) {
          const one = createQuantizer(vector.length);
          one(Float32Array.from(vector, () => 1));
          expect(one(vector)).toEqual(quantize(vector));
        }
      }),
    );
  });
});
