import type { QuantizedVector } from './quantize.ts';
import { LIST_LENGTH } from './row-layout.ts';
import type { RowStore } from './row-store.ts';

/** Compares rows with one vector at a time. What it returns is a view that its next call overwrites. */
export interface RowSearch {
  /** Makes `vector` the one that rows are compared with. */
  aim(vector: QuantizedVector): void;
  /** Rows that are likely to be nearest, at least `wanted` of them if there are as many. */
  near(wanted: number): Int32Array;
  /** Cosines of at most `LIST_LENGTH` rows. */
  compare(rows: Int32Array): Float32Array;
}

/** Searches the rows of a store. */
export function createRowSearch(store: RowStore): RowSearch {
  const { scan } = store;
  const { layout } = scan;
  const cosines = new Float32Array(LIST_LENGTH);
  let found = new Int32Array(0);
  let aimNorm = 0;

  /** The smallest distance within which `wanted` rows lie. */
  function distanceFor(wanted: number): number {
    // Every distance that was ever measured is within the dimensions.
    if (wanted >= store.count) return layout.dimensions;
    const histogram = new Uint32Array(scan.buffer(), layout.histogram, layout.dimensions + 1).fill(0);
    for (const { address, rows } of store.chunks()) scan.measure(address, rows);
    let distance = 0;
    for (let within = histogram[0] ?? 0; within < wanted; within += histogram[distance] ?? wanted) distance++;
    return distance;
  }

  return {
    aim({ steps, signs, inverseNorm }) {
      new Int8Array(scan.buffer(), layout.querySigns, layout.signBytes).set(signs);
      new Int16Array(scan.buffer(), layout.queryVector, layout.dimensions).set(steps);
      aimNorm = inverseNorm;
    },
    near(wanted) {
      if (found.length < store.count) found = new Int32Array(Math.ceil(store.count * 1.5));
      const distance = distanceFor(wanted);
      let length = 0;
      for (const { address, first, rows } of store.chunks()) {
        const collected = scan.collect(address, rows, distance, first);
        found.set(new Int32Array(scan.buffer(), layout.list, collected), length);
        length += collected;
      }
      return found.subarray(0, length);
    },
    compare(rows) {
      const list = new Int32Array(scan.buffer(), layout.list, rows.length);
      const { inverseNorms } = store;
      store.listAddresses(rows, list);
      scan.multiply(rows.length);
      const products = new Int32Array(scan.buffer(), layout.products, rows.length);
      for (let place = 0; place < rows.length; place++) {
        const inverseNorm = inverseNorms[rows[place] as number] as number; // within the list
        cosines[place] = (products[place] as number) * aimNorm * inverseNorm; // one for each row
      }
      return cosines;
    },
  };
}
