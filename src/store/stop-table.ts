import { randomUUID } from 'node:crypto';
import type { StoredStop, StoredStops } from '../core/ports/stored-stops.ts';
import { numberOf, type Row, type SqlEngine, sql, textOf } from './engines/sql-engine.ts';

/** Emergency stops in an engine, one per target. Each write survives a power loss: its process may be ended right after it. */
export function stops(engine: SqlEngine, now: () => number): StoredStops {
  return {
    list: async () => {
      const rows = await engine.read(sql`SELECT * FROM toolcrib_stops`);
      return rows.map(toStop).sort((a, b) => a.at - b.at || (a.target < b.target ? -1 : 1));
    },
    add: async ({ target, note, by, cancelId }) => {
      const id = randomUUID();
      const upsert = sql`
        INSERT INTO toolcrib_stops (target, id, note, stopped_by, stopped_at, cancel_id)
        VALUES (${target}, ${id}, ${note ?? null}, ${by}, ${now()}, ${cancelId ?? null})
        ON CONFLICT (target) DO UPDATE SET cancel_id = coalesce(excluded.cancel_id, toolcrib_stops.cancel_id)
        RETURNING *`;
      const [rows] = await engine.write([upsert], 'power loss');
      const row = rows?.[0] ?? {};
      return { isNew: row.id === id, stop: toStop(row) };
    },
    remove: async (target) => {
      const statement = sql`DELETE FROM toolcrib_stops WHERE target = ${target} RETURNING *`;
      const [rows] = await engine.write([statement], 'power loss');
      const row = rows?.[0];
      return row === undefined ? undefined : toStop(row);
    },
  };
}

function toStop(row: Row): StoredStop {
  return {
    target: textOf(row, 'target'),
    ...(typeof row.note === 'string' && { note: row.note }),
    by: textOf(row, 'stopped_by'),
    at: numberOf(row, 'stopped_at'),
    ...(typeof row.cancel_id === 'string' && { cancelId: row.cancel_id }),
  };
}
