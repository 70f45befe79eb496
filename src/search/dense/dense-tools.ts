import type { DenseHit } from '../../core/retriever.ts';
import { createNearTools } from './near-tools.ts';
import { createQuantizer, type QuantizedVector } from './quantize.ts';
import { LIST_LENGTH } from './row-layout.ts';
import { createRowSearch } from './row-search.ts';
import { createRowStore, type RowDump, type RowStore } from './row-store.ts';
import { createToolRows, type ToolRows } from './tool-rows.ts';
import { createScan } from './wasm/scan.ts';

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
  const near = createNearTools();
  // The request that all rows were compared with, as long as they are the same ones.
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
