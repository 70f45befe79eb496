import type { ChainHeader, Checkpoint, StoredAudit, StoredAuditRow } from '../core/ports/stored-audit.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { DraftEntry } from './audit-entry.ts';
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
  nextHash,
  type SigningKey,
  signCheckpoint,
  signHeader,
  signKept,
} from './proof.ts';

/** Where a chain is kept, and who signs it. */
export interface ChainPlace {
  readonly audit: StoredAudit;
  readonly key: SigningKey;
  /** The folder for checkpoints outside the database, and its origin; absent where there can be none. */
  readonly kept: { readonly folder: string; readonly origin: string } | undefined;
  /** The store of the rows: where it is, and what it is known by if it is moved. */
  readonly store: { readonly location: string; readonly id: string };
  now(): number;
}

/** Writes to a chain that nobody else writes to. */
export interface ChainWriter {
  /** All entries or none, in this order. What could not be written is given again, the same and in the same order. */
  write(entries: readonly DraftEntry[]): Promise<void>;
  /** Says outside the database how far the chain is. */
  seal(): Promise<void>;
  /** Seals inside and outside, and lets somebody else go on with the chain. */
  close(): Promise<void>;
}

/** The end of a chain, as far as it is known to be written. */
interface ChainEnd {
  readonly header: ChainHeader;
  readonly count: number;
  readonly hash: string;
  /** The newest checkpoint in the database: its count, and when it was made. */
  readonly stored: number;
  readonly storedAt: number;
}

/** After so many rows, or so much time, there is another checkpoint in the database. */
const ROWS_PER_CHECKPOINT = 1000;
const MS_PER_CHECKPOINT = 60_000;

/** Goes on with a chain that was let go, or begins one. Nothing is made before the first row. */
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
  // Known outside before there is a row inside: no chain can vanish without a trace, and none looks as if its checkpoint had been removed.
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
    async write(entries) {
      const current = end ?? (await goOn()) ?? (await beginNew());
      const written = await append(place, current, entries);
      if (written !== undefined) {
        end = written;
        return;
      }
      await release('left'); // somebody else writes to it: from a copy of the state folder, say
      end = await append(place, await beginNew(), entries);
      if (end === undefined) throw new ToolcribError('store_unavailable', 'Somebody else writes to every new chain.');
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
  return { header: claimed.header, count, hash, stored, storedAt: now() };
}

function begin({ key, kept, now }: ChainPlace): ChainEnd {
  const at = now();
  const header = signHeader(key, newChainName(kept?.origin), at);
  return { header, count: 0, hash: firstHash(header), stored: 0, storedAt: at };
}

/** The end after these entries, or `undefined` if the chain is not ours alone. */
async function append(place: ChainPlace, end: ChainEnd, entries: readonly DraftEntry[]): Promise<ChainEnd | undefined> {
  const rows = toRows(end, entries);
  const next = { ...end, count: end.count + rows.length, hash: rows.at(-1)?.hash ?? end.hash };
  const at = place.now();
  const isDue = next.count - end.stored >= ROWS_PER_CHECKPOINT || at - end.storedAt >= MS_PER_CHECKPOINT;
  const checkpoint = isDue ? checkpointOf(place, next) : undefined;
  if (!(await place.audit.append({ header: end.header, rows, checkpoint }))) return undefined;
  return isDue ? { ...next, stored: next.count, storedAt: at } : next;
}

function toRows({ count, hash }: ChainEnd, entries: readonly DraftEntry[]): readonly StoredAuditRow[] {
  let number = count;
  let previous = hash;
  return entries.map((draft) => {
    draft.number = ++number; // the keys stay sorted, so that the text is the canonical one
    const entry = JSON.stringify(draft);
    previous = nextHash(previous, entry);
    const { at, callId, tool, caller = '', outcome } = draft;
    return { number, entry, hash: previous, at, callId, tool, caller, outcome };
  });
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

function checkpointOf({ key, now }: ChainPlace, { header, count, hash }: ChainEnd): Checkpoint {
  return signCheckpoint(key, { chain: header.chain, count, hash, at: now() });
}

/** What is looked for: a chain in this store that was begun in this folder, signed by this key. */
interface ChainClaim {
  readonly audit: StoredAudit;
  readonly folder: string;
  readonly storeId: string;
  readonly publicKey: string;
  readonly origin: string;
}

/** A chain that is ours to go on with. */
interface ClaimedChain {
  readonly header: ChainHeader;
  readonly kept: KeptCheckpoint;
}

/**
 * Takes a chain that nobody writes to any more, so that there are as many chains as processes at one time, and not as
 * many as there ever were. One that does not end where it was sealed is left as it is, for whoever verifies.
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
