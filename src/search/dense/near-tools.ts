import type { DenseHit } from '../../core/retriever.ts';
import { createTopIds, sortNumbers } from '../top-ids.ts';

/** The tools that one request was compared with, and how similar the nearest row of each is. */
export interface NearTools {
  /** Forgets all, for the next request. */
  clear(): void;
  /** Notes the cosines of rows under the tools that own them; `owners` are by row. */
  note(rows: Int32Array, cosines: Float32Array, owners: Int32Array): void;
  /** In the order of the ids; 0 for one that was not compared. */
  similarities(of: Uint32Array): Float32Array;
  /** The most similar tools, best first; of equal ones the smaller id, so that the order they came in does not matter. */
  best(limit: number): readonly DenseHit[];
  /** Makes room for ids up to this one; forgets all if it has to. */
  makeRoom(id: number): void;
}

/** Room for none yet. */
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
      // Who points away is to be found as well, and only scores above 0 are looked at.
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
    /** By id: its place among those seen, from 1 on. */
    places: new Int32Array(size),
    ids: new Uint32Array(size),
    similarities: new Float32Array(size),
    heights: new Float32Array(size),
  };
}
