import type { DenseHit } from '../../core/retriever.ts';
import { createNearest } from './nearest.ts';
import type { QuantizedVector } from './quantize.ts';
import { LIST_LENGTH } from './row-layout.ts';
import { createRowSearch } from './row-search.ts';
import { createRowStore, type RowDump, type RowStore } from './row-store.ts';
import { createScan } from './scan.ts';

/** The vectors of tools, one or several each; the nearest one of a tool counts. */
export interface DenseTools {
  readonly rows: RowStore;
  /** Ids that are known, those without a vector as well. */
  ids(): Iterable<number>;
  has(id: number): boolean;
  /** An id that is known is replaced. */
  put(id: number, vectors: readonly QuantizedVector[]): void;
  remove(id: number): void;
  /** Fills empty ones with rows and the ids they belong to; false where the rows do not fit together. */
  restore(ids: Iterable<number>, dump: RowDump): boolean;
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
  const rowsOf = new Map<number, number[]>();
  let best = new Float32Array(0);

  function remove(id: number): void {
    // Highest first: what moves into a gap is then never one of the rows that go as well.
    for (const row of (rowsOf.get(id) ?? []).toSorted((a, b) => b - a)) {
      const moved = rows.remove(row);
      if (moved === row) continue;
      const owner = rows.ownerOf(row);
      rowsOf.set(
        owner,
        (rowsOf.get(owner) ?? []).map((place) => (place === moved ? row : place)),
      );
    }
    rowsOf.delete(id);
  }

  function makeRoom(id: number): void {
    if (id >= best.length) best = new Float32Array(Math.ceil((id + 1) * 1.5)).fill(UNSEEN);
  }

  /** Notes the cosines of all likely rows under their owners; ids that were not seen before are added to `seen`. */
  function noteNear(sentence: QuantizedVector, wanted: number, seen: number[]): void {
    search.aim(sentence);
    const near = search.near(wanted);
    for (let start = 0; start < near.length; start += LIST_LENGTH) {
      const part = near.subarray(start, start + LIST_LENGTH);
      const cosines = search.compare(part);
      for (let place = 0; place < part.length; place++) {
        const id = rows.ownerOf(part[place] ?? 0);
        const cosine = cosines[place] ?? 0;
        const before = best[id] ?? UNSEEN;
        if (before === UNSEEN) seen.push(id);
        if (cosine > before) best[id] = cosine;
      }
    }
  }

  return {
    rows,
    ids: () => rowsOf.keys(),
    has: (id) => rowsOf.has(id),
    put(id, vectors) {
      remove(id);
      const telling = vectors.filter(({ inverseNorm }) => inverseNorm > 0);
      rowsOf.set(
        id,
        telling.map((vector) => rows.append(id, vector)),
      );
      makeRoom(id);
    },
    remove,
    restore(ids, dump) {
      if (!rows.restore(dump)) return false;
      for (const id of ids) {
        rowsOf.set(id, []);
        makeRoom(id);
      }
      for (let row = 0; row < rows.count; row++) rowsOf.get(rows.ownerOf(row))?.push(row);
      return true;
    },
    rank(sentences, limit) {
      const seen: number[] = [];
      const wanted = Math.max(LEAST_CANDIDATES + rows.count / ROWS_PER_CANDIDATE, limit * CANDIDATES_PER_HIT);
      for (const sentence of sentences) noteNear(sentence, wanted, seen);
      const nearest = createNearest(limit);
      for (const id of seen) {
        nearest.offer(id, best[id] ?? 0);
        best[id] = UNSEEN;
      }
      return nearest.hits();
    },
    similarity(sentences, ids) {
      const { owned, places } = rowsOfAll(ids, rowsOf);
      const similarities = new Float32Array(ids.length).fill(UNSEEN);
      for (const sentence of sentences) {
        search.aim(sentence);
        for (let start = 0; start < owned.length; start += LIST_LENGTH) {
          const cosines = search.compare(owned.subarray(start, start + LIST_LENGTH));
          for (let entry = start; entry < Math.min(owned.length, start + LIST_LENGTH); entry++) {
            const place = places[entry] ?? 0;
            similarities[place] = Math.max(similarities[place] ?? 0, cosines[entry - start] ?? 0);
          }
        }
      }
      return similarities.map((similarity) => (similarity === UNSEEN ? 0 : similarity));
    },
  };
}

/** Below every cosine. */
const UNSEEN = -2;

/** The rows of all ids in one list, and for each row the place of its id. */
function rowsOfAll(ids: Uint32Array, rowsOf: ReadonlyMap<number, readonly number[]>) {
  const owned: number[] = [];
  const places: number[] = [];
  for (const [place, id] of ids.entries()) {
    for (const row of rowsOf.get(id) ?? []) {
      owned.push(row);
      places.push(place);
    }
  }
  return { owned: Int32Array.from(owned), places };
}
