import type { WordVectors } from '../model-file.ts';
import { ENTRY_BYTES, layoutSum, SCALE_IN_ENTRY, sumProgram, WORDS_AT_ONCE } from './sum-program.ts';
import { runWasm, type WasmExports } from './wasm-engine.ts';

/** Adds up the vectors of words, each times its scale. */
export interface SumWords {
  /** The sum so far; a view that stays the same. */
  readonly sum: Float64Array;
  /** Starts with noughts. */
  start(): void;
  /** Adds the word at a place of the model; the sum holds it after `finish`. */
  add(place: number): void;
  finish(): void;
}

/** Adds by WebAssembly; undefined where that or its SIMD instructions are missing. The vectors are copied into its memory. */
export function createWasmSum({ dimensions, scales, vectors }: WordVectors): SumWords | undefined {
  const layout = layoutSum(dimensions);
  const running = runWasm<WasmExports & { addWords(count: number): void }>(sumProgram(layout, vectors.length));
  if (running === undefined) return undefined;
  const { buffer } = running.memory;
  new Int8Array(buffer, layout.vectors, vectors.length).set(vectors);
  const sum = new Float64Array(buffer, layout.sum, dimensions);
  const addresses = new Uint32Array(buffer, layout.list, WORDS_AT_ONCE * (ENTRY_BYTES / 4));
  const factors = new Float64Array(buffer, layout.list, WORDS_AT_ONCE * (ENTRY_BYTES / 8));
  let listed = 0;
  function finish(): void {
    if (listed > 0) running?.addWords(listed);
    listed = 0;
  }
  return {
    sum,
    start: () => void sum.fill(0),
    add(place) {
      addresses[listed * (ENTRY_BYTES / 4)] = layout.vectors + place * dimensions;
      factors[(listed * ENTRY_BYTES + SCALE_IN_ENTRY) / 8] = scales[place] as number; // a place of the model
      listed += 1;
      if (listed === WORDS_AT_ONCE) finish();
    },
    finish,
  };
}

/** The same in plain JavaScript, with the same numbers. */
export function createPlainSum({ dimensions, scales, vectors }: WordVectors): SumWords {
  // Of the kind that numbers are added in: rounding each step would take as long as the sum itself.
  const sum = new Float64Array(dimensions);
  return {
    sum,
    start: () => void sum.fill(0),
    add(place) {
      const scale = scales[place] ?? 0;
      const first = place * dimensions;
      for (let index = 0; index < dimensions; index++) {
        sum[index] = (sum[index] ?? 0) + scale * (vectors[first + index] ?? 0);
      }
    },
    finish: () => undefined,
  };
}
