import type { Clock } from '../core/ports/crib-context.ts';
import type { StoredAudit, StoredChain } from '../core/ports/stored-audit.ts';
import { messageOf } from '../core/tool-error.ts';
import { type ChainPlace, type ChainWriter, createChainWriter } from './chain-writer.ts';
import { isSignedCheckpoint, type SigningKey, signCut } from './proof.ts';

export interface RowWriterOptions {
  /** Called at the first row. */
  open(): Promise<ChainPlace>;
  readonly clock: Clock;
  readonly idleClock: Clock;
  warn(message: string): void;
}

/** Writes rows, seals them and removes old ones. */
export interface RowWriter {
  /** Writes rows packed by `packRows`. */
  write(packed: readonly Uint8Array[]): Promise<void>;
  keepFor(days: number | undefined): void;
  /** The public key of the rows if it ends with the process. */
  passingKey(): string | undefined;
  /** Seals the written rows now. */
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
      .catch((cause) => warn(`The audit log cannot be sealed outside the store: ${messageOf(cause)}`));
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
    tidying = tidy(place, days, warn).catch((cause) =>
      warn(`Old rows of the audit log could not be removed: ${messageOf(cause)}`),
    );
  };

  return {
    async write(packed) {
      opened ??= await openOnce();
      await opened.chain.write(packed);
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

/** Options for removing old rows. */
interface RetentionOptions {
  readonly audit: StoredAudit;
  readonly key: SigningKey;
  readonly days: number;
  now(): number;
  warn(message: string): void;
}

const DAY_MS = 86_400_000;
/** Small enough that other processes can write in between. */
const ROWS_AT_ONCE = 2000;
/** The rest is removed the next time. */
const MAX_ROUNDS = 100;

/**
 * Removes old rows from the beginning of each chain, up to a checkpoint. The checkpoint stays, so the rest can still
 * be verified. Chains of other keys are left to their owners, unless they have had no new rows for the whole
 * retention time.
 */
async function removeOldRows(options: RetentionOptions): Promise<void> {
  const { audit, days, now } = options;
  const before = now() - days * DAY_MS;
  for (const chain of await audit.chains()) {
    if (chain.key !== options.key.publicKey && (await isInUse(audit, chain, before))) continue;
    await cutBefore(options, chain, before);
    await removeCut(audit, chain.chain);
  }
}

async function isInUse(audit: StoredAudit, { chain, startedAt }: StoredChain, before: number): Promise<boolean> {
  const end = await audit.end(chain);
  const [last] = end === undefined ? [] : await audit.rows(chain, end.count - 1, 1);
  return (last?.at ?? startedAt) >= before;
}

async function cutBefore({ audit, key, warn }: RetentionOptions, chain: StoredChain, before: number): Promise<void> {
  const checkpoint = await audit.lastBefore(chain.chain, before);
  if (checkpoint === undefined || checkpoint.count <= (chain.cut?.count ?? 0)) return;
  const [row] = await audit.rows(chain.chain, checkpoint.count - 1, 1);
  // Rows that do not verify are not removed, because that would destroy the evidence.
  if (row?.hash !== checkpoint.hash || row.number !== checkpoint.count || !isSignedCheckpoint(checkpoint, chain.key)) {
    warn(`Rows of the audit chain ${chain.chain} were changed and are not removed. Run "toolcrib audit verify".`);
    return;
  }
  await audit.cut(signCut(key, checkpoint));
}

async function removeCut(audit: StoredAudit, chain: string): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if ((await audit.removeCut(chain, ROWS_AT_ONCE)) < ROWS_AT_ONCE) return;
  }
}
