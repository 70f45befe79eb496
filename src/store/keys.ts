import type { FoundKey, NewKey, StoredKey, StoredKeys } from '../core/ports/stored-keys.ts';
import { type Engine, jsonOf, numberOf, type Row, sql, textOf } from './engines/engine.ts';

/** API keys in an engine. */
export function keys(engine: Engine, now: () => number): StoredKeys {
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
  engine: Engine,
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
  const names = (column: string) => jsonOf(row, column) as readonly string[]; // only such arrays are ever written
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
