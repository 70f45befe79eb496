import type { Clock } from '../core/ports/ports.ts';
import { messageOf } from '../core/tool-error.ts';
import type { DraftEntry } from './audit-entry.ts';
import { type ChainPlace, type ChainWriter, createChainWriter } from './chain-writer.ts';
import { removeOldRows } from './retention.ts';

export interface RowWriterOptions {
  /** Opened by the first row. */
  open(): Promise<ChainPlace>;
  readonly clock: Clock;
  readonly idleClock: Clock;
  warn(message: string): void;
}

/** Writes rows, and sees to it that they are sealed and that old ones go. */
export interface RowWriter {
  write(entries: readonly DraftEntry[]): Promise<void>;
  keepFor(days: number | undefined): void;
  /** The public key of the rows where it is gone with the process. */
  passingKey(): string | undefined;
  /** Seals now what is written. */
  seal(): Promise<void>;
  close(): Promise<void>;
}

interface Opened {
  readonly place: ChainPlace;
  readonly chain: ChainWriter;
}

/** Sealing after every batch would cost more than writing it. */
const MIN_SEAL_MS = 250;
const TIDY_EVERY_MS = 3_600_000;

export function createRowWriter({ open, clock, idleClock, warn }: RowWriterOptions): RowWriter {
  let opened: Opened | undefined;
  let days: number | undefined;
  let tidiedAt = Number.NEGATIVE_INFINITY;
  let sealedAt = Number.NEGATIVE_INFINITY;
  let stopTimer: (() => void) | undefined;
  let sealing: Promise<void> = Promise.resolve();
  let tidying: Promise<void> = Promise.resolve();

  const openOnce = async (): Promise<Opened> => {
    const place = await open();
    return { place, chain: createChainWriter(place) };
  };
  const seal = ({ chain }: Opened): void => {
    stopTimer?.();
    stopTimer = undefined;
    sealedAt = clock.now();
    sealing = sealing
      .then(() => chain.seal())
      .catch((cause) => warn(`The audit cannot be sealed outside of the store: ${messageOf(cause)}`));
  };
  const sealSoon = (used: Opened): void => {
    if (stopTimer !== undefined) return;
    const restMs = sealedAt + MIN_SEAL_MS - clock.now();
    if (restMs <= 0) seal(used);
    else stopTimer = idleClock.setTimer(restMs, () => seal(used));
  };
  const tidySoon = ({ place }: Opened): void => {
    if (days === undefined || clock.now() - tidiedAt < TIDY_EVERY_MS) return;
    tidiedAt = clock.now();
    tidying = tidy(place, days, warn).catch((cause) => warn(`Old rows of the audit stay: ${messageOf(cause)}`));
  };

  return {
    async write(entries) {
      opened ??= await openOnce();
      await opened.chain.write(entries);
      sealSoon(opened);
      tidySoon(opened);
    },
    passingKey: () => (opened?.place.kept === undefined ? opened?.place.key.publicKey : undefined),
    keepFor(given) {
      days = given;
    },
    async seal() {
      if (opened !== undefined) seal(opened);
      await sealing;
    },
    async close() {
      stopTimer?.();
      await Promise.all([sealing, tidying]);
      await opened?.chain.close();
    },
  };
}

async function tidy(place: ChainPlace, days: number, warn: (message: string) => void): Promise<void> {
  const { audit, key, now } = place;
  if (await audit.claimTidying(TIDY_EVERY_MS)) await removeOldRows({ audit, key, days, now, warn });
}
