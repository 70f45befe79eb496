import type { LostClaim, SilentProcess, StoredClaims } from '../core/ports/stored-claims.ts';
import { toApproval } from './approval-rows.ts';
import { sizeOf } from './approval-statements.ts';
import { type Engine, numberOf, type Row, type Statement, sql, textOf } from './engines/engine.ts';

/** A process that holds claims says every 2 s that it lives; after so long it counts as silent. */
const SILENT_MS = 8000;
const MOST_PROCESSES = 100;

/** Claims in an engine. Times are those of the database: clocks of several machines differ. */
export function claims(engine: Engine, now: () => number): StoredClaims {
  return {
    async silent() {
      const rows = await engine.read({
        sql: `SELECT id, seen_at FROM toolcrib_processes WHERE seen_at < ${engine.dialect.nowMs} - ?
          ORDER BY seen_at LIMIT ?`,
        params: [SILENT_MS, MOST_PROCESSES],
      });
      return rows.map((row) => ({ id: textOf(row, 'id'), seenAt: numberOf(row, 'seen_at') }));
    },
    async abandon(process, resultOf) {
      const claimed = await engine.read(sql`
        SELECT * FROM toolcrib_approvals WHERE process = ${process.id} AND state = 'claimed'`);
      const approvals = claimed.map((row) => toApproval(row, now()));
      const updates = approvals.map((approval) =>
        loseApproval(process, approval.id, approval.parked === undefined ? null : JSON.stringify(resultOf(approval))),
      );
      const answers = await engine.write([...updates, loseRepeats(process, now()), forget(process)], 'power loss');
      const lost = approvals
        .filter((_, index) => answers[index]?.length === 1)
        .map((approval) => ({ callId: approval.claim?.callId ?? '', at: approval.claim?.at ?? 0, approval }));
      return [...lost, ...(answers[updates.length] ?? []).map(toLostRepeat)];
    },
  };
}

/** True in SQL while nothing was heard of the process since it was found to be silent. */
const STILL_SILENT = 'EXISTS (SELECT 1 FROM toolcrib_processes AS one WHERE one.id = ? AND one.seen_at = ?)';

function loseApproval({ id: process, seenAt }: SilentProcess, id: string, result: string | null): Statement {
  return {
    sql: `UPDATE toolcrib_approvals
      SET state = 'done', outcome = 'unknown_outcome', result = ?, bytes = ?, arguments = NULL, is_handed_over = 0, is_lost = 1
      WHERE id = ? AND state = 'claimed' AND process = ? AND ${STILL_SILENT} RETURNING id`,
    params: [result, sizeOf(result), id, process, process, seenAt],
  };
}

function loseRepeats({ id, seenAt }: SilentProcess, at: number): Statement {
  return {
    sql: `UPDATE toolcrib_repeats SET lost_at = ?
      WHERE process = ? AND result IS NULL AND lost_at IS NULL AND ${STILL_SILENT}
      RETURNING key, call_id, began_at`,
    params: [at, id, id, seenAt],
  };
}

/** One that comes back signs again with its next claim. */
function forget({ id, seenAt }: SilentProcess): Statement {
  return sql`DELETE FROM toolcrib_processes WHERE id = ${id} AND seen_at = ${seenAt}`;
}

function toLostRepeat(row: Row): LostClaim {
  return { callId: textOf(row, 'call_id'), at: numberOf(row, 'began_at'), key: textOf(row, 'key') };
}
