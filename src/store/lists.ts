import type { StoredList, StoredLists } from '../core/store.ts';
import { type Engine, jsonOf, numberOf, sql, textOf } from './engine.ts';

/** Last known lists of sources in an engine. */
export function lists(engine: Engine): StoredLists {
  return {
    get: async (source) => {
      const [row] = await engine.read(sql`SELECT hash, specs, listed_at FROM toolcrib_lists WHERE source = ${source}`);
      if (row === undefined) return undefined;
      const specs = jsonOf(row, 'specs') as StoredList['specs']; // only such arrays are ever written
      return { hash: textOf(row, 'hash'), specs, at: numberOf(row, 'listed_at') };
    },
    put: async (source, { hash, specs, at }) => {
      await engine.write([
        sql`
          INSERT INTO toolcrib_lists (source, hash, specs, listed_at)
          VALUES (${source}, ${hash}, ${JSON.stringify(specs)}, ${at})
          ON CONFLICT (source) DO UPDATE SET hash = excluded.hash, specs = excluded.specs, listed_at = excluded.listed_at`,
      ]);
    },
  };
}
