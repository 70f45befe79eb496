import type { JsonObject } from '../core/json.ts';
import type { StoredList, StoredLists } from '../core/ports/store.ts';
import { type Engine, jsonOf, numberOf, sql, textOf } from './engines/engine.ts';

/** Last known lists of sources in an engine. */
export function lists(engine: Engine): StoredLists {
  return {
    get: async (source) => {
      const [row] = await engine.read(sql`SELECT * FROM toolcrib_lists WHERE source = ${source}`);
      if (row === undefined) return undefined;
      const specs = jsonOf(row, 'specs') as StoredList['specs']; // only such arrays are ever written
      const list = { hash: textOf(row, 'hash'), specs, at: numberOf(row, 'listed_at') };
      if (row.about === null) return list;
      return { ...list, about: jsonOf(row, 'about') as JsonObject }; // only objects are ever written
    },
    put: async (source, { hash, specs, at, about }) => {
      const told = about === undefined ? null : JSON.stringify(about);
      await engine.write([
        sql`
          INSERT INTO toolcrib_lists (source, hash, specs, listed_at, about)
          VALUES (${source}, ${hash}, ${JSON.stringify(specs)}, ${at}, ${told})
          ON CONFLICT (source) DO UPDATE SET
            hash = excluded.hash, specs = excluded.specs, listed_at = excluded.listed_at, about = excluded.about`,
      ]);
    },
  };
}
