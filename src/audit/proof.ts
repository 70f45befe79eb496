import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { canonicalJson } from '../core/json.ts';
import type {
  AuditEntry,
  AuditRow,
  ChainCut,
  ChainHeader,
  Checkpoint,
  StoredAuditRow,
} from '../core/ports/stored-audit.ts';

type Unsigned<T> = Omit<T, 'signature'>;

/** A signing key outside the database. */
export interface SigningKey {
  /** The public key as base64. */
  readonly publicKey: string;
  sign(text: string): string;
}

/** The newest checkpoint of a chain, stored outside the database. */
export interface KeptCheckpoint extends Checkpoint {
  /** The location of the rows. */
  readonly store: string;
  /** The id of the store, which stays when it is moved; empty in checkpoints of versions without ids. */
  readonly storeId: string;
  /** The count of the newest checkpoint in the database. */
  readonly stored: number;
}

/** The random name of an audit folder; the names of its chains start with it. */
export interface SignedOrigin {
  readonly origin: string;
  readonly signature: string;
}

/** The hash that the first row builds on: that of the chain header. */
export function firstHash(header: Unsigned<ChainHeader>): string {
  return hash('sha256', headerText(header));
}

// Each text starts with its type, so that a signature of one type is never valid for another.

function headerText({ chain, key, startedAt }: Unsigned<ChainHeader>): string {
  return `toolcrib audit chain\n${canonicalJson({ chain, key, startedAt })}`;
}

function checkpointText({ chain, count, hash: last, at }: Unsigned<Checkpoint>): string {
  return `toolcrib audit checkpoint\n${canonicalJson({ at, chain, count, hash: last })}`;
}

function keptText({ chain, count, hash: last, at, store, storeId, stored }: Unsigned<KeptCheckpoint>): string {
  return `toolcrib audit kept checkpoint\n${canonicalJson({ at, chain, count, hash: last, store, storeId, stored })}`;
}

function originText(origin: string): string {
  return `toolcrib audit origin\n${canonicalJson({ origin })}`;
}

function cutText({ chain, count, hash: last, at, key }: Unsigned<ChainCut>): string {
  return `toolcrib audit cut\n${canonicalJson({ at, chain, count, hash: last, key })}`;
}

/** Signs the header of a new chain. */
export function signHeader(key: SigningKey, chain: string, startedAt: number): ChainHeader {
  const header = { chain, key: key.publicKey, startedAt };
  return { ...header, signature: key.sign(headerText(header)) };
}

/** Signs the length of a chain. */
export function signCheckpoint(key: SigningKey, checkpoint: Unsigned<Checkpoint>): Checkpoint {
  return { ...checkpoint, signature: key.sign(checkpointText(checkpoint)) };
}

/** Signs the length of a chain, its store, and the length of the checkpoints in that store. */
export function signKept(key: SigningKey, kept: Unsigned<KeptCheckpoint>): KeptCheckpoint {
  return { ...kept, signature: key.sign(keptText(kept)) };
}

/** Signs the origin of an audit folder. */
export function signOrigin(key: SigningKey, origin: string): string {
  return key.sign(originText(origin));
}

/** Signs the removal of old rows up to a checkpoint. */
export function signCut(key: SigningKey, checkpoint: Unsigned<Checkpoint>): ChainCut {
  const { chain, count, hash: last, at } = checkpoint;
  const cut = { chain, count, hash: last, at, key: key.publicKey };
  return { ...cut, signature: key.sign(cutText(cut)) };
}

/** True if the key named in the header signed it. */
export function isSignedHeader(header: ChainHeader): boolean {
  return isSigned(header.key, headerText(header), header.signature);
}

/** True if this key signed the checkpoint, including its store. */
export function isSignedKept(kept: KeptCheckpoint, key: string): boolean {
  return isSigned(key, keptText(kept), kept.signature);
}

/** True if this key signed the checkpoint. Additional fields are not signed: earlier versions stored such checkpoints outside the database. */
export function isSignedCheckpoint(checkpoint: Checkpoint, key: string): boolean {
  return isSigned(key, checkpointText(checkpoint), checkpoint.signature);
}

/** True if this key signed the origin. */
export function isSignedOrigin({ origin, signature }: SignedOrigin, key: string): boolean {
  return isSigned(key, originText(origin), signature);
}

/** True if the key named in the cut signed it. */
export function isSignedCut(cut: ChainCut): boolean {
  return isSigned(cut.key, cutText(cut), cut.signature);
}

/** True for an Ed25519 public key as printed by `toolcrib audit key`. */
export function isPublicKey(text: string): boolean {
  try {
    const key = publicKeyOf(text);
    return key.asymmetricKeyType === 'ed25519' && toPublicText(key) === text;
  } catch {
    return false;
  }
}

/** A public key as text. */
export function toPublicText(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'der' }).toString('base64');
}

function isSigned(publicKey: string, text: string, signature: string): boolean {
  try {
    const bytes = Buffer.from(signature, 'base64');
    // Decoding ignores what is not base64, so that another text would count as the same signature.
    return bytes.toString('base64') === signature && verify(null, Buffer.from(text), publicKeyOf(publicKey), bytes);
  } catch {
    return false; // an invalid key has signed nothing
  }
}

function publicKeyOf(publicKey: string): KeyObject {
  return createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
}

/** Parses a stored row; undefined if it is not a valid entry. */
export function readEntry({ entry }: Pick<StoredAuditRow, 'entry'>): AuditEntry | undefined {
  try {
    const value: unknown = JSON.parse(entry);
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEntry(value: unknown): value is AuditEntry {
  if (typeof value !== 'object' || value === null) return false;
  const { at, callId, kind, number, outcome, tool } = value as Record<string, unknown>; // read as unknown
  return (
    [at, number].every((member) => typeof member === 'number') &&
    [callId, kind, outcome, tool].every((member) => typeof member === 'string')
  );
}

/** A row for display; undefined if it cannot be parsed. */
export function toAuditRow(row: StoredAuditRow & { readonly chain: string }): AuditRow | undefined {
  const entry = readEntry(row);
  return entry === undefined ? undefined : { chain: row.chain, hash: row.hash, ...entry };
}
