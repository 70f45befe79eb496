import { randomBytes } from 'node:crypto';
import type { StoredSealKeys } from '../core/ports/store.ts';
import { type Engine, sql, textOf } from './engines/engine.ts';

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
