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

/** Signs with a key that lies outside the database. */
export interface SigningKey {
  /** The public key as base64. */
  readonly publicKey: string;
  sign(text: string): string;
}

/** The newest checkpoint of a chain, kept outside the database. */
export interface KeptCheckpoint extends Checkpoint {
  /** Where the rows are. */
  readonly store: string;
  /** The id of the store, which it keeps when it is moved; empty if the checkpoint comes from a version that did not know it. */
  readonly storeId: string;
  /** The count of the newest checkpoint that the database has. */
  readonly stored: number;
}

/** The random name of an audit folder; the chains that are begun there begin with it. */
export interface SignedOrigin {
  readonly origin: string;
  readonly signature: string;
}

/** What the first row follows: the chain itself. */
export function firstHash(header: Unsigned<ChainHeader>): string {
  return hash('sha256', headerText(header));
}

/** The hash of a row that follows one with the hash `previous`. */
export function nextHash(previous: string, entry: string): string {
  return hash('sha256', `${previous}\n${entry}`);
}

// Each text begins with what it is, so that a signature for one thing is never one for another.

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

/** Begins a chain. */
export function signHeader(key: SigningKey, chain: string, startedAt: number): ChainHeader {
  const header = { chain, key: key.publicKey, startedAt };
  return { ...header, signature: key.sign(headerText(header)) };
}

/** Says how far a chain is. */
export function signCheckpoint(key: SigningKey, checkpoint: Unsigned<Checkpoint>): Checkpoint {
  return { ...checkpoint, signature: key.sign(checkpointText(checkpoint)) };
}

/** Says how far a chain is, in which store, and how far the checkpoints in that store are. */
export function signKept(key: SigningKey, kept: Unsigned<KeptCheckpoint>): KeptCheckpoint {
  return { ...kept, signature: key.sign(keptText(kept)) };
}

/** Says that an audit folder has this origin. */
export function signOrigin(key: SigningKey, origin: string): string {
  return key.sign(originText(origin));
}

/** Says that the rows up to a checkpoint were removed because they were old. */
export function signCut(key: SigningKey, checkpoint: Unsigned<Checkpoint>): ChainCut {
  const { chain, count, hash: last, at } = checkpoint;
  const cut = { chain, count, hash: last, at, key: key.publicKey };
  return { ...cut, signature: key.sign(cutText(cut)) };
}

/** True if the header was signed by the key it names. */
export function isSignedHeader(header: ChainHeader): boolean {
  return isSigned(header.key, headerText(header), header.signature);
}

/** True if the checkpoint, with its store and what is stored there, was signed by this key. */
export function isSignedKept(kept: KeptCheckpoint, key: string): boolean {
  return isSigned(key, keptText(kept), kept.signature);
}

/** True if the checkpoint was signed by this key. What is more in it is not signed: earlier versions kept checkpoints outside so. */
export function isSignedCheckpoint(checkpoint: Checkpoint, key: string): boolean {
  return isSigned(key, checkpointText(checkpoint), checkpoint.signature);
}

/** True if the origin was signed by this key. */
export function isSignedOrigin({ origin, signature }: SignedOrigin, key: string): boolean {
  return isSigned(key, originText(origin), signature);
}

/** True if the cut was signed by the key it names. */
export function isSignedCut(cut: ChainCut): boolean {
  return isSigned(cut.key, cutText(cut), cut.signature);
}

/** True for the public half of an Ed25519 key as `toolcrib audit key` prints it. */
export function isPublicKey(text: string): boolean {
  try {
    const key = publicKeyOf(text);
    return key.asymmetricKeyType === 'ed25519' && toPublicText(key) === text;
  } catch {
    return false;
  }
}

/** A public key as it is written down everywhere. */
export function toPublicText(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'der' }).toString('base64');
}

function isSigned(publicKey: string, text: string, signature: string): boolean {
  try {
    return verify(null, Buffer.from(text), publicKeyOf(publicKey), Buffer.from(signature, 'base64'));
  } catch {
    return false; // what is not a key has signed nothing
  }
}

function publicKeyOf(publicKey: string): KeyObject {
  return createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
}

/** What a stored row says; undefined if somebody made something else of it. */
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

/** A row as it is shown; undefined if it cannot be read. */
export function toAuditRow(row: StoredAuditRow & { readonly chain: string }): AuditRow | undefined {
  const entry = readEntry(row);
  return entry === undefined ? undefined : { chain: row.chain, hash: row.hash, ...entry };
}
