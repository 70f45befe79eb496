import type { Writable } from 'node:stream';
import type { Clock } from '../../core/ports/crib-context.ts';
import { systemClock } from '../../system/clock.ts';
import type { ProgressNote } from './answer-tool-call.ts';

/** Whatever was written so long ago was taken; so long an answer to a ping is waited for. */
const TAKEN_MS = 1000;
/** The most that Node reads at once. */
const CHUNK_BYTES = 65_536;

/** Asks the client for a sign of life. */
export type Ping = () => Promise<unknown>;

/**
 * Keeps answers apart from the progress before them. Clients that use the protocol's package forget a call with its answer
 * before they hand out progress that was read in the same chunk. An older client answers a ping when it has taken the
 * progress. One of the newest revision cannot be asked: spaces, which JSON allows before a value, fill the chunk.
 */
export interface Spacing {
  now(): number;
  /** Resolves when the answer may follow progress that was written at this moment. */
  after(moment: number | undefined, ping?: Ping): Promise<void>;
  /** Resolves when no answer waits any more. */
  settled(): Promise<void>;
}

export function createSpacing(stdout: Writable, clock: Clock = systemClock): Spacing {
  const waiting = new Set<Promise<void>>();
  const answered = (ping: Ping, leftMs: number) =>
    new Promise<void>((resolve) => {
      const stopTimer = clock.setTimer(leftMs, resolve);
      ping()
        .catch(() => undefined) // an answer, too
        .then(() => {
          stopTimer();
          resolve();
        });
    });
  return {
    now: clock.now,
    async after(moment, ping) {
      const leftMs = moment === undefined ? 0 : moment + TAKEN_MS - clock.now();
      if (leftMs <= 0) return;
      if (ping === undefined) return void stdout.write(' '.repeat(CHUNK_BYTES));
      const passed = answered(ping, leftMs);
      waiting.add(passed);
      await passed;
      waiting.delete(passed);
    },
    settled: async () => void (await Promise.all(waiting)),
  };
}

/** Tells one client how far one call has come. */
export interface ProgressTeller {
  tell(note: ProgressNote): void;
  /** Resolves when all of it is written, and the answer may follow. */
  told(): Promise<void>;
}

/** How a client is told. */
export interface Telling {
  notify(note: ProgressNote): Promise<void>;
  /** Absent where the client takes each message by itself. */
  readonly spacing: Spacing | undefined;
  /** Absent where the client cannot be asked. */
  readonly ping?: Ping | undefined;
}

export function createProgressTeller({ notify, spacing, ping }: Telling): ProgressTeller {
  let written: Promise<void> | undefined;
  let lastAt: number | undefined;
  return {
    tell(note) {
      // A client that is gone misses nothing: the call is cancelled by its signal.
      const sent = notify(note).catch(() => undefined);
      written = Promise.all([written, sent]).then(() => {
        lastAt = spacing?.now();
      });
    },
    async told() {
      await written;
      await spacing?.after(lastAt, ping);
    },
  };
}
