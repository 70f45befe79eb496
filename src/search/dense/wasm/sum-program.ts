import { advance, type Code, op, toWasm, type WasmFunction } from './wasm-bytes.ts';
import { PAGE_BYTES } from './wasm-engine.ts';

/** Where things lie in the memory that sums are made in; all in bytes. */
export interface SumLayout {
  readonly dimensions: number;
  /** The sum, 64-bit floats. */
  readonly sum: number;
  /** For each word to add: the address of its vector, then its scale as a 64-bit float, 16 bytes together. */
  readonly list: number;
  readonly vectors: number;
}

/** Words that one call adds. */
export const WORDS_AT_ONCE = 1024;
export const ENTRY_BYTES = 16;
/** Where the scale stands in an entry. */
export const SCALE_IN_ENTRY = 8;
const BLOCK = 8;

/** The layout for vectors of so many dimensions; a block may read beyond the last one. */
export function layoutSum(dimensions: number): SumLayout {
  const list = Math.ceil(dimensions / BLOCK) * BLOCK * 8;
  return { dimensions, sum: 0, list, vectors: list + WORDS_AT_ONCE * ENTRY_BYTES };
}

/** The loop of `createPlainSum` as a WebAssembly module: eight dimensions of all words, then the next eight. The order of additions is the same. */
export function sumProgram(layout: SumLayout, vectorBytes: number): Uint8Array<ArrayBuffer> {
  const bytes = layout.vectors + vectorBytes + BLOCK;
  return toWasm([addWords(layout)], Math.ceil(bytes / PAGE_BYTES));
}

/** addWords(count): adds the listed vectors, each times its scale, to the sum. */
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
