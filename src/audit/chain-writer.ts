import type { ChainHeader, ChainPosition, Checkpoint, StoredAudit } from '../core/ports/stored-audit.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { newChainName, originOf } from './chain-origin.ts';
import {
  type CheckpointFile,
  claimFile,
  keepCheckpoint,
  listCheckpointFiles,
  readHeld,
  releaseFile,
} from './checkpoint-files.ts';
import {
  firstHash,
  isSignedHeader,
  isSignedKept,
  type KeptCheckpoint,
  type SigningKey,
  signCheckpoint,
  signHeader,
  signKept,
} from './proof.ts';

/** The place of a chain and its signing key. */
export interface ChainPlace {
  readonly audit: StoredAudit;
  readonly key: SigningKey;
  /** The folder for checkpoints outside the database, and its origin; absent if there is none. */
  readonly kept: { readonly folder: string; readonly origin: string } | undefined;
  /** The store of the rows: its location, and its id, which stays when it is moved. */
  readonly store: { readonly location: string; readonly id: string };
  now(): number;
}

/** Writes to a chain as its only writer. */
export interface ChainWriter {
  /** Writes all packed rows or none, in this order. After a failure, pass the same rows again. */
  write(packed: readonly Uint8Array[]): Promise<void>;
  /** Writes a checkpoint outside the database. */
  seal(): Promise<void>;
  /** Writes checkpoints inside and outside the database, and releases the chain for other processes. */
  close(): Promise<void>;
}

/** The last written position of a chain. */
interface ChainEnd extends ChainPosition {
  readonly header: ChainHeader;
  /** When it was written. */
  readonly at: number;
  /** Count and time of the newest checkpoint in the database. */
  readonly stored: number;
  readonly storedAt: number;
}

/** A new checkpoint is written to the database after this many rows or this much time. */
const ROWS_PER_CHECKPOINT = 1000;
const MS_PER_CHECKPOINT = 60_000;

/** Continues a released chain or begins one, at the first row. */
export function createChainWriter(place: ChainPlace): ChainWriter {
  let end: ChainEnd | undefined;
  let kept: ChainEnd | undefined;
  const keep = async (sealing: ChainEnd): Promise<void> => {
    if (place.kept !== undefined) await keepCheckpoint(place.kept.folder, keptOf(place, sealing));
    kept = sealing;
  };
  const seal = async (): Promise<void> => {
    if (end !== undefined && end !== kept) await keep(end);
  };
  const goOn = async (): Promise<ChainEnd | undefined> => {
    end = await claimEnd(place);
    kept = end;
    return end;
  };
  // The checkpoint outside is written before the first row: no chain can vanish without a trace or look as if its checkpoint had been removed.
  const beginNew = async (): Promise<ChainEnd> => {
    const begun = begin(place);
    await keep(begun);
    end = begun;
    return begun;
  };
  const release = async (state: 'idle' | 'left'): Promise<void> => {
    if (end !== undefined && kept !== undefined && place.kept !== undefined)
      await releaseFile(place.kept.folder, end.header.chain, state);
    end = undefined;
    kept = undefined;
  };
  return {
    async write(packed) {
      const current = end ?? (await goOn()) ?? (await beginNew());
      const written = await append(place, current, packed);
      if (written !== undefined) {
        end = written;
        return;
      }
      await release('left'); // another process writes to it, for example from a copy of the state folder
      end = await append(place, await beginNew(), packed);
      if (end === undefined)
        throw new ToolcribError('store_unavailable', 'Another process writes to every new audit chain.');
    },
    seal,
    async close() {
      if (end === undefined) return;
      if (end.stored < end.count)
        end = (await append(place, { ...end, storedAt: Number.NEGATIVE_INFINITY }, [])) ?? end;
      await seal();
      await release('idle');
    },
  };
}

async function claimEnd({ audit, kept, store, key, now }: ChainPlace): Promise<ChainEnd | undefined> {
  if (kept === undefined) return undefined;
  const claimed = await claimChain({ audit, ...kept, storeId: store.id, publicKey: key.publicKey });
  if (claimed === undefined) return undefined;
  const { count, hash, stored } = claimed.kept;
  const at = now();
  return { header: claimed.header, count, hash, at, stored, storedAt: at };
}

function begin({ key, kept, now }: ChainPlace): ChainEnd {
  const at = now();
  const header = signHeader(key, newChainName(kept?.origin), at);
  return { header, count: 0, hash: firstHash(header), at, stored: 0, storedAt: at };
}

/**
 * The end after these rows, or `undefined` if another process writes to the chain. A checkpoint that is due covers the
 * rows before them, whose hashes are known here: these are hashed where they are stored, away from the key.
 */
async function append(place: ChainPlace, end: ChainEnd, packed: readonly Uint8Array[]): Promise<ChainEnd | undefined> {
  const { header, count, hash, stored, storedAt } = end;
  const at = place.now();
  const isDue = count - stored >= ROWS_PER_CHECKPOINT || (count > stored && at - storedAt >= MS_PER_CHECKPOINT);
  const checkpoint = isDue ? checkpointOf(place, end) : undefined;
  const written = await place.audit.append({ header, after: { count, hash }, packed, checkpoint });
  if (written === undefined) return undefined;
  return { ...end, ...written, at, ...(isDue && { stored: count, storedAt: at }) };
}

function keptOf({ key, store, now }: ChainPlace, { header, count, hash, stored }: ChainEnd): KeptCheckpoint {
  return signKept(key, {
    chain: header.chain,
    count,
    hash,
    at: now(),
    store: store.location,
    storeId: store.id,
    stored,
  });
}

function checkpointOf({ key }: ChainPlace, { header, count, hash, at }: ChainEnd): Checkpoint {
  return signCheckpoint(key, { chain: header.chain, count, hash, at });
}

/** Criteria for a chain to continue: in this store, begun in this folder, signed by this key. */
interface ChainClaim {
  readonly audit: StoredAudit;
  readonly folder: string;
  readonly storeId: string;
  readonly publicKey: string;
  readonly origin: string;
}

/** A chain that this process may continue. */
interface ClaimedChain {
  readonly header: ChainHeader;
  readonly kept: KeptCheckpoint;
}

/**
 * Claims a chain without a writer, so that the number of chains stays at the number of concurrent processes. A chain
 * that does not end at its checkpoint is left unchanged for verification.
 */
async function claimChain(claim: ChainClaim): Promise<ClaimedChain | undefined> {
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
  const kept = await readHeld(folder, chain); // again: it may have changed before it was claimed
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
