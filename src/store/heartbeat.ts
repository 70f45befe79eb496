import { randomUUID } from 'node:crypto';
import { type Engine, type Row, type Statement, sql } from './engines/engine.ts';
import { isUncertain } from './store-errors.ts';

/** How often a process that holds claims says that it lives. */
const BEAT_MS = 2000;

/** The sign of life of this process in the store. It costs nothing as long as the process has no claims. */
export interface Heartbeat {
  /** What claims of this process name. */
  readonly process: string;
  /** Writes a claim; the first rows are those of the sign. From now on the process says that it lives, until this claim and all others are settled. */
  make(claim: NewClaim): Promise<readonly (readonly Row[])[]>;
  /** Of a claim that was not made after all. */
  release(claim: string): void;
  /** True while a claim of this name is being made, is held, or is still to be ended. */
  holds(claim: string): boolean;
  /** Writes how a claim ended. What cannot be written now rejects, and is written as soon as that is possible. */
  settle(claim: string, statements: readonly Statement[]): Promise<readonly (readonly Row[])[]>;
  /** What is held is given up: others need not wait to see that nothing is heard any more. */
  close(): Promise<void>;
}

/** A claim as it is about to be made. */
interface NewClaim {
  readonly name: string;
  readonly statements: readonly Statement[];
  /** Ends it where its answer is lost: then it may have been made, and the caller does not run under it. */
  readonly undo: Statement;
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
    for (const [claim, statements] of [...owed]) {
      owed.delete(claim);
      try {
        await engine.write(statements);
      } catch (cause) {
        owed.set(claim, statements); // last: one that can never be written keeps no other waiting
        throw cause;
      }
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

  const release = (claim: string): void => {
    if (!owed.has(claim)) held.delete(claim);
  };
  /** First in the transaction of a claim, so that no claim is ever without the process that it names. */
  const sign = (): Statement => {
    // A row that was written just now is only made sure of: many claims at once need not wait for each other.
    const isFresh = timer !== undefined && signedAt !== undefined && performance.now() - signedAt < BEAT_MS;
    if (!isFresh) signedAt = performance.now();
    return isFresh ? insert : upsert;
  };

  return {
    process,
    async make({ name, statements, undo }) {
      const signed = [sign(), ...statements];
      held.add(name);
      try {
        const rows = await engine.write(signed, 'power loss'); // at most once, whatever dies
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
