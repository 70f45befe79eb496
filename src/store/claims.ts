import { randomUUID } from 'node:crypto';
import type { Clock } from '../core/ports/crib-context.ts';
import type { LostClaim, SilentProcess, StoredClaims } from '../core/ports/store.ts';
import { idleClock } from '../system/clock.ts';
import { sizeOf, toApproval } from './approval-rows.ts';
import { moveStatement } from './approval-statements.ts';
import { isUncertain, numberOf, type Row, type SqlEngine, type Statement, sql, textOf } from './engines/sql-engine.ts';
import { LOSS_STATEMENTS, loseStatements, readLosing, toLostTask } from './tasks/lost-tasks.ts';
import type { TaskSignals } from './tasks/task-signals.ts';

/** Heartbeat interval of a process that holds claims. */
const BEAT_MS = 2000;

/** The heartbeat of this process in the store. It writes nothing while the process holds no claims. */
export interface Heartbeat {
  /** The process id stored in claims. */
  readonly process: string;
  /** Writes a claim; the first result is that of the heartbeat. The heartbeat then runs until this claim and all others are settled. */
  make(claim: NewClaim): Promise<readonly (readonly Row[])[]>;
  /** Drops a claim that was not made. */
  release(claim: string): void;
  /** True while a claim with this name is being made, is held, or still has to be settled. */
  holds(claim: string): boolean;
  /** Holds one of several claims that were made together; call it before `release` of their common name. */
  hold(claim: string): void;
  /** Writes how a claim ended. If the write fails, it rejects, and the statements are retried with the heartbeat. */
  settle(claim: string, statements: readonly Statement[], write?: Write): Promise<readonly (readonly Row[])[]>;
  /** Marks the process as silent, so that others need not wait for the heartbeat to time out. */
  close(): Promise<void>;
}

/** Writes the same as the given statements, possibly together with others. */
type Write = (statements: readonly Statement[]) => Promise<readonly (readonly Row[])[]>;

/** A claim to make. */
interface NewClaim {
  readonly name: string;
  readonly statements: readonly Statement[];
  /** Ends the claim if its answer is lost: it may have been made, but the caller does not run under it. */
  readonly undo: Statement;
}

export function createHeartbeat(engine: SqlEngine, clock: Clock = idleClock): Heartbeat {
  const process = randomUUID();
  const held = new Set<string>();
  /** Endings that could not be written yet. */
  const owed = new Map<string, readonly Statement[]>();
  let stopTimer: (() => void) | undefined;
  let signedAt: number | undefined;
  let isClosed = false;

  const { insert, upsert } = signStatements(engine, process);
  const settleOwed = async (): Promise<void> => {
    for (const [claim, statements] of [...owed]) {
      owed.delete(claim);
      try {
        await engine.write(statements);
      } catch (cause) {
        owed.set(claim, statements); // to the end of the queue: a write that always fails must not block others
        throw cause;
      }
      held.delete(claim);
    }
  };
  const beat = async (): Promise<void> => {
    stopTimer = undefined;
    try {
      await engine.write([upsert]);
      signedAt = clock.now();
      await settleOwed();
    } catch {
      // The store does not answer: retry with the next beat.
    }
    beatLater();
  };
  const beatLater = (): void => {
    if (!isClosed && held.size > 0) stopTimer ??= clock.setTimer(BEAT_MS, () => void beat());
  };

  const release = (claim: string): void => {
    if (!owed.has(claim)) held.delete(claim);
  };
  /** The first statement of a claim's transaction, so that every claim has the row of its process. */
  const sign = (): Statement => {
    // A fresh row is not updated, so that many claims at once do not wait for each other.
    const isFresh = stopTimer !== undefined && signedAt !== undefined && clock.now() - signedAt < BEAT_MS;
    if (!isFresh) signedAt = clock.now();
    return isFresh ? insert : upsert;
  };

  return {
    process,
    async make({ name, statements, undo }) {
      const signed = [sign(), ...statements];
      held.add(name);
      try {
        const rows = await engine.write(signed, 'power loss'); // the call must run at most once, even after a crash
        beatLater();
        return rows;
      } catch (cause) {
        if (isUncertain(cause)) owed.set(name, [undo]);
        else release(name);
        beatLater();
        throw cause;
      }
    },
    release,
    holds: (claim) => held.has(claim),
    hold: (claim) => void held.add(claim),
    async settle(claim, statements, write = engine.write) {
      try {
        const rows = await write(statements);
        held.delete(claim);
        return rows;
      } catch (cause) {
        if (held.has(claim)) owed.set(claim, statements);
        throw cause;
      }
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      stopTimer?.();
      if (signedAt === undefined) return;
      await settleOwed().catch(() => undefined); // what cannot be written stays unknown
      const ending =
        held.size === 0
          ? sql`DELETE FROM toolcrib_processes WHERE id = ${process}`
          : sql`UPDATE toolcrib_processes SET seen_at = 0 WHERE id = ${process}`;
      await engine.write([ending]).catch(() => undefined); // otherwise the heartbeat times out
    },
  };
}

