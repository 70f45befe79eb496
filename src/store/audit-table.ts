import { randomBytes } from 'node:crypto';
import {
  type AuditBatch,
  type ChainCut,
  type ChainPosition,
  type Checkpoint,
  indexText,
  type StoredAudit,
  type StoredAuditRow,
} from '../core/ports/stored-audit.ts';
import { type Append, toAppend } from './audit-append.ts';
import { NO_CALLS, readRecent, readUse } from './audit-reads.ts';
import { endOfRow, intentsOf, readEntry, toChain, toCheckpoint, toPlacedRow, toRow } from './audit-rows.ts';
import { numberOf, type SqlEngine, type Statement, sql, textOf } from './engines/sql-engine.ts';

/** Row limit for one call. A call has one row, unless it waited, was retried, or its process was presumed dead. */
const MOST_ROWS_OF_CALL = 100;

/** The audit log in an engine. */
export function audit(engine: SqlEngine, now: () => number): StoredAudit {
  return {
    storeId: () => storeId(engine),
    headless: () => headless(engine),
    extents: () => extents(engine),
    append: (batch) => append(engine, batch),
    end: (chain) => endOf(engine, chain),
    chains: async () => {
      const rows = await engine.read(sql`SELECT * FROM toolcrib_audit_chains ORDER BY started_at, chain`);
      return rows.map(toChain);
    },
    rows: (chain, after, limit) =>
      readRows(engine, sql`chain = ${chain} AND number > ${after} ORDER BY number LIMIT ${limit}`),
    rowsUpTo: (chain, number, limit) =>
      readRows(engine, sql`chain = ${chain} AND number <= ${number} ORDER BY number DESC LIMIT ${limit}`),
    checkpoints: async (chain, after, limit) => {
      const rows = await engine.read(sql`
        SELECT * FROM toolcrib_audit_checkpoints
        WHERE chain = ${chain} AND row_count > ${after} ORDER BY row_count LIMIT ${limit}`);
      return rows.map(toCheckpoint);
    },
    newestCheckpoint: async (chain) => {
      const [row] = await engine.read(sql`
        SELECT * FROM toolcrib_audit_checkpoints WHERE chain = ${chain} ORDER BY row_count DESC LIMIT 1`);
      return row === undefined ? undefined : toCheckpoint(row);
    },
    recent: async (query) => (await readRecent(engine, query)).map(toPlacedRow),
    use: (since) => readUse(engine, since),
    openIntents: async (callId) => {
      const rows = await engine.read(sql`SELECT entry FROM toolcrib_audit WHERE call_id = ${indexText(callId)}`);
      const counts = rows.map((row) => intentsOf(readEntry(row)));
      return Math.max(
        0,
        counts.reduce((sum, count) => sum + count, 0),
      );
    },
    find: async (callId) => {
      const rows = await engine.read({
        sql: `SELECT * FROM toolcrib_audit WHERE call_id = ? AND outcome NOT IN ${NO_CALLS} ORDER BY at DESC LIMIT ?`,
        params: [indexText(callId), MOST_ROWS_OF_CALL],
      });
      // If a frozen process was presumed dead, the later end of the call counts.
      const [last] = rows.toSorted((a, b) => endOfRow(b) - endOfRow(a));
      return last === undefined ? undefined : toPlacedRow(last);
    },
    count: async () => {
      const [row] = await engine.scan(sql`SELECT count(*) AS total FROM toolcrib_audit`);
      return row === undefined ? 0 : numberOf(row, 'total');
    },
    claimTidying: async (everyMs) => {
      const at = now();
      const [claimed] = await engine.write([
        sql`
          INSERT INTO toolcrib_versions (name, version) VALUES ('audit-tidied', ${at})
          ON CONFLICT (name) DO UPDATE SET version = excluded.version
          WHERE toolcrib_versions.version <= ${at - everyMs}
          RETURNING name`,
      ]);
      return claimed?.length === 1;
    },
    lastBefore: (chain, before) => lastBefore(engine, chain, before),
    cut: (made) => cut(engine, made),
    removeCut: (chain, limit) => removeCut(engine, chain, limit),
  };
}

async function headless(engine: SqlEngine): ReturnType<StoredAudit['headless']> {
  const rows = await engine.scan(sql`
    SELECT chain, count(*) AS total FROM (
      SELECT chain FROM toolcrib_audit UNION ALL SELECT chain FROM toolcrib_audit_checkpoints) AS written
    WHERE NOT EXISTS (SELECT 1 FROM toolcrib_audit_chains AS head WHERE head.chain = written.chain)
    GROUP BY chain ORDER BY chain`);
  return rows.map((row) => ({ chain: String(row.chain), rows: numberOf(row, 'total') }));
}

async function extents(engine: SqlEngine): ReturnType<StoredAudit['extents']> {
  // No index has all of these, so the table itself is read: a row may be in the table and not in its index.
  const rows = await engine.scan(sql`
    SELECT chain || '' AS name, count(*) AS total, min(number) AS first, max(number) AS last, max(at) AS newest
    FROM toolcrib_audit GROUP BY chain || ''`);
  return rows.map(({ name, total, first, last }) => {
    return { chain: String(name), rows: Number(total), first: Number(first), last: Number(last) };
  });
}

