import type { StoredIndexes } from '../core/ports/store.ts';
import { type Engine, sql } from './engines/engine.ts';

/** So that files which are long gone do not leave theirs for ever. One that is still wanted is made again. */
const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** Indexes of files in an engine. */
export function indexes(engine: Engine, now: () => number): StoredIndexes {
  return {
    get: async (file) => {
      const [row] = await engine.read(sql`SELECT hash, content FROM toolcrib_indexes WHERE file = ${file}`);
      const { hash, content: text } = row ?? {};
      return typeof hash === 'string' && typeof text === 'string' ? { hash, text } : undefined; // a damaged one is made again
    },
    put: async (file, { hash, text }) => {
      await engine.write([
        sql`DELETE FROM toolcrib_indexes WHERE written_at < ${now() - KEPT_MS}`,
        sql`
          INSERT INTO toolcrib_indexes (file, hash, content, written_at) VALUES (${file}, ${hash}, ${text}, ${now()})
          ON CONFLICT (file) DO UPDATE
          SET hash = excluded.hash, content = excluded.content, written_at = excluded.written_at`,
      ]);
    },
  };
}
