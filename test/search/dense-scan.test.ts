import { describe, expect, it } from 'vitest';
import { layoutRows, quantize } from '../../src/search/dense/quantize.ts';
import { createRowSearch, createRowStore } from '../../src/search/dense/row-store.ts';
import { createPlainScan, createScan, createWasmScan, type Scan } from '../../src/search/dense/scan.ts';
import { numbersFrom } from './dense-samples.ts';

const ROWS = 300;

/** Everything the loops leave behind, over the same random rows. */
function traceOf(scan: Scan): unknown {
  const { layout } = scan;
  const next = numbersFrom(layout.dimensions);
  scan.reserve(layout.chunks + layout.chunkBytes);
  const bytes = new Int8Array(scan.buffer());
  const fill = (start: number, width: number, rows: number) => {
    for (let row = 0; row < rows; row++) {
      for (let index = 0; index < layout.dimensions; index++) bytes[start + row * width + index] = next() * 127;
    }
  };
  fill(layout.chunks, layout.vectorBytes, ROWS);
  for (let row = 0; row <= ROWS; row++) {
    const start = row === ROWS ? layout.querySigns : layout.chunks + layout.signsInChunk + row * layout.signBytes;
    for (let bit = 0; bit < layout.dimensions; bit++) {
      if (next() > 0) bytes[start + (bit >> 3)] = (bytes[start + (bit >> 3)] ?? 0) | (1 << (bit & 7));
    }
  }
  const query = new Int16Array(scan.buffer(), layout.queryVector, layout.dimensions);
  for (let index = 0; index < query.length; index++) query[index] = next() * 127;
  scan.measure(layout.chunks, ROWS);
  const near = scan.collect(layout.chunks, ROWS, layout.dimensions / 2, 1000);
  const list = new Int32Array(scan.buffer(), layout.list, ROWS);
  const collected = [...list.subarray(0, near)];
  for (let row = 0; row < ROWS; row++) list[row] = layout.chunks + row * layout.vectorBytes;
  scan.multiply(ROWS);
  return {
    collected,
    distances: [...new Uint16Array(scan.buffer(), layout.chunks + layout.distancesInChunk, ROWS)],
    histogram: [...new Uint32Array(scan.buffer(), layout.histogram, layout.dimensions + 1)],
    products: [...new Int32Array(scan.buffer(), layout.products, ROWS)],
  };
}

function differingBits(a: Int8Array, b: Int8Array): number {
  const bits = Array.from(a, (byte, index) => ((byte ^ (b[index] ?? 0)) & 0xff).toString(2)).join('');
  return bits.replaceAll('0', '').length;
}

describe('the loops of a dense search', () => {
  it.each([1, 7, 64, 100, 128, 1536, 4096])(
    'give the same results with WebAssembly and without, with %i dimensions',
    (dimensions) => {
      const wasm = createWasmScan(dimensions);
      expect(wasm, 'this platform has SIMD').toBeDefined();
      if (wasm !== undefined) expect(traceOf(wasm)).toEqual(traceOf(createPlainScan(dimensions)));
    },
  );

  it('return nothing for an empty index', () => {
    const wasm = createWasmScan(128);
    wasm?.measure(layoutRows(128).chunks, 0);
    expect(wasm?.collect(layoutRows(128).chunks, 0, 128, 0)).toBe(0);
  });

  it('return the requested number of near rows, whatever was searched before, in order of distance', () => {
    const rows = createRowStore(createScan(64));
    const search = createRowSearch(rows);
    const next = numbersFrom(5);
    const vector = () => quantize(Float32Array.from({ length: 64 }, next));
    const stored = Array.from({ length: 5000 }, vector);
    for (const [owner, one] of stored.entries()) rows.append(owner, one);
    for (let request = 0; request < 4; request++) {
      const aim = vector();
      search.aim(aim);
      const distances = stored.map(({ signs }) => differingBits(signs, aim.signs));
      const bound = distances.toSorted((a, b) => a - b)[299] ?? 0;
      expect([...search.near(300)]).toEqual([...stored.keys()].filter((row) => (distances[row] ?? 0) <= bound));
    }
    expect(search.near(9999)).toHaveLength(5000);
  });

  it('written data stays in place while memory grows', () => {
    for (const scan of [createWasmScan(128), createPlainScan(128)]) {
      new Uint8Array(scan?.buffer() ?? new ArrayBuffer())[5] = 42;
      scan?.reserve(3_000_000);
      expect(new Uint8Array(scan?.buffer() ?? new ArrayBuffer())[5]).toBe(42);
      expect(scan?.buffer().byteLength).toBeGreaterThanOrEqual(3_000_000);
    }
  });
});
