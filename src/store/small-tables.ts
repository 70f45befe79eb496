import { randomBytes } from 'node:crypto';
import type { JsonObject, JsonValue } from '../core/json.ts';
import type {
  FoundKey,
  NewKey,
  StoredActiveSet,
  StoredActiveSets,
  StoredIndexes,
  StoredKey,
  StoredKeys,
  StoredList,
  StoredLists,
  StoredSealKeys,
  StoredSnapshots,
} from '../core/ports/store.ts';
import type { KeptResult, StoredResults } from '../core/ports/stored-results.ts';
import { jsonOf, numberOf, type Row, type SqlEngine, sql, textOf } from './engines/sql-engine.ts';

/** The last known lists of sources, in an engine. */
export function lists(engine: SqlEngine): StoredLists {
  return {
    get: async (source) => {
      const [row] = await engine.read(sql`SELECT * FROM toolcrib_lists WHERE source = ${source}`);
      if (row === undefined) return undefined;
      const specs = jsonOf(row, 'specs') as StoredList['specs']; // only such arrays are written
      const list = { hash: textOf(row, 'hash'), specs, at: numberOf(row, 'listed_at') };
      if (row.about === null) return list;
      return { ...list, about: jsonOf(row, 'about') as JsonObject }; // only objects are written
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

/** Indexes of files are removed after this time. One that is still needed is built again. */
const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** Indexes of files, in an engine. */
export function indexes(engine: SqlEngine, now: () => number): StoredIndexes {
  return {
    get: async (file) => {
      const [row] = await engine.read(sql`SELECT hash, content FROM toolcrib_indexes WHERE file = ${file}`);
      const { hash, content: text } = row ?? {};
      return typeof hash === 'string' && typeof text === 'string' ? { hash, text } : undefined; // a damaged one is built again
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

/** Snapshots in an engine. Stored as bytes, because text would take twice as long to read. */
export function snapshots(engine: SqlEngine, now: () => number): StoredSnapshots {
  return {
    get: async (name) => {
      const [row] = await engine.read(sql`SELECT content FROM toolcrib_snapshots WHERE name = ${name}`);
      return row?.content instanceof Uint8Array ? row.content : undefined; // a damaged one is built again
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

/** Active sets of profiles, in an engine. */
export function activeSets(engine: SqlEngine, now: () => number): StoredActiveSets {
  return {
    get: async (profile) => {
      const [row] = await engine.read(sql`
        SELECT names, changed_by, changed_at FROM toolcrib_active_sets WHERE profile = ${profile}`);
      if (row === undefined) return undefined;
      const names = jsonOf(row, 'names') as StoredActiveSet['names']; // only such arrays are written
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

/** Keys that seal texts, in an engine. The primary key admits one: a second process uses the key of the first. */
export function sealKeys(engine: SqlEngine, now: () => number): StoredSealKeys {
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

/** API keys in an engine. */
export function keys(engine: SqlEngine, now: () => number): StoredKeys {
  return {
    add: (key, by) => addKey(engine, key, { createdBy: by, createdAt: now() }),
    list: async () => {
      const rows = await engine.read(sql`SELECT * FROM toolcrib_keys`);
      return rows.map(toStoredKey).sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    },
    find: async (id) => {
      const [row] = await engine.read(sql`SELECT * FROM toolcrib_keys WHERE id = ${id}`);
      return row === undefined ? undefined : toFoundKey(row);
    },
    revoke: async (id, by) => {
      const [changed, found] = await engine.write([
        sql`
          UPDATE toolcrib_keys SET revoked_by = ${by}, revoked_at = ${now()}
          WHERE id = ${id} AND revoked_at IS NULL RETURNING id`,
        sql`SELECT id FROM toolcrib_keys WHERE id = ${id}`,
      ]);
      if (changed?.length === 1) return 'revoked';
      return found?.length === 1 ? 'already' : 'unknown';
    },
    noteUse: async (id, at, everyMs) => {
      await engine.write([
        sql`
          UPDATE toolcrib_keys SET last_used_at = ${at}
          WHERE id = ${id} AND (last_used_at IS NULL OR last_used_at <= ${at - everyMs})`,
      ]);
    },
  };
}

async function addKey(
  engine: SqlEngine,
  key: NewKey,
  { createdBy, createdAt }: Pick<StoredKey, 'createdBy' | 'createdAt'>,
): Promise<StoredKey> {
  const { hash, ...shown } = key;
  await engine.write([
    sql`
      INSERT INTO toolcrib_keys (id, hash, name, caller, roles, permissions, profiles, created_by, created_at, expires_at)
      VALUES (${key.id}, ${hash}, ${key.name}, ${key.caller}, ${JSON.stringify(key.roles)},
        ${JSON.stringify(key.permissions)}, ${key.profiles === undefined ? null : JSON.stringify(key.profiles)},
        ${createdBy}, ${createdAt}, ${key.expiresAt ?? null})`,
  ]);
  return { ...shown, createdBy, createdAt };
}

function toStoredKey(row: Row): StoredKey {
  const names = (column: string) => jsonOf(row, column) as readonly string[]; // only such arrays are written
  return {
    id: textOf(row, 'id'),
    name: textOf(row, 'name'),
    caller: textOf(row, 'caller'),
    roles: names('roles'),
    permissions: names('permissions'),
    ...(row.profiles !== null && { profiles: names('profiles') }),
    createdBy: textOf(row, 'created_by'),
    createdAt: numberOf(row, 'created_at'),
    ...(row.expires_at !== null && { expiresAt: numberOf(row, 'expires_at') }),
    ...(row.revoked_by !== null && { revokedBy: textOf(row, 'revoked_by') }),
    ...(row.revoked_at !== null && { revokedAt: numberOf(row, 'revoked_at') }),
    ...(row.last_used_at !== null && { lastUsedAt: numberOf(row, 'last_used_at') }),
  };
}

function toFoundKey(row: Row): FoundKey {
  return { ...toStoredKey(row), hash: textOf(row, 'hash') };
}

/** Large results in an engine. Callers give the expiry by the clock of their machine; it is converted to that of the store. */
export function results(engine: SqlEngine, now: () => number, machineNow: () => number): StoredResults {
  const toStoreTime = (at: number): number => (now === machineNow ? at : at - machineNow() + now());
  return {
    async put({ id, owner, tool, text, data, expiresAt }, { quotaBytes, quotaBytesPerCaller = quotaBytes }) {
      const body = JSON.stringify({ text, ...(data !== undefined && { data }) });
      const bytes = Buffer.byteLength(body);
      const [, kept] = await engine.write([
        sql`DELETE FROM toolcrib_results WHERE expires_at <= ${now()}`,
        sql`
          INSERT INTO toolcrib_results (id, owner, tool, body, bytes, expires_at)
          SELECT id, owner, tool, body, bytes, expires_at
          FROM (SELECT ${id} AS id, ${owner} AS owner, ${tool} AS tool, ${body} AS body,
            CAST(${bytes} AS BIGINT) AS bytes, CAST(${toStoreTime(expiresAt)} AS BIGINT) AS expires_at) AS made
          WHERE CAST(${bytes} AS BIGINT) + (SELECT coalesce(sum(bytes), 0) FROM toolcrib_results) <= CAST(${quotaBytes} AS BIGINT)
            AND CAST(${bytes} AS BIGINT) + (SELECT coalesce(sum(bytes), 0) FROM toolcrib_results WHERE owner = ${owner})
              <= CAST(${quotaBytesPerCaller} AS BIGINT)
          RETURNING id`,
      ]);
      return kept?.length === 1;
    },
    async get(id) {
      const [row] = await engine.read(sql`
        SELECT owner, tool, body, expires_at FROM toolcrib_results WHERE id = ${id} AND expires_at > ${now()}`);
      if (row === undefined) return undefined;
      const { text, data } = jsonOf(row, 'body') as { text: string; data?: JsonValue }; // only such bodies are written
      const kept: KeptResult = {
        id,
        owner: textOf(row, 'owner'),
        tool: textOf(row, 'tool'),
        text,
        ...(data !== undefined && { data }),
        expiresAt: numberOf(row, 'expires_at'),
      };
      return kept;
    },
  };
}
