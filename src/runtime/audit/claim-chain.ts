import type { ChainHeader, StoredAudit } from '../../core/stored-audit.ts';
import {
  type CheckpointFile,
  claimFile,
  type KeptCheckpoint,
  listCheckpointFiles,
  readHeld,
  releaseFile,
} from './checkpoint-files.ts';
import { isSignedCheckpoint, isSignedHeader } from './proof.ts';

/** What is looked for: a chain in this store, signed by this key. */
export interface ChainClaim {
  readonly audit: StoredAudit;
  readonly folder: string;
  readonly store: string;
  readonly publicKey: string;
}

/** A chain that is ours to go on with. */
export interface ClaimedChain {
  readonly header: ChainHeader;
  readonly kept: KeptCheckpoint;
}

/**
 * Takes a chain that nobody writes to any more, so that there are as many chains as processes at one time, and not as
 * many as there ever were. One that does not end where it was sealed is left as it is, for whoever verifies.
 */
export async function claimChain(claim: ChainClaim): Promise<ClaimedChain | undefined> {
  const { folder, store, publicKey } = claim;
  const files = await listCheckpointFiles(folder);
  const free = files.filter(({ state, kept }) => {
    const isFree = state === 'idle' || state === 'ended';
    return isFree && kept?.store === store && isSignedCheckpoint(kept, publicKey);
  });
  for (const file of free) {
    const claimed = (await claimFile(folder, file)) ? await lookAt(claim, file) : undefined;
    if (claimed !== undefined) return claimed;
  }
  return undefined;
}

async function lookAt(
  { audit, folder, publicKey }: ChainClaim,
  file: CheckpointFile,
): Promise<ClaimedChain | undefined> {
  const { chain } = file;
  const kept = await readHeld(folder, chain); // again: it may have changed before it was ours
  const header = (await audit.chains()).find((candidate) => candidate.chain === chain);
  const end = await audit.end(chain);
  const isWhole =
    kept !== undefined &&
    header?.key === publicKey &&
    isSignedHeader(header) &&
    isSignedCheckpoint(kept, publicKey) &&
    end?.count === kept.count &&
    end.hash === kept.hash;
  if (isWhole && header !== undefined) return { header, kept };
  await releaseFile(folder, chain, 'left');
  return undefined;
}