/** Statements that write a heartbeat: always, or only if there is none. */
function signStatements({ dialect }: SqlEngine, process: string): Readonly<Record<'insert' | 'upsert', Statement>> {
  const text = `INSERT INTO toolcrib_processes (id, seen_at) VALUES (?, ${dialect.nowMs}) ON CONFLICT (id) DO`;
  return {
    insert: { sql: `${text} NOTHING`, params: [process] },
    upsert: { sql: `${text} UPDATE SET seen_at = excluded.seen_at`, params: [process] },
  };
}

/** A process that holds claims counts as silent after this time without a heartbeat. */
const SILENT_MS = 8000;
const MOST_PROCESSES = 100;

/** Claims in an engine. Times are those of the database, because clocks of machines differ. */
export function claims(engine: SqlEngine, now: () => number, signals: TaskSignals): StoredClaims {
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
      const tasks = await readLosing(engine, process.id);
      const stillSilent: Statement = { sql: STILL_SILENT, params: [process.id, process.seenAt] };
      const losing = { process: process.id, stillSilent, at: now(), returning: signals.returning, resultOf };
      const losses = tasks.map((one) => loseStatements(one, losing));
      const others = [...losses.flat(), loseRepeats(process, now()), forget(process)];
      const answers = await engine.write([...updates, ...others], 'power loss');
      const lost = approvals
        .filter((_, index) => answers[index]?.length === 1)
        .map((approval) => ({ callId: approval.claim?.callId ?? '', at: approval.claim?.at ?? 0, approval }));
      const lostTasks = tasks.filter((_, index) => answers[updates.length + LOSS_STATEMENTS * index]?.length === 1);
      for (const { task } of lostTasks) signals.tell(task.id);
      return [...lost, ...lostTasks.map(toLostTask), ...(answers.at(-2) ?? []).map(toLostRepeat)];
    },
  };
}

/** SQL condition: the process has sent no heartbeat since it was found to be silent. */
const STILL_SILENT = 'EXISTS (SELECT 1 FROM toolcrib_processes AS one WHERE one.id = ? AND one.seen_at = ?)';

function loseApproval({ id: process, seenAt }: SilentProcess, id: string, result: string | null): Statement {
  return moveStatement('lose', {
    where: { sql: `id = ? AND process = ? AND ${STILL_SILENT}`, params: [id, process, process, seenAt] },
    set: sql`outcome = 'unknown_outcome', result = ${result}, bytes = ${sizeOf(result)}, is_handed_over = 0`,
  });
}

function loseRepeats({ id, seenAt }: SilentProcess, at: number): Statement {
  return {
    sql: `UPDATE toolcrib_repeats SET lost_at = ?
      WHERE process = ? AND result IS NULL AND lost_at IS NULL AND ${STILL_SILENT}
      RETURNING key, call_id, began_at`,
    params: [at, id, id, seenAt],
  };
}

/** A process that comes back is added again with its next claim. */
function forget({ id, seenAt }: SilentProcess): Statement {
  return sql`DELETE FROM toolcrib_processes WHERE id = ${id} AND seen_at = ${seenAt}`;
}

function toLostRepeat(row: Row): LostClaim {
  return { callId: textOf(row, 'call_id'), at: numberOf(row, 'began_at'), key: textOf(row, 'key') };
}