/** The versions table holds numbers, so the id is a number: 48 random bits, which fit every engine. */
async function storeId(engine: SqlEngine): Promise<string> {
  const [known] = await engine.read(sql`SELECT version FROM toolcrib_versions WHERE name = 'store-id'`);
  if (known !== undefined) return String(known.version); // an altered id is returned as well, and reported by verification
  const id = randomBytes(6).readUIntBE(0, 6);
  await engine.write([
    sql`INSERT INTO toolcrib_versions (name, version) VALUES ('store-id', ${id}) ON CONFLICT (name) DO NOTHING`,
  ]);
  return storeId(engine);
}

async function append(engine: SqlEngine, batch: AuditBatch): Promise<ChainPosition | undefined> {
  try {
    return await (engine.append?.(batch) ?? appendHere(engine, toAppend(batch)));
  } catch (cause) {
    // Either an earlier attempt wrote the batch and its answer was lost, or another process wrote these rows, or nothing was written.
    const { chain } = batch.header;
    const { end } = toAppend(batch);
    if (end.count === batch.after.count) throw cause;
    if ((await rowAt(engine, chain, end.count)) === end.hash) return end;
    const found = await endOf(engine, chain);
    if (found !== undefined && found.count > batch.after.count) return undefined;
    throw cause;
  }
}

async function appendHere(engine: SqlEngine, { statements, survives, end }: Append): Promise<ChainPosition> {
  await engine.write(statements, survives);
  return end;
}

/** The rows that fulfil a condition, in its order. */
async function readRows(engine: SqlEngine, { sql: condition, params }: Statement): Promise<readonly StoredAuditRow[]> {
  const rows = await engine.read({ sql: `SELECT * FROM toolcrib_audit WHERE ${condition}`, params });
  return rows.map(toRow);
}

async function rowAt(engine: SqlEngine, chain: string, number: number): Promise<string | undefined> {
  const [row] = await engine.read(sql`SELECT hash FROM toolcrib_audit WHERE chain = ${chain} AND number = ${number}`);
  return row === undefined ? undefined : textOf(row, 'hash');
}

async function endOf(engine: SqlEngine, chain: string): Promise<ChainPosition | undefined> {
  const [row] = await engine.read(sql`
    SELECT number, hash FROM toolcrib_audit WHERE chain = ${chain} ORDER BY number DESC LIMIT 1`);
  if (row !== undefined) return { count: numberOf(row, 'number'), hash: textOf(row, 'hash') };
  const [cutRow] = await engine.read(sql`
    SELECT cut_count, cut_hash FROM toolcrib_audit_chains WHERE chain = ${chain} AND cut_count IS NOT NULL`);
  return cutRow === undefined ? undefined : { count: numberOf(cutRow, 'cut_count'), hash: textOf(cutRow, 'cut_hash') };
}

async function lastBefore(engine: SqlEngine, chain: string, before: number): Promise<Checkpoint | undefined> {
  const [fresh] = await engine.scan(sql`
    SELECT number FROM toolcrib_audit WHERE chain = ${chain} AND at >= ${before} ORDER BY number LIMIT 1`);
  const limit = fresh === undefined ? Number.MAX_SAFE_INTEGER : numberOf(fresh, 'number');
  const [row] = await engine.read(sql`
    SELECT * FROM toolcrib_audit_checkpoints
    WHERE chain = ${chain} AND row_count < ${limit} AND made_at < ${before} ORDER BY row_count DESC LIMIT 1`);
  return row === undefined ? undefined : toCheckpoint(row);
}

async function cut(engine: SqlEngine, { chain, count, hash, at, key, signature }: ChainCut): Promise<void> {
  await engine.write([
    sql`
      UPDATE toolcrib_audit_chains
      SET cut_count = ${count}, cut_hash = ${hash}, cut_at = ${at}, cut_key = ${key}, cut_signature = ${signature}
      WHERE chain = ${chain} AND (cut_count IS NULL OR cut_count < ${count})`,
  ]);
}

async function removeCut(engine: SqlEngine, chain: string, limit: number): Promise<number> {
  const [row] = await engine.read(sql`
    SELECT cut_count FROM toolcrib_audit_chains WHERE chain = ${chain} AND cut_count IS NOT NULL`);
  if (row === undefined) return 0;
  const count = numberOf(row, 'cut_count');
  const [first] = await engine.read(sql`
    SELECT number FROM toolcrib_audit WHERE chain = ${chain} ORDER BY number LIMIT 1`);
  const upTo = Math.min(count, first === undefined ? 0 : numberOf(first, 'number') + limit - 1);
  const [removed] = await engine.write([
    sql`DELETE FROM toolcrib_audit WHERE chain = ${chain} AND number <= ${upTo} RETURNING number`,
    sql`DELETE FROM toolcrib_audit_checkpoints WHERE chain = ${chain} AND row_count < ${count}`,
  ]);
  return removed?.length ?? 0;
}
