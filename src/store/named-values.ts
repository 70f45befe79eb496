import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../core/json.ts';
import type {
  StoredActiveSet,
  StoredActiveSets,
  StoredIndexes,
  StoredList,
  StoredLists,
  StoredSealKeys,
  StoredSnapshots,
} from '../core/ports/store.ts';
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

/** Keys that seal texts, in an engine. The primary key lets one in: whoever comes second takes the first one's. */
export function sealKeys(engine: Engine, now: () => number): StoredSealKeys {
  return {
    get: async (name) => {
      const [known] = await engine.read(sql`SELECT secret FROM toolcrib_seal_keys WHERE name = ${name}`);
      if (known !== undefined) return textOf(known, 'secret');
      const made = randomBytes(32).toString('base64');
      const [, rows] = await engine.write([
        sql`INSERT INTO toolcrib_seal_keys (name, secret, made_at) VALUES (${name}, ${made}, ${now()}) ON CONFLICT DO NOTHING`,
        sql`SELECT secret FROM toolcrib_seal_keys WHERE name = ${name}`,
      ]);
      return rows?.[0] === undefined ? made : textOf(rows[0], 'secret');
    },
  };
}
