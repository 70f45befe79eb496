import { randomUUID } from 'node:crypto';
import { type Engine, type Row, type Statement, sql } from './engine.ts';

/** How often a process that holds claims says that it lives. */
const BEAT_MS = 2000;

/** The sign of life of this process in the store. It costs nothing as long as the process has no claims. */
export interface Heartbeat {
  /** What claims of this process name. */
  readonly process: string;
  /** First in the transaction of a claim, so that no claim is ever without the process that it names. */
  sign(): Statement;
  /** From now on the process says that it lives, until this claim and all others are settled. */
  hold(claim: string): void;
  /** Writes how a claim ended. What cannot be written now rejects, and is written as soon as that is possible. */
  settle(claim: string, statements: readonly Statement[]): Promise<readonly (readonly Row[])[]>;
  /** What is held is given up: others need not wait to see that nothing is heard any more. */
  close(): Promise<void>;
}

export function createHeartbeat(engine: Engine): Heartbeat {
  const process = randomUUID();
  const held = new Set<string>();
  /** Ends that could not be written. */
  const owed = new Map<string, readonly Statement[]>();
  let timer: NodeJS.Timeout | undefined;
  let signedAt: number | undefined;
  let isClosed = false;

  const upsert: Statement = {
    sql: `INSERT INTO toolcrib_processes (id, seen_at) VALUES (?, ${engine.dialect.nowMs})
      ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
    params: [process],
  };
  const insert: Statement = {
    sql: `INSERT INTO toolcrib_processes (id, seen_at) VALUES (?, ${engine.dialect.nowMs}) ON CONFLICT (id) DO NOTHING`,
    params: [process],
  };

  const settleOwed = async (): Promise<void> => {
    for (const [claim, statements] of owed) {
      await engine.write(statements);
      owed.delete(claim);
      held.delete(claim);
    }
  };
  const beat = async (): Promise<void> => {
    timer = undefined;
    try {
      await engine.write([upsert]);
      signedAt = performance.now();
      await settleOwed();
    } catch {
      // A store that does not answer now is told with the next beat.
    }
    beatLater();
  };
  const beatLater = (): void => {
    if (!isClosed && held.size > 0) timer ??= setTimeout(() => void beat(), BEAT_MS).unref();
  };

  return {
    process,
    sign() {
      // A row that was written just now is only made sure of: many claims at once need not wait for each other.
      const isFresh = timer !== undefined && signedAt !== undefined && performance.now() - signedAt < BEAT_MS;
      if (!isFresh) signedAt = performance.now();
      return isFresh ? insert : upsert;
    },
    hold(claim) {
      held.add(claim);
      beatLater();
    },
    async settle(claim, statements) {
      try {
        const rows = await engine.write(statements);
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
      clearTimeout(timer);
      if (signedAt === undefined) return;
      await settleOwed().catch(() => undefined); // what is owed still stays unknown
      const ending =
        held.size === 0
          ? sql`DELETE FROM toolcrib_processes WHERE id = ${process}`
          : sql`UPDATE toolcrib_processes SET seen_at = 0 WHERE id = ${process}`;
      await engine.write([ending]).catch(() => undefined); // it will be missed soon enough
    },
  };
}
