import type { FirstCall, StoredRepeats } from '../core/stored-results.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { type Engine, jsonOf, numberOf, type Row, sql, textOf } from './engine.ts';

/** Idempotency keys in an engine. The primary key lets one call in, whichever process it comes from. */
export function repeats(engine: Engine, now: () => number): StoredRepeats {
  return {
    async begin(key, { id, argumentsHash, keepMs }) {
      const at = now();
      const statements = [
        sql`DELETE FROM toolcrib_repeats WHERE expires_at <= ${at} AND key <> ${key}`,
        sql`
          INSERT INTO toolcrib_repeats (key, call_id, arguments_hash, began_at, expires_at, result)
          VALUES (${key}, ${id}, ${argumentsHash}, ${at}, ${at + keepMs}, NULL)
          ON CONFLICT (key) DO UPDATE SET call_id = excluded.call_id, arguments_hash = excluded.arguments_hash,
            began_at = excluded.began_at, expires_at = excluded.expires_at, result = NULL
          WHERE toolcrib_repeats.expires_at <= ${at}
          RETURNING key`,
        sql`SELECT arguments_hash, began_at, result FROM toolcrib_repeats WHERE key = ${key}`,
      ];
      const [, taken, found] = await engine.write(statements, 'power loss'); // at most once, whatever dies
      const first = found?.[0];
      return taken?.length === 1 || first === undefined ? { state: 'new' } : toFirstCall(first);
    },
    async end(key, callId, result) {
      await engine.write([
        sql`UPDATE toolcrib_repeats SET result = ${JSON.stringify(result)} WHERE key = ${key} AND call_id = ${callId}`,
      ]);
    },
    async forget(key, callId) {
      await engine.write([sql`DELETE FROM toolcrib_repeats WHERE key = ${key} AND call_id = ${callId}`]);
    },
  };
}

function toFirstCall(row: Row): FirstCall {
  const argumentsHash = textOf(row, 'arguments_hash');
  if (row.result === null) return { state: 'running', argumentsHash, since: numberOf(row, 'began_at') };
  return { state: 'ended', argumentsHash, result: jsonOf(row, 'result') as ToolResult }; // only results are ever written
}
