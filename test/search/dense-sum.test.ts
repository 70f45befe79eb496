import { describe, expect, it } from 'vitest';
import { readModel } from '../../src/search/dense/builtin-embedder.ts';
import { createPlainSum, createWasmSum } from '../../src/search/dense/sum-words.ts';
import { embedBy, modelOf, numbersFrom } from './dense-samples.ts';

const WORDS = Array.from(
  { length: 50 },
  (_, index) => `word${String.fromCharCode(97 + (index % 26))}${'x'.repeat(index)}`,
);

function sampleOf(dimensions: number) {
  const model = readModel(modelOf(WORDS, dimensions), 'a model');
  const next = numbersFrom(dimensions);
  // Scales of many sizes, so that an addition in another order would round otherwise.
  return { ...model, scales: model.scales.map(() => next() * 10 ** (next() * 4)) };
}

describe('the sum of the vectors of words', () => {
  it.each([1, 7, 8, 9, 64, 100, 128, 300])(
    'is the same with WebAssembly and without, with %i dimensions',
    (dimensions) => {
      const model = sampleOf(dimensions);
      const [wasm, plain] = [createWasmSum(model), createPlainSum(model)];
      expect(wasm, 'this platform has SIMD').toBeDefined();
      for (const count of [0, 1, 3, 40, 1023, 1024, 1025, 3000]) {
        for (const sum of [wasm, plain]) {
          sum?.start();
          for (let index = 0; index < count; index++) sum?.add((index * 7) % model.fingerprints.length);
          sum?.finish();
        }
        expect([...(wasm?.sum ?? [])], `${count} words`).toEqual([...plain.sum]);
      }
    },
  );

  it('does not depend on how many texts came before', () => {
    const embed = embedBy(modelOf(WORDS, 100));
    const text = WORDS.slice(3, 9).join(' ');
    const first = embed(text);
    expect(first.some((value) => value !== 0)).toBe(true);
    for (let count = 0; count < 1200; count++) expect(embed(text)).toEqual(first);
  });
});
