import { layoutRows, type RowLayout } from './quantize.ts';
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

/** The three hot loops of a dense search, over memory laid out by `layout`. */
export interface Scan {
  readonly layout: RowLayout;
  /** The current memory: growing replaces the buffer. */
  buffer(): ArrayBufferLike;
  /** Makes room for this many bytes; existing data stays in place. */
  reserve(bytes: number): void;
  /** Computes the Hamming distances of the first `count` rows of the chunk at `address` to the request, and counts them in the histogram. */
  measure(address: number, count: number): void;
  /** Lists the rows within `distance`, numbered from `first`; returns how many there are. */
  collect(address: number, count: number, distance: number, first: number): number;
  /** Computes the products of the request's vector with the rows whose addresses are in the list. */
  multiply(count: number): void;
}

/** Creates a scan with WebAssembly SIMD, or with plain JavaScript if SIMD is not available; both give the same numbers. */
export function createScan(dimensions: number): Scan {
  return createWasmScan(dimensions) ?? createPlainScan(dimensions);
}

/** Undefined if WebAssembly or its SIMD instructions are missing. */
export function createWasmScan(dimensions: number): Scan | undefined {
  const layout = layoutRows(dimensions);
  const running = runWasm<ScanExports>(scanProgram(layout));
  if (running === undefined) return undefined;
  const { memory, measure, collect, multiply } = running;
  return {
    ...{ layout, measure, collect, multiply },
    buffer: () => memory.buffer,
    reserve(size) {
      const missing = size - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
    },
  };
}

type ScanExports = WasmExports & Pick<Scan, 'measure' | 'collect' | 'multiply'>;

/** Creates a scan in plain JavaScript. */
export function createPlainScan(dimensions: number): Scan {
  const layout = layoutRows(dimensions);
  let bytes = new Uint8Array(layout.chunks);
  return {
    layout,
    buffer: () => bytes.buffer,
    reserve(size) {
      if (size <= bytes.length) return;
      const larger = new Uint8Array(size);
      larger.set(bytes);
      bytes = larger;
    },
    measure: (address, count) => measureRows(bytes.buffer, { layout, address, count }),
    collect: (address, count, distance, first) => {
      const distances = new Uint16Array(bytes.buffer, address + layout.distancesInChunk, count);
      const list = new Int32Array(bytes.buffer, layout.list);
      let found = 0;
      for (let row = 0; row < count; row++) if ((distances[row] ?? 0) <= distance) list[found++] = first + row;
      return found;
    },
    multiply: (count) => multiplyRows(bytes.buffer, layout, count),
  };
}

interface RowSpan {
  readonly layout: RowLayout;
  readonly address: number;
  readonly count: number;
}

function measureRows(buffer: ArrayBufferLike, { layout, address, count }: RowSpan): void {
  const words = layout.signBytes / 4;
  const query = new Uint32Array(buffer, layout.querySigns, words);
  const signs = new Uint32Array(buffer, address + layout.signsInChunk, count * words);
  const distances = new Uint16Array(buffer, address + layout.distancesInChunk, count);
  const histogram = new Uint32Array(buffer, layout.histogram, layout.dimensions + 1);
  for (let row = 0; row < count; row++) {
    let distance = 0;
    for (let word = 0; word < words; word++) distance += onesOf((signs[row * words + word] ?? 0) ^ (query[word] ?? 0));
    distances[row] = distance;
    histogram[distance] = (histogram[distance] ?? 0) + 1;
  }
}

function multiplyRows(buffer: ArrayBufferLike, layout: RowLayout, count: number): void {
  const query = new Int16Array(buffer, layout.queryVector, layout.dimensions);
  const list = new Int32Array(buffer, layout.list, count);
  const products = new Int32Array(buffer, layout.products, count);
  const bytes = new Int8Array(buffer);
  for (let entry = 0; entry < count; entry++) {
    const row = list[entry] ?? 0;
    let sum = 0;
    for (let index = 0; index < query.length; index++) sum += (query[index] ?? 0) * (bytes[row + index] ?? 0);
    products[entry] = sum;
  }
}

