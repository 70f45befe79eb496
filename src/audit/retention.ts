import type { StoredAudit, StoredChain } from '../core/ports/stored-audit.ts';
import { isSignedCheckpoint, type SigningKey, signCut } from './proof.ts';

/** What removing old rows needs. */
export interface RetentionOptions {
  readonly audit: StoredAudit;
  readonly key: SigningKey;
  readonly days: number;
  now(): number;
  warn(message: string): void;
}

const DAY_MS = 86_400_000;
/** Few enough that writers of other processes get their turn. */
const ROWS_AT_ONCE = 2000;
/** The rest is for the next time. */
const MAX_ROUNDS = 100;

/**
 * Removes rows that are older than allowed, from the beginning of each chain up to a checkpoint, which stays: with it
 * the rest can still be verified. Chains that others sign are left to them, unless nothing was added to them for so long.
 */
export async function removeOldRows(options: RetentionOptions): Promise<void> {
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
  // What would not pass as it is must not be removed: nobody could see any more what was wrong with it.
  if (row?.hash !== checkpoint.hash || row.number !== checkpoint.count || !isSignedCheckpoint(checkpoint, chain.key)) {
    warn(`Rows of the audit chain ${chain.chain} are not removed, for they were changed; run "toolcrib audit verify".`);
    return;
  }
  await audit.cut(signCut(key, checkpoint));
}

async function removeCut(audit: StoredAudit, chain: string): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if ((await audit.removeCut(chain, ROWS_AT_ONCE)) < ROWS_AT_ONCE) return;
  }
}
