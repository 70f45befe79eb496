import { hash } from 'node:crypto';
import type { Keeping, KeptUsage } from '../core/ports/keep-bounds.ts';
import { numberOf, type Row, type Statement } from './engines/engine.ts';

/** A caller in a column that an index can hold, whatever its id. */
export function ownerKey(callerId: string): string {
  return hash('sha256', JSON.stringify(callerId));
}

/** What is kept in rows that have an `owner` and `bytes`: in all, and of one owner. An index over both answers it. */
function usageOf(rows: string, owner: string): Statement {
  return {
    sql: `SELECT count(*) AS total, CAST(coalesce(sum(bytes), 0) AS BIGINT) AS total_bytes,
        count(CASE WHEN owner = ? THEN 1 END) AS of_caller,
        CAST(coalesce(sum(CASE WHEN owner = ? THEN bytes END), 0) AS BIGINT) AS bytes_of_caller
      FROM ${rows}`,
    params: [ownerKey(owner), ownerKey(owner)],
  };
}

/** Reads what is kept, for `brokenBound`. */
export async function readUsage(
  read: (statement: Statement) => Promise<readonly Row[]>,
  rows: string,
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

/** Ends a statement `INSERT ... SELECT ...`: one row where there is room for one entry more of this size, else none. It is `brokenBound` in SQL. */
export function whereRoom(rows: string, bytes: number, { owner, bounds }: Keeping): Statement {
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
