import type { DenseHit } from '../../core/retriever.ts';
import { grown } from '../byte-sections.ts';
import { createNearTools } from './near-tools.ts';
import { createQuantizer, LIST_LENGTH, type QuantizedVector } from './quantize.ts';
import { createRowSearch, createRowStore, type RowDump, type RowStore } from './row-store.ts';
import { createScan } from './scan.ts';

/** The vectors of tools, one or more per tool; the nearest one counts. */
export interface DenseTools {
  readonly rows: RowStore;
  /** All known ids, including those without a vector. */
  ids(): Iterable<number>;
  has(id: number): boolean;
  /** Adds a tool; a known id is replaced. */
  put(id: number, vectors: readonly Float32Array[]): void;
  remove(id: number): void;
  /** Fills an empty instance with rows and ids; false if the rows are inconsistent. */
  restore(ids: Uint32Array, dump: RowDump): boolean;
  rank(sentences: readonly QuantizedVector[], limit: number): readonly DenseHit[];
  similarity(sentences: readonly QuantizedVector[], ids: Uint32Array): Float32Array;
}

/** Number of rows with similar signs to compare exactly: a minimum, plus a share of all rows; more if more hits are wanted. */
const LEAST_CANDIDATES = 1280;
const ROWS_PER_CANDIDATE = 64;
const CANDIDATES_PER_HIT = 16;

/** Creates an empty set of tools. */
export function createDenseTools(dimensions: number): DenseTools {
  const rows = createRowStore(createScan(dimensions));
  const search = createRowSearch(rows);
  const owned = createToolRows(rows);
  const quantize = createQuantizer(dimensions);
  const near = createNearTools();
  // The request that all rows were compared with; reset when the rows change.
  let compared: readonly QuantizedVector[] | undefined;

  function noteNear(sentence: QuantizedVector, wanted: number): void {
    search.aim(sentence);
    const found = search.near(wanted);
    for (let start = 0; start < found.length; start += LIST_LENGTH) {
      const part = found.subarray(start, start + LIST_LENGTH);
      near.note(part, search.compare(part), rows.owners);
    }
  }

  function remove(id: number): void {
    compared = undefined;
    owned.remove(id);
  }

  return {
    rows,
    ids: owned.ids,
    has: owned.has,
    put(id, vectors) {
      remove(id);
      owned.know(id);
      for (const vector of vectors) {
        const quantized = quantize(vector);
        if (quantized.inverseNorm > 0) owned.own(id, rows.append(id, quantized));
      }
      near.makeRoom(id);
    },
    remove,
    restore(ids, dump) {
      if (!rows.restore(dump) || !owned.restore(ids, dump.owners)) return false;
      near.makeRoom(ids.at(-1) ?? 0); // ascending
      return true;
    },
    rank(sentences, limit) {
      const wanted = Math.max(LEAST_CANDIDATES + rows.count / ROWS_PER_CANDIDATE, limit * CANDIDATES_PER_HIT);
      near.clear();
      for (const sentence of sentences) noteNear(sentence, wanted);
      compared = wanted >= rows.count ? sentences : undefined;
      return near.best(limit);
    },
    similarity(sentences, ids) {
      if (sentences === compared) return near.similarities(ids);
      const { list, places } = rowsOfAll(ids, owned);
      const similarities = new Float32Array(ids.length).fill(UNSEEN);
      for (const sentence of sentences) {
        search.aim(sentence);
        for (let start = 0; start < list.length; start += LIST_LENGTH) {
          const cosines = search.compare(list.subarray(start, start + LIST_LENGTH));
          for (let entry = start; entry < Math.min(list.length, start + LIST_LENGTH); entry++) {
            const place = places[entry] as number; // one for each row
            const cosine = cosines[entry - start] as number; // as above
            if (cosine > (similarities[place] as number)) similarities[place] = cosine; // an index of `ids`
          }
        }
      }
      for (let place = 0; place < ids.length; place++) if (similarities[place] === UNSEEN) similarities[place] = 0;
      return similarities;
    },
  };
}