/** The number of set bits in 32, counted in pairs, fours and bytes in parallel. */
function onesOf(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The loops of a scan as a WebAssembly module, unrolled for the layout, so that a row needs no inner loop. */
function scanProgram(layout: RowLayout): Uint8Array<ArrayBuffer> {
  return toWasm([measure(layout), collect(layout), multiply(layout)], Math.ceil(layout.chunks / PAGE_BYTES));
}

/** measure(address, count): the distance of each row's signs to the request's, stored in the chunk and in the histogram. */
function measure(layout: RowLayout): WasmFunction {
  const [address, count, signs, distance] = [0, 1, 2, 3];
  const blocks = Array.from({ length: layout.signBytes / 8 }, (_, block): Code => {
    const differing = [
      ...op.get(signs),
      ...op.load64(block * 8),
      ...op.constant(layout.querySigns),
      ...op.load64(block * 8),
      ...op.xor64,
      ...op.popcount64,
    ];
    return block === 0 ? differing : [...differing, ...op.add64];
  });
  const body = [
    ...blocks.flat(),
    ...op.toInt32,
    ...op.set(distance),
    ...[...op.get(address), ...op.get(distance), ...op.store16(layout.distancesInChunk)],
    // histogram[distance]++
    ...[...op.get(distance), ...op.constant(2), ...op.shiftLeft],
    ...[...op.get(distance), ...op.constant(2), ...op.shiftLeft, ...op.load(layout.histogram)],
    ...[...op.constant(1), ...op.add, ...op.store(layout.histogram)],
    ...advance(signs, layout.signBytes),
    ...advance(address, 2),
  ];
  const start = [...op.get(address), ...op.constant(layout.signsInChunk), ...op.add, ...op.set(signs)];
  return {
    name: 'measure',
    parameters: 2,
    returns: 'nothing',
    locals: [{ count: 2, kind: 'i32' }],
    body: [...start, ...op.countDown(count, body)],
  };
}

/** collect(address, count, distance, first): the numbers of the rows that are near enough; returns how many there are. */
function collect(layout: RowLayout): WasmFunction {
  const [address, count, distance, row, end] = [0, 1, 2, 3, 4];
  const note = [...op.get(end), ...op.get(row), ...op.store(layout.list), ...advance(end, 4)];
  const body = [
    ...[...op.get(address), ...op.load16(layout.distancesInChunk), ...op.get(distance), ...op.lessOrEqual],
    ...op.whenTrue(note),
    ...advance(address, 2),
    ...advance(row, 1),
  ];
  return {
    name: 'collect',
    parameters: 4,
    returns: 'i32',
    locals: [{ count: 1, kind: 'i32' }],
    body: [...op.countDown(count, body), ...op.get(end), ...op.constant(2), ...op.shiftRight],
  };
}

/** multiply(count): the products of the request's vector with the listed rows. */
function multiply(layout: RowLayout): WasmFunction {
  const [count, entry, row, sum] = [0, 1, 2, 3];
  const blocks = Array.from({ length: layout.vectorBytes / 8 }, (_, block): Code => {
    const product = [
      ...op.get(row),
      ...op.loadBytes(block * 8),
      ...op.constant(layout.queryVector),
      ...op.loadVector(block * 16),
      ...op.multiplyPairs,
    ];
    return block === 0 ? product : [...product, ...op.addVectors];
  });
  const lanes = [0, 1, 2, 3].map((lane): Code => [...op.get(sum), ...op.lane(lane), ...(lane === 0 ? [] : op.add)]);
  const body = [
    ...[...op.get(entry), ...op.load(layout.list), ...op.set(row)],
    ...[...blocks.flat(), ...op.set(sum)],
    ...[...op.get(entry), ...lanes.flat(), ...op.store(layout.products)],
    ...advance(entry, 4),
  ];
  return {
    name: 'multiply',
    parameters: 1,
    returns: 'nothing',
    locals: [
      { count: 2, kind: 'i32' },
      { count: 1, kind: 'v128' },
    ],
    body: op.countDown(count, body),
  };
}
