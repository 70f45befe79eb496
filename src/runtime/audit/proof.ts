import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { canonicalJson } from '../../core/json.ts';
import type { ChainCut, ChainHeader, Checkpoint } from '../../core/stored-audit.ts';

type Unsigned<T> = Omit<T, 'signature'>;

/** Signs with a key that lies outside the database. */
export interface SigningKey {
  /** The public key as base64. */
  readonly publicKey: string;
  sign(text: string): string;
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

/** True if the checkpoint was signed by this key. */
export function isSignedCheckpoint(checkpoint: Checkpoint, key: string): boolean {
  return isSigned(key, checkpointText(checkpoint), checkpoint.signature);
}

/** True if the cut was signed by the key it names. */
export function isSignedCut(cut: ChainCut): boolean {
  return isSigned(cut.key, cutText(cut), cut.signature);
}

function isSigned(publicKey: string, text: string, signature: string): boolean {
  try {
    return verify(null, Buffer.from(text), publicKeyOf(publicKey), Buffer.from(signature, 'base64'));
  } catch {
    return false; // what is no key has signed nothing
  }
}

function publicKeyOf(publicKey: string): KeyObject {
  return createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
}
