import { hash } from 'node:crypto';
import {
  brokenBound,
  type FirstCall,
  type Keeping,
  type KeptUsage,
  RESERVED_BYTES,
  type RepeatEnding,
  type RepeatingCall,
  type StoredRepeats,
} from '../core/ports/stored-results.ts';
import type { ToolResult } from '../core/tool-result.ts';
import type { Heartbeat } from './claims.ts';
import { jsonOf, numberOf, type Row, type SqlEngine, type Statement, sql, textOf } from './engines/sql-engine.ts';

/** The keys that count toward the limits: those of callers. */
const KEPT = sql`toolcrib_repeats WHERE owner IS NOT NULL`;

/** Small enough for a call to wait for. */
const PURGED_ROWS = 1000;

/** Idempotency keys in an engine. The primary key admits one call, from any process. */
export function repeats(engine: SqlEngine, now: () => number, heartbeat: Heartbeat): StoredRepeats {
  /** Removes expired rows and returns them. If `PURGED_ROWS` are returned, there may be more. */
  const expire = (at: number) => [
    ...engine.dialect.lock('repeats'),
    sql`
      DELETE FROM toolcrib_repeats WHERE key IN (
        SELECT key FROM toolcrib_repeats WHERE expires_at <= ${at} LIMIT ${PURGED_ROWS})
      RETURNING key`,
  ];
  return {
    async begin(key, call) {
      return beginAs(call.keeping === undefined ? null : heartbeat.process, key, call);
    },
    async end(key, callId, ending) {
      await heartbeat.settle(claimOf(key, callId), endStatements(key, callId, ending));
    },
    async forget(key, callId) {
      await heartbeat.settle(claimOf(key, callId), [forgetStatement(key, callId)]);
    },
  };

  async function beginAs(process: string | null, key: string, call: RepeatingCall): Promise<FirstCall> {
    const { id, argumentsHash, keepMs, keeping } = call;
    const name = claimOf(key, id);
    const undo = forgetStatement(key, id);
    // The ending of this call's last run is still to be written, and would end this run.
    if (process !== null && heartbeat.holds(name)) return { state: 'running', argumentsHash };
    for (;;) {
      const at = now();
      const room = keeping === undefined ? ALWAYS : whereRoom(KEPT, RESERVED_BYTES, keeping);
      const owner = keeping === undefined ? null : ownerKey(keeping.owner);
      const statements = [
        ...expire(at),
        sql`DELETE FROM toolcrib_repeats WHERE key = ${key} AND expires_at <= ${at}`,
        {
          sql: `INSERT INTO toolcrib_repeats (key, call_id, arguments_hash, began_at, expires_at, result, owner, bytes, process)
              SELECT ?, ?, ?, CAST(? AS BIGINT), CAST(? AS BIGINT), NULL, ?, CAST(? AS BIGINT), ?
              ${room.sql} ON CONFLICT (key) DO NOTHING RETURNING key`,
          params: [key, id, argumentsHash, at, at + keepMs, owner, RESERVED_BYTES, process, ...room.params],
        },
        sql`SELECT arguments_hash, result, lost_at FROM toolcrib_repeats WHERE key = ${key}`,
      ];
      // The call must run at most once, even after a crash.
      const answers = await (process === null
        ? engine.write(statements, 'power loss')
        : heartbeat.make({ name, statements, undo }));
      if (answers.at(-2)?.length === 1) return { state: 'new' };
      heartbeat.release(name);
      const first = answers.at(-1)?.[0];
      if (first !== undefined) return toFirstCall(first);
      if (answers.at(-4)?.length === PURGED_ROWS) continue; // expired rows that are left may take the room
      const broken = await brokenNow(engine, keeping);
      if (broken !== undefined) return { state: 'refused', broken };
      // Another key was removed meanwhile: there is room again.
    }
  }

  function endStatements(key: string, callId: string, ending: RepeatEnding): readonly Statement[] {
    const { result, instead, ...keeping } = ending;
    const at = now();
    const text = JSON.stringify(result);
    const bytes = Buffer.byteLength(text);
    if (bytes <= RESERVED_BYTES) return [keepStatement({ key, callId, text })];
    return [
      ...expire(at),
      keepWithin({ key, callId, text, bytes, at }, keeping),
      keepStatement({ key, callId, text: JSON.stringify(instead) }), // has no effect if the statement above stored the result
    ];
  }
}

