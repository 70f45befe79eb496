import { grown } from '../byte-sections.ts';
import { CHUNK_SHIFT, LIST_LENGTH, type QuantizedVector, ROWS_PER_CHUNK } from './quantize.ts';
import type { Scan } from './scan.ts';

/** Stores vectors without gaps: the last row fills the place of a removed one. */
export interface RowStore {
  readonly scan: Scan;
  readonly count: number;
  /** The owner of a row. */
  ownerOf(row: number): number;
  /** Owners and inverse norms by row; valid until the next addition. */
  readonly owners: Int32Array;
  readonly inverseNorms: Float32Array;
  /** Lists the memory addresses of rows. */
  listAddresses(rows: Int32Array, list: Int32Array): void;
  append(owner: number, vector: QuantizedVector): number;
  /** Moves the last row to the place of `row`; returns its old position, which is `row` itself if that was the last. */
  remove(row: number): number;
  chunks(): Iterable<RowChunk>;
  dump(): RowDump;
  /** Fills an empty store with a dump; false if the dump is inconsistent. */
  restore(dump: RowDump): boolean;
}

/** Rows that are stored side by side. */
interface RowChunk {
  readonly address: number;
  readonly first: number;
  readonly rows: number;
}

/** All rows at once, padded as in memory. */
export interface RowDump {
  readonly owners: Int32Array;
  readonly inverseNorms: Float32Array;
  readonly vectors: Int8Array;
  readonly signs: Int8Array;
}

/** Creates an empty store in the memory of a scan. */
export function createRowStore(scan: Scan): RowStore {
  const { layout } = scan;
  const { vectorBytes, signBytes } = layout;
  let owners = new Int32Array(ROWS_PER_CHUNK);
  let inverseNorms = new Float32Array(ROWS_PER_CHUNK);
  let bytes = new Int8Array(scan.buffer());
  let count = 0;

  const chunkOf = (row: number) => layout.chunks + (row >>> CHUNK_SHIFT) * layout.chunkBytes;
  const placeOf = (row: number) => row & (ROWS_PER_CHUNK - 1);
  const addressOf = (row: number) => chunkOf(row) + placeOf(row) * vectorBytes;
  const signsAt = (row: number) => chunkOf(row) + layout.signsInChunk + placeOf(row) * signBytes;

  function grow(rows: number): void {
    scan.reserve(chunkOf(rows - 1) + layout.chunkBytes);
    bytes = new Int8Array(scan.buffer());
    if (rows <= owners.length) return;
    const size = Math.ceil((rows * 1.5) / ROWS_PER_CHUNK) * ROWS_PER_CHUNK;
    owners = grown(owners, size);
    inverseNorms = grown(inverseNorms, size);
  }

  function* chunks(): Generator<RowChunk> {
    for (let first = 0; first < count; first += ROWS_PER_CHUNK) {
      yield { address: chunkOf(first), first, rows: Math.min(ROWS_PER_CHUNK, count - first) };
    }
  }

  function listAddresses(rows: Int32Array, list: Int32Array): void {
    // Inlined: a call per row would take longer than its product.
    const { chunks: firstChunk, chunkBytes } = layout;
    for (let place = 0; place < rows.length; place += 1) {
      const row = rows[place] as number; // within the list
      list[place] = firstChunk + (row >>> CHUNK_SHIFT) * chunkBytes + (row & (ROWS_PER_CHUNK - 1)) * vectorBytes;
    }
  }

  function append(owner: number, { steps, signs, inverseNorm }: QuantizedVector): number {
    if (placeOf(count) === 0) grow(count + 1);
    bytes.set(steps, addressOf(count));
    bytes.set(signs, signsAt(count));
    owners[count] = owner;
    inverseNorms[count] = inverseNorm;
    return count++;
  }

  function remove(row: number): number {
    const last = --count;
    bytes.copyWithin(addressOf(row), addressOf(last), addressOf(last) + vectorBytes);
    bytes.copyWithin(signsAt(row), signsAt(last), signsAt(last) + signBytes);
    owners[row] = owners[last] ?? 0;
    inverseNorms[row] = inverseNorms[last] ?? 0;
    return last;
  }

  function dump(): RowDump {
    const vectors = new Int8Array(count * vectorBytes);
    const signs = new Int8Array(count * signBytes);
    for (const { first, rows } of chunks()) {
      vectors.set(bytes.subarray(addressOf(first), addressOf(first) + rows * vectorBytes), first * vectorBytes);
      signs.set(bytes.subarray(signsAt(first), signsAt(first) + rows * signBytes), first * signBytes);
    }
    return { owners: owners.slice(0, count), inverseNorms: inverseNorms.slice(0, count), vectors, signs };
  }

  function restore({ owners: from, inverseNorms: norms, vectors, signs }: RowDump): boolean {
    const total = from.length;
    const isWhole = vectors.length === total * vectorBytes && signs.length === total * signBytes;
    if (!isWhole || norms.length !== total) return false;
    if (total > 0) grow(total);
    count = total;
    owners.set(from);
    inverseNorms.set(norms);
    for (const { first, rows } of chunks()) {
      bytes.set(vectors.subarray(first * vectorBytes, (first + rows) * vectorBytes), addressOf(first));
      bytes.set(signs.subarray(first * signBytes, (first + rows) * signBytes), signsAt(first));
    }
    return true;
  }

  return {
    ...{ scan, listAddresses, append, remove, chunks, dump, restore },
    get count() {
      return count;
    },
    get owners() {
      return owners;
    },
    get inverseNorms() {
      return inverseNorms;
    },
    ownerOf: (row) => owners[row] ?? -1,
  };
}

/** Compares rows with one vector at a time. Results are views that the next call overwrites. */
export interface RowSearch {
  /** Sets the vector to compare with. */
  aim(vector: QuantizedVector): void;
  /** Rows that are likely to be nearest: at least `wanted`, if there are that many. */
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

  /** The smallest distance that contains `wanted` rows. */
  function distanceFor(wanted: number): number {
    // No distance exceeds the number of dimensions.
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
