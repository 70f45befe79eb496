import type { ChainHeader, StoredAudit } from '../core/ports/stored-audit.ts';
import { originOf } from './chain-origin.ts';
import { type CheckpointFile, claimFile, listCheckpointFiles, readHeld, releaseFile } from './checkpoint-files.ts';
import { isSignedHeader, isSignedKept, type KeptCheckpoint } from './proof.ts';

/** What is looked for: a chain in this store that was begun in this folder, signed by this key. */
export interface ChainClaim {
  readonly audit: StoredAudit;
  readonly folder: string;
  readonly storeId: string;
  readonly publicKey: string;
  readonly origin: string;
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
  const { folder, storeId, publicKey, origin } = claim;
  const files = await listCheckpointFiles(folder);
  const free = files.filter(({ chain, state, kept }) => {
    const isFree = state === 'idle' || state === 'ended';
    return isFree && originOf(chain) === origin && kept?.storeId === storeId && isSignedKept(kept, publicKey);
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
    isSignedKept(kept, publicKey) &&
    end?.count === kept.count &&
    end.hash === kept.hash;
  if (isWhole && header !== undefined) return { header, kept };
  await releaseFile(folder, chain, 'left');
  return undefined;
}
