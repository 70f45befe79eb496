import { brokenBound, type Keeping } from '../core/keep-bounds.ts';
import { type FirstCall, RESERVED_BYTES, type StoredRepeats } from '../core/stored-results.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { type Engine, jsonOf, numberOf, type Row, type Statement, sql, textOf } from './engine.ts';
import { ownerKey, readUsage, whereRoom } from './keep-room.ts';

/** The keys that count: those of callers. */
const KEPT = 'toolcrib_repeats WHERE owner IS NOT NULL';

/** As many as a call can wait for. */
const PURGED_ROWS = 1000;

/** Idempotency keys in an engine. The primary key lets one call in, whichever process it comes from. */
export function repeats(engine: Engine, now: () => number): StoredRepeats {
  /** Ends with the rows that it removed; as many as it may remove mean that there may be more. */
  const expire = (at: number) => [
    ...engine.dialect.lock('repeats'),
    sql`
      DELETE FROM toolcrib_repeats WHERE key IN (
        SELECT key FROM toolcrib_repeats WHERE expires_at <= ${at} LIMIT ${PURGED_ROWS})
      RETURNING key`,
  ];
  return {
    async begin(key, { id, argumentsHash, keepMs, keeping }) {
      for (;;) {
        const at = now();
        const room = keeping === undefined ? ALWAYS : whereRoom(KEPT, RESERVED_BYTES, keeping);
        const owner = keeping === undefined ? null : ownerKey(keeping.owner);
        const statements = [
          ...expire(at),
          sql`DELETE FROM toolcrib_repeats WHERE key = ${key} AND expires_at <= ${at}`,
          {
            sql: `INSERT INTO toolcrib_repeats (key, call_id, arguments_hash, began_at, expires_at, result, owner, bytes)
              SELECT ?, ?, ?, CAST(? AS BIGINT), CAST(? AS BIGINT), NULL, ?, CAST(? AS BIGINT)
              ${room.sql} ON CONFLICT (key) DO NOTHING RETURNING key`,
            params: [key, id, argumentsHash, at, at + keepMs, owner, RESERVED_BYTES, ...room.params],
          },
          sql`SELECT arguments_hash, began_at, result FROM toolcrib_repeats WHERE key = ${key}`,
        ];
        const answers = await engine.write(statements, 'power loss'); // at most once, whatever dies
        if (answers.at(-2)?.length === 1) return { state: 'new' };
        const first = answers.at(-1)?.[0];
        if (first !== undefined) return toFirstCall(first);
        if (answers.at(-4)?.length === PURGED_ROWS) continue; // those that are left may take the room
        const broken = await brokenNow(engine, keeping);
        if (broken !== undefined) return { state: 'refused', broken };
        // Another key was let go meanwhile: there is room again.
      }
    },
    async end(key, callId, { result, instead, ...keeping }) {
      const text = JSON.stringify(result);
      const bytes = Buffer.byteLength(text);
      if (bytes <= RESERVED_BYTES) return void (await engine.write([keepStatement({ key, callId, text })]));
      for (;;) {
        const answers = await engine.write([...expire(now()), keepWithin(bytes, { key, callId, text }, keeping)]);
        if (answers.at(-1)?.length === 1) return;
        if (answers.at(-2)?.length !== PURGED_ROWS) break; // what is kept takes the room
      }
      await engine.write([keepStatement({ key, callId, text: JSON.stringify(instead) })]);
    },
    async forget(key, callId) {
      await engine.write([sql`DELETE FROM toolcrib_repeats WHERE key = ${key} AND call_id = ${callId}`]);
    },
  };
}

const ALWAYS: Statement = { sql: 'FROM (SELECT 1 AS one) AS room WHERE one = 1', params: [] };

type Ended = Readonly<Record<'key' | 'callId' | 'text', string>>;

/** Keeps a result that is longer than what was reserved, where there is room for it. */
function keepWithin(bytes: number, { key, callId, text }: Ended, { owner, bounds }: Keeping): Statement {
  const more = bytes - RESERVED_BYTES;
  return sql`
    UPDATE toolcrib_repeats SET result = ${text}, bytes = ${bytes}
    WHERE key = ${key} AND call_id = ${callId} AND result IS NULL
      AND (SELECT coalesce(sum(bytes), 0) FROM toolcrib_repeats WHERE owner = ${ownerKey(owner)}) + ${more}
        <= ${bounds.maxBytesPerCaller}
      AND (SELECT coalesce(sum(bytes), 0) FROM toolcrib_repeats WHERE owner IS NOT NULL) + ${more}
        <= ${bounds.maxTotalBytes}
    RETURNING key`;
}

/** The first result stays. */
function keepStatement({ key, callId, text }: Ended): Statement {
  return sql`
    UPDATE toolcrib_repeats SET result = ${text} WHERE key = ${key} AND call_id = ${callId} AND result IS NULL`;
}

async function brokenNow(engine: Engine, keeping: Keeping | undefined) {
  if (keeping === undefined) return undefined;
  return brokenBound(await readUsage(engine.read, KEPT, keeping.owner), RESERVED_BYTES, keeping.bounds);
}

function toFirstCall(row: Row): FirstCall {
  const argumentsHash = textOf(row, 'arguments_hash');
  if (row.result === null) return { state: 'running', argumentsHash, since: numberOf(row, 'began_at') };
  return { state: 'ended', argumentsHash, result: jsonOf(row, 'result') as ToolResult }; // only results are ever written
}
