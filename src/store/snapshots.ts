import type { StoredSnapshots } from '../core/ports/store.ts';
import { type Engine, sql } from './engines/engine.ts';

/** Snapshots in an engine. Bytes: as text they would take twice as long to read. */
export function snapshots(engine: Engine, now: () => number): StoredSnapshots {
  return {
    get: async (name) => {
      const [row] = await engine.read(sql`SELECT content FROM toolcrib_snapshots WHERE name = ${name}`);
      return row?.content instanceof Uint8Array ? row.content : undefined; // a damaged one is made again
    },
    put: async (name, bytes) => {
      await engine.write([
        sql`
          INSERT INTO toolcrib_snapshots (name, content, written_at) VALUES (${name}, ${bytes}, ${now()})
          ON CONFLICT (name) DO UPDATE SET content = excluded.content, written_at = excluded.written_at`,
      ]);
    },
  };
}
