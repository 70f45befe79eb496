import type { StoredActiveSet, StoredActiveSets } from '../core/ports/store.ts';
import { type Engine, jsonOf, numberOf, sql, textOf } from './engines/engine.ts';

/** Active sets of profiles in an engine. */
export function activeSets(engine: Engine, now: () => number): StoredActiveSets {
  return {
    get: async (profile) => {
      const [row] = await engine.read(sql`
        SELECT names, changed_by, changed_at FROM toolcrib_active_sets WHERE profile = ${profile}`);
      if (row === undefined) return undefined;
      const names = jsonOf(row, 'names') as StoredActiveSet['names']; // only such arrays are ever written
      return { names, by: textOf(row, 'changed_by'), at: numberOf(row, 'changed_at') };
    },
    put: async (profile, names, by) => {
      await engine.write([
        sql`
          INSERT INTO toolcrib_active_sets (profile, names, changed_by, changed_at)
          VALUES (${profile}, ${JSON.stringify(names)}, ${by}, ${now()})
          ON CONFLICT (profile) DO UPDATE
          SET names = excluded.names, changed_by = excluded.changed_by, changed_at = excluded.changed_at`,
      ]);
    },
  };
}