function forgetStatement(key: string, callId: string): Statement {
  return sql`DELETE FROM toolcrib_repeats WHERE key = ${key} AND call_id = ${callId} AND result IS NULL`;
}

/** The name of a running call's claim. */
function claimOf(key: string, callId: string): string {
  return `repeat ${callId} ${key}`;
}

const ALWAYS: Statement = { sql: 'FROM (SELECT 1 AS one) AS room WHERE one = 1', params: [] };

type Ended = Readonly<Record<'key' | 'callId' | 'text', string>>;

/** Stores a result that is longer than the reserved size, if the limits allow it. Expired rows do not count. */
function keepWithin({ key, callId, text, bytes, at }: Ended & Room, { owner, bounds }: Keeping): Statement {
  const more = bytes - RESERVED_BYTES;
  return sql`
    UPDATE toolcrib_repeats SET result = ${text}, bytes = ${bytes}
    WHERE key = ${key} AND call_id = ${callId} AND result IS NULL
      AND (SELECT coalesce(sum(bytes), 0) FROM toolcrib_repeats
        WHERE owner = ${ownerKey(owner)} AND expires_at > ${at}) + ${more} <= ${bounds.maxBytesPerCaller}
      AND (SELECT coalesce(sum(bytes), 0) FROM toolcrib_repeats
        WHERE owner IS NOT NULL AND expires_at > ${at}) + ${more} <= ${bounds.maxTotalBytes}`;
}

type Room = Readonly<Record<'bytes' | 'at', number>>;

/** Stores a result, unless there is one. */
function keepStatement({ key, callId, text }: Ended): Statement {
  return sql`
    UPDATE toolcrib_repeats SET result = ${text} WHERE key = ${key} AND call_id = ${callId} AND result IS NULL`;
}

async function brokenNow(engine: SqlEngine, keeping: Keeping | undefined) {
  if (keeping === undefined) return undefined;
  return brokenBound(await readUsage(engine.read, KEPT, keeping.owner), RESERVED_BYTES, keeping.bounds);
}

function toFirstCall(row: Row): FirstCall {
  const argumentsHash = textOf(row, 'arguments_hash');
  if (row.result === null) return { state: row.lost_at === null ? 'running' : 'lost', argumentsHash };
  return { state: 'ended', argumentsHash, result: jsonOf(row, 'result') as ToolResult }; // only results are written
}

/** A caller id as a hash, so that an index can hold it. */
export function ownerKey(callerId: string): string {
  return hash('sha256', JSON.stringify(callerId));
}

/** Counts and bytes of rows with `owner` and `bytes`: of all, and of one owner. Answered by an index over both. */
function usageOf(rows: Statement, owner: string): Statement {
  return {
    sql: `SELECT count(*) AS total, CAST(coalesce(sum(bytes), 0) AS BIGINT) AS total_bytes,
        count(CASE WHEN owner = ? THEN 1 END) AS of_caller,
        CAST(coalesce(sum(CASE WHEN owner = ? THEN bytes END), 0) AS BIGINT) AS bytes_of_caller
      FROM ${rows.sql}`,
    params: [ownerKey(owner), ownerKey(owner), ...rows.params],
  };
}

/** Reads the usage, for `brokenBound`. */
export async function readUsage(
  read: (statement: Statement) => Promise<readonly Row[]>,
  rows: Statement,
  owner: string,
): Promise<KeptUsage> {
  const [row = {}] = await read(usageOf(rows, owner));
  return {
    ofCaller: numberOf(row, 'of_caller'),
    bytesOfCaller: numberOf(row, 'bytes_of_caller'),
    total: numberOf(row, 'total'),
    totalBytes: numberOf(row, 'total_bytes'),
  };
}

/** Completes `INSERT ... SELECT ...` so that it inserts a row only if the limits allow one more entry of this size: `brokenBound` in SQL. */
export function whereRoom(rows: Statement, bytes: number, { owner, bounds }: Keeping): Statement {
  const usage = usageOf(rows, owner);
  return {
    sql: `FROM (${usage.sql}) AS usage
      WHERE of_caller < ? AND bytes_of_caller + ? <= ? AND total < ? AND total_bytes + ? <= ?`,
    params: [
      ...usage.params,
      bounds.maxPerCaller,
      bytes,
      bounds.maxBytesPerCaller,
      bounds.maxTotal,
      bytes,
      bounds.maxTotalBytes,
    ],
  };
}
