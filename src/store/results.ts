import type { JsonValue } from '../core/json.ts';
import type { KeptResult, StoredResults } from '../core/ports/stored-results.ts';
import { type Engine, jsonOf, numberOf, sql, textOf } from './engines/engine.ts';

/** Large results in an engine. Who keeps one says until when by the clock of its machine; the rest goes by that of the store. */
export function results(engine: Engine, now: () => number, machineNow: () => number): StoredResults {
  const toStoreTime = (at: number): number => (now === machineNow ? at : at - machineNow() + now());
  return {
    async put({ id, owner, tool, text, data, expiresAt }, quotaBytes) {
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
          RETURNING id`,
      ]);
      return kept?.length === 1;
    },
    async get(id) {
      const [row] = await engine.read(sql`
        SELECT owner, tool, body, expires_at FROM toolcrib_results WHERE id = ${id} AND expires_at > ${now()}`);
      if (row === undefined) return undefined;
      const { text, data } = jsonOf(row, 'body') as { text: string; data?: JsonValue }; // only such bodies are ever written
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
