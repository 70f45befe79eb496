import type { Writable } from 'node:stream';
import type { Clock } from '../../core/ports/crib-context.ts';
import { systemClock } from '../../system/clock.ts';
import type { ProgressNote } from './answer-tool-call.ts';

/** After this time a client has read what was written. Also the timeout of a ping. */
const TAKEN_MS = 1000;
/** The largest chunk that Node reads at once. */
const CHUNK_BYTES = 65_536;

/** Sends a ping to the client. */
export type Ping = () => Promise<unknown>;

/**
 * Separates answers from the progress before them. Clients with the MCP SDK drop progress that arrives in the same chunk
 * as the answer. An older client answers a ping after it has read the progress. A modern client cannot be pinged: spaces,
 * which JSON allows before a value, fill the chunk.
 */
export interface Spacing {
  now(): number;
  /** Resolves when the answer may follow progress written at this moment. */
  after(moment: number | undefined, ping?: Ping): Promise<void>;
  /** Resolves when no answer is waiting. */
  settled(): Promise<void>;
}

export function createSpacing(stdout: Writable, clock: Clock = systemClock): Spacing {
  const waiting = new Set<Promise<void>>();
  const answered = (ping: Ping, leftMs: number) =>
    new Promise<void>((resolve) => {
      const stopTimer = clock.setTimer(leftMs, resolve);
      ping()
        .catch(() => undefined) // an error is also an answer
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

/** Reports the progress of one call to its client. */
export interface ProgressTeller {
  tell(note: ProgressNote): void;
  /** Resolves when all progress is written and the answer may follow. */
  told(): Promise<void>;
}

/** Options for reporting progress. */
export interface Telling {
  notify(note: ProgressNote): Promise<void>;
  /** Absent if the client reads each message separately. */
  readonly spacing: Spacing | undefined;
  /** Absent if the client cannot be pinged. */
  readonly ping?: Ping | undefined;
}

export function createProgressTeller({ notify, spacing, ping }: Telling): ProgressTeller {
  let written: Promise<void> | undefined;
  let lastAt: number | undefined;
  return {
    tell(note) {
      // Errors are ignored: if the client is gone, its signal cancels the call.
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