/** Less than any cosine. */
const UNSEEN = -2;

/** The rows of all ids in one list, and for each row the index of its id. */
function rowsOfAll(ids: Uint32Array, owned: ToolRows) {
  const list: number[] = [];
  const places: number[] = [];
  for (let place = 0; place < ids.length; place++) {
    for (let row = owned.first(ids[place] as number); row >= 0; row = owned.next(row)) {
      list.push(row);
      places.push(place);
    }
  }
  return { list: new Int32Array(list), places };
}

/** The rows of each id, without an object per id: ids are small numbers. */
interface ToolRows {
  ids(): Iterable<number>;
  has(id: number): boolean;
  /** Adds an id without rows. */
  know(id: number): void;
  /** Assigns a row to a known id. */
  own(id: number, row: number): void;
  /** The first row of an id, and the row after a row; negative if there is none. */
  first(id: number): number;
  next(row: number): number;
  /** Takes over the ids of a snapshot and the owners of its rows; false if the owner of a row is missing. */
  restore(ids: Uint32Array, owners: Int32Array): boolean;
  /** Removes an id and its rows. */
  remove(id: number): void;
}

const UNKNOWN = -2;
const NONE = -1;

/** Starts without ids. */
function createToolRows(store: RowStore): ToolRows {
  let firsts = new Int32Array(256).fill(UNKNOWN);
  let nexts = new Int32Array(256).fill(NONE);

  const first = (id: number) => Math.max(NONE, firsts[id] ?? UNKNOWN);
  const next = (row: number) => nexts[row] ?? NONE;

  /** Updates the links of a row that was moved. */
  function move(from: number, to: number): void {
    const owner = store.ownerOf(to);
    nexts[to] = next(from);
    if (first(owner) === from) firsts[owner] = to;
    else for (let row = first(owner); row >= 0; row = next(row)) if (next(row) === from) nexts[row] = to;
  }

  return {
    *ids() {
      for (let id = 0; id < firsts.length; id++) if (firsts[id] !== UNKNOWN) yield id;
    },
    has: (id) => (firsts[id] ?? UNKNOWN) !== UNKNOWN,
    know(id) {
      if (id >= firsts.length) firsts = grown(firsts, (id + 1) * 2).fill(UNKNOWN, firsts.length);
      firsts[id] = NONE;
    },
    own(id, row) {
      if (row >= nexts.length) nexts = grown(nexts, (row + 1) * 2).fill(NONE, nexts.length);
      nexts[row] = first(id);
      firsts[id] = row;
    },
    ...{ first, next },
    restore(ids, owners) {
      let most = 0;
      for (let place = 0; place < ids.length; place++) most = Math.max(most, ids[place] as number); // within the list
      firsts = new Int32Array((most + 1) * 2).fill(UNKNOWN);
      nexts = new Int32Array(Math.max(256, owners.length * 2)).fill(NONE);
      for (let place = 0; place < ids.length; place++) firsts[ids[place] as number] = NONE; // as above
      for (let row = owners.length - 1; row >= 0; row--) {
        const owner = owners[row] as number; // as above
        if ((firsts[owner] ?? UNKNOWN) === UNKNOWN) return false;
        nexts[row] = firsts[owner] as number; // known, as checked above
        firsts[owner] = row;
      }
      return true;
    },
    remove(id) {
      const rows: number[] = [];
      for (let row = first(id); row >= 0; row = next(row)) rows.push(row);
      if (id < firsts.length) firsts[id] = UNKNOWN;
      // Highest first, so that a row that moves into a gap is never one of those to remove.
      for (const row of rows.sort((a, b) => b - a)) {
        const moved = store.remove(row);
        if (moved !== row) move(moved, row);
      }
    },
  };
}
