import { grown } from '../grow.ts';
import type { RowStore } from './row-store.ts';

/** Which rows belong to which id, without an object for each: ids are small numbers. */
export interface ToolRows {
  ids(): Iterable<number>;
  has(id: number): boolean;
  /** Makes an id known, without a row. */
  know(id: number): void;
  /** Gives a row to an id that is known. */
  own(id: number, row: number): void;
  /** The first row of an id and the one behind a row; negative where there is none. */
  first(id: number): number;
  next(row: number): number;
  /** Takes over the ids of a snapshot and who owns each of its rows; false where a row belongs to none of them. */
  restore(ids: Uint32Array, owners: Int32Array): boolean;
  /** Forgets an id and takes its rows out of the store. */
  remove(id: number): void;
}

const UNKNOWN = -2;
const NONE = -1;

/** Nobody owns a row of `store` yet. */
export function createToolRows(store: RowStore): ToolRows {
  let firsts = new Int32Array(256).fill(UNKNOWN);
  let nexts = new Int32Array(256).fill(NONE);

  const first = (id: number) => Math.max(NONE, firsts[id] ?? UNKNOWN);
  const next = (row: number) => nexts[row] ?? NONE;

  /** Follows a row that was moved. */
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
      for (let place = 0; place < ids.length; place++) firsts[ids[place] as number] = NONE; // likewise
      for (let row = owners.length - 1; row >= 0; row--) {
        const owner = owners[row] as number; // likewise
        if ((firsts[owner] ?? UNKNOWN) === UNKNOWN) return false;
        nexts[row] = firsts[owner] as number; // known, as was just seen
        firsts[owner] = row;
      }
      return true;
    },
    remove(id) {
      const rows: number[] = [];
      for (let row = first(id); row >= 0; row = next(row)) rows.push(row);
      if (id < firsts.length) firsts[id] = UNKNOWN;
      // Highest first: what moves into a gap is then never one of the rows that go as well.
      for (const row of rows.sort((a, b) => b - a)) {
        const moved = store.remove(row);
        if (moved !== row) move(moved, row);
      }
    },
  };
}
