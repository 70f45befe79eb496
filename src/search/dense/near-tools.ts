import type { DenseHit } from '../../core/retriever.ts';
import { createTopIds, sortNumbers } from '../top-ids.ts';

/** The tools compared with a request, each with the similarity of its nearest row. */
export interface NearTools {
  /** Clears all, for the next request. */
  clear(): void;
  /** Records the cosines of rows for the tools that own them; `owners` is indexed by row. */
  note(rows: Int32Array, cosines: Float32Array, owners: Int32Array): void;
  /** In the order of the ids; 0 for a tool that was not compared. */
  similarities(of: Uint32Array): Float32Array;
  /** The most similar tools, best first. On a tie, the smaller id comes first, so that the order of additions does not matter. */
  best(limit: number): readonly DenseHit[];
  /** Makes room for ids up to this one; clears all if it has to grow. */
  makeRoom(id: number): void;
}

/** Starts without room. */
export function createNearTools(): NearTools {
  const topPlaces = createTopIds();
  let table = tableFor(0);
  let count = 0;

  function clear(): void {
    const { places, ids } = table;
    for (let place = 0; place < count; place += 1) places[ids[place] as number] = 0; // it was seen
    count = 0;
  }

  return {
    clear,
    note(rows, cosines, owners) {
      const { places, ids, similarities } = table;
      let seen = count;
      for (let entry = 0; entry < rows.length; entry += 1) {
        const id = owners[rows[entry] as number] as number; // a row of the store
        const cosine = cosines[entry] as number; // one for each row
        const place = (places[id] as number) - 1; // made room for when it came
        if (place < 0) {
          ids[seen] = id;
          similarities[seen] = cosine;
          seen += 1;
          places[id] = seen;
        } else if (cosine > (similarities[place] as number)) similarities[place] = cosine; // it was seen
      }
      count = seen;
    },
    similarities(of) {
      const { places, similarities } = table;
      const found = new Float32Array(of.length);
      for (let entry = 0; entry < of.length; entry += 1) {
        const place = (places[of[entry] as number] ?? 0) - 1; // within the list
        if (place >= 0) found[entry] = similarities[place] as number; // it was seen
      }
      return found;
    },
    best(limit) {
      const { ids, similarities, heights } = table;
      const isFirst = (a: number, b: number): boolean => {
        const ahead = (similarities[a] as number) - (similarities[b] as number); // places of tools that were seen
        return ahead > 0 || (ahead === 0 && (ids[a] as number) < (ids[b] as number)); // likewise
      };
      // Negative similarities count as well, but only scores above 0 are selected, hence the shift.
      for (let place = 0; place < count; place += 1) heights[place] = 2 + (similarities[place] as number); // it was seen
      const found = topPlaces(heights.subarray(0, count), Math.max(0, limit), { isAllowed: () => true, isFirst });
      sortNumbers(found, isFirst);
      const hits: DenseHit[] = [];
      for (const place of found) hits.push({ id: ids[place] as number, similarity: similarities[place] as number }); // likewise
      return hits;
    },
    makeRoom(id) {
      if (id < table.places.length) return;
      table = tableFor(Math.ceil((id + 1) * 1.5));
      count = 0;
    },
  };
}

function tableFor(size: number) {
  return {
    /** By id: its position among those seen, starting at 1. */
    places: new Int32Array(size),
    ids: new Uint32Array(size),
    similarities: new Float32Array(size),
    heights: new Float32Array(size),
  };
}
