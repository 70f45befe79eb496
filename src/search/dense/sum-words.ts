import type { WordVectors } from './builtin-embedder.ts';
import {
  advance,
  type Code,
  op,
  PAGE_BYTES,
  runWasm,
  toWasm,
  type WasmExports,
  type WasmFunction,
} from './wasm-bytes.ts';

/** Sums the vectors of words, each multiplied by its scale. */
export interface SumWords {
  /** The sum so far; always the same view. */
  readonly sum: Float64Array;
  /** Resets the sum to zeros. */
  start(): void;
  /** Adds the word at an index of the model; it is included in the sum after `finish`. */
  add(place: number): void;
  finish(): void;
}

/** Sums with WebAssembly; undefined if WebAssembly or its SIMD instructions are missing. The vectors are copied into its memory. */
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
      factors[(listed * ENTRY_BYTES + SCALE_IN_ENTRY) / 8] = scales[place] as number; // an index of the model
      listed += 1;
      if (listed === WORDS_AT_ONCE) finish();
    },
    finish,
  };
}

/** Sums in plain JavaScript, with the same results. */
export function createPlainSum({ dimensions, scales, vectors }: WordVectors): SumWords {
  // 64-bit, like the additions: rounding each step would take as long as the sum itself.
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

/** Memory layout for sums; all values in bytes. */
interface SumLayout {
  readonly dimensions: number;
  /** The sum, as 64-bit floats. */
  readonly sum: number;
  /** Entries of 16 bytes for the words to add: the address of the vector, then the scale as a 64-bit float. */
  readonly list: number;
  readonly vectors: number;
}

/** Number of words per call. */
const WORDS_AT_ONCE = 1024;
const ENTRY_BYTES = 16;
/** Offset of the scale in an entry. */
const SCALE_IN_ENTRY = 8;
const BLOCK = 8;

/** Computes the layout; a block may read beyond the last vector. */
function layoutSum(dimensions: number): SumLayout {
  const list = Math.ceil(dimensions / BLOCK) * BLOCK * 8;
  return { dimensions, sum: 0, list, vectors: list + WORDS_AT_ONCE * ENTRY_BYTES };
}

/** The loop of `createPlainSum` as a WebAssembly module: eight dimensions of all words, then the next eight. The order of additions is the same. */
function sumProgram(layout: SumLayout, vectorBytes: number): Uint8Array<ArrayBuffer> {
  const bytes = layout.vectors + vectorBytes + BLOCK;
  return toWasm([addWords(layout)], Math.ceil(bytes / PAGE_BYTES));
}

/** addWords(count): adds the listed vectors, each multiplied by its scale, to the sum. */
function addWords(layout: SumLayout): WasmFunction {
  const [count, blocks, sumAt, offset, entry, left] = [0, 1, 2, 3, 4, 5];
  const [bytes, four, scale] = [6, 7, 8];
  const sums = [9, 10, 11, 12];
  const add = (sum: number, floats: Code): Code => [
    ...[...floats, ...op.toFloats, ...op.get(scale), ...op.multiplyFloats],
    ...[...op.get(sum), ...op.addFloats, ...op.set(sum)],
  ];
  const addFour = (lower: number, upper: number, widen: Code): Code => [
    ...[...op.get(bytes), ...widen, ...op.set(four)],
    ...add(lower, op.get(four)),
    ...add(upper, [...op.get(four), ...op.get(four), ...op.repeatUpper]),
  ];
  const word = [
    ...[...op.get(entry), ...op.loadTwice(layout.list + SCALE_IN_ENTRY), ...op.set(scale)],
    ...[...op.get(entry), ...op.load(layout.list), ...op.get(offset), ...op.add, ...op.loadBytes(0), ...op.set(bytes)],
    ...addFour(9, 10, op.widenLower),
    ...addFour(11, 12, op.widenUpper),
    ...advance(entry, ENTRY_BYTES),
  ];
  const block = [
    ...sums.flatMap((sum, index) => [...op.get(sumAt), ...op.loadVector(layout.sum + index * 16), ...op.set(sum)]),
    ...[...op.constant(0), ...op.set(entry), ...op.get(count), ...op.set(left)],
    ...op.countDown(left, word),
    ...sums.flatMap((sum, index) => [...op.get(sumAt), ...op.get(sum), ...op.storeVector(layout.sum + index * 16)]),
    ...advance(sumAt, BLOCK * 8),
    ...advance(offset, BLOCK),
  ];
  return {
    name: 'addWords',
    parameters: 1,
    returns: 'nothing',
    locals: [
      { count: 5, kind: 'i32' },
      { count: 7, kind: 'v128' },
    ],
    body: [...op.constant(Math.ceil(layout.dimensions / BLOCK)), ...op.set(blocks), ...op.countDown(blocks, block)],
  };
}
