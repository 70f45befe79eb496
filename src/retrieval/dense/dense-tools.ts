import type { DenseHit } from '../../core/retriever.ts';
import { createNearest } from './nearest.ts';
import { createQuantizer, type QuantizedVector } from './quantize.ts';
import { LIST_LENGTH } from './row-layout.ts';
import { createRowSearch } from './row-search.ts';
import { createRowStore, type RowDump, type RowStore } from './row-store.ts';
import { createScan } from './scan.ts';
import { createToolRows, type ToolRows } from './tool-rows.ts';

/** The vectors of tools, one or several each; the nearest one of a tool counts. */
export interface DenseTools {
  readonly rows: RowStore;
  /** Ids that are known, those without a vector as well. */
  ids(): Iterable<number>;
  has(id: number): boolean;
  /** An id that is known is replaced. */
  put(id: number, vectors: readonly Float32Array[]): void;
  remove(id: number): void;
  /** Fills empty ones with rows and the ids they belong to; false where the rows do not fit together. */
  restore(ids: Uint32Array, dump: RowDump): boolean;
  rank(sentences: readonly QuantizedVector[], limit: number): readonly DenseHit[];
  similarity(sentences: readonly QuantizedVector[], ids: Uint32Array): Float32Array;
}

/** Rows whose signs look near are compared in full: so many, one more for so many rows, more where more hits are wanted. */
const LEAST_CANDIDATES = 1280;
const ROWS_PER_CANDIDATE = 64;
const CANDIDATES_PER_HIT = 16;

/** An empty set of tools of so many dimensions. */
export function createDenseTools(dimensions: number): DenseTools {
  const rows = createRowStore(createScan(dimensions));
  const search = createRowSearch(rows);
  const owned = createToolRows(rows);
  const quantize = createQuantizer(dimensions);
  let best = new Float32Array(0);
  let seen = new Int32Array(0);
  let seenCount = 0;

  function makeRoom(id: number): void {
    if (id < best.length) return;
    best = new Float32Array(Math.ceil((id + 1) * 1.5)).fill(UNSEEN);
    seen = new Int32Array(best.length);
  }

  /** Notes the cosines of all likely rows under their owners; ids that were not seen before are added to `seen`. */
  function noteNear(sentence: QuantizedVector, wanted: number): void {
    search.aim(sentence);
    const near = search.near(wanted);
    for (let start = 0; start < near.length; start += LIST_LENGTH) {
      const part = near.subarray(start, start + LIST_LENGTH);
      const cosines = search.compare(part);
      for (let place = 0; place < part.length; place++) {
        const id = rows.ownerOf(part[place] as number); // within the list
        const cosine = cosines[place] as number; // likewise
        const before = best[id] as number; // made room for when it came
        if (before === UNSEEN) seen[seenCount++] = id;
        if (cosine > before) best[id] = cosine;
      }
    }
  }

  return {
    rows,
    ids: owned.ids,
    has: owned.has,
    put(id, vectors) {
      owned.remove(id);
      owned.know(id);
      for (const vector of vectors) {
        const quantized = quantize(vector);
        if (quantized.inverseNorm > 0) owned.own(id, rows.append(id, quantized));
      }
      makeRoom(id);
    },
    remove: owned.remove,
    restore(ids, dump) {
      if (!rows.restore(dump) || !owned.restore(ids, dump.owners)) return false;
      makeRoom(ids.reduce((most, id) => Math.max(most, id), 0));
      return true;
    },
    rank(sentences, limit) {
      const wanted = Math.max(LEAST_CANDIDATES + rows.count / ROWS_PER_CANDIDATE, limit * CANDIDATES_PER_HIT);
      seenCount = 0;
      for (const sentence of sentences) noteNear(sentence, wanted);
      // Whoever wants more than there are gets all.
      const nearest = createNearest(limit < seenCount ? Math.max(0, Math.ceil(limit)) : seenCount);
      for (let place = 0; place < seenCount; place++) {
        const id = seen[place] as number; // within the list
        nearest.offer(id, best[id] as number); // it was seen
        best[id] = UNSEEN;
      }
      return nearest.hits();
    },
    similarity(sentences, ids) {
      const { list, places } = rowsOfAll(ids, owned);
      const similarities = new Float32Array(ids.length).fill(UNSEEN);
      for (const sentence of sentences) {
        search.aim(sentence);
        for (let start = 0; start < list.length; start += LIST_LENGTH) {
          const cosines = search.compare(list.subarray(start, start + LIST_LENGTH));
          for (let entry = start; entry < Math.min(list.length, start + LIST_LENGTH); entry++) {
            const place = places[entry] as number; // one for each row
            const cosine = cosines[entry - start] as number; // likewise
            if (cosine > (similarities[place] as number)) similarities[place] = cosine; // a place among the ids
          }
        }
      }
      for (let place = 0; place < ids.length; place++) if (similarities[place] === UNSEEN) similarities[place] = 0;
      return similarities;
    },
  };
}

/** Below every cosine. */
const UNSEEN = -2;

/** The rows of all ids in one list, and for each row the place of its id. */
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
