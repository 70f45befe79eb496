import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { constants } from 'node:fs';
import { link, mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, messageOf, ToolcribError } from '../core/tool-error.ts';
import { type SigningKey, toPublicText } from './proof.ts';

/** Where the owner keeps the key of the audit: in a file, or in an environment variable. */
export type KeySource = { readonly file: string } | { readonly env: string };

const FILE_NAME = 'key.pem';
/** More than any key has. */
const MAX_BYTES = 4096;
/** Bits of the mode that a file may not have: the own key is for its owner only; a named one may be shared with a group, as orchestrators do. */
const FORBIDDEN = { own: 0o077, named: 0o027 } as const;

/** A key that lives as long as the process; no other process can vouch for what it signs. */
export function createPassingKey(): SigningKey {
  return toSigningKey(generateKeyPairSync('ed25519').privateKey);
}

/** The key in a folder, made by the first process that asks. */
export async function openSigningKey(folder: string): Promise<SigningKey> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return (await readSigningKey(folder)) ?? createSigningKey(folder);
}

/** The key in a folder, if there is one. */
export async function readSigningKey(folder: string): Promise<SigningKey | undefined> {
  const path = join(folder, FILE_NAME);
  try {
    return toSigningKey(createPrivateKey(await readPrivately(path, FORBIDDEN.own)));
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw unusable(path, cause);
  }
}

/** The key that `extensions.audit.key` names. Throws if it is missing or not an Ed25519 key. */
export async function readNamedKey(
  source: KeySource,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SigningKey> {
  const what = 'file' in source ? source.file : `in the variable ${source.env}`;
  try {
    const text = 'file' in source ? await readPrivately(source.file, FORBIDDEN.named) : (env[source.env] ?? '');
    if (text.trim() === '') throw new Error('it is empty');
    return toSigningKey(readPrivateKey(text));
  } catch (cause) {
    const message = `The audit key ${what}, which extensions.audit.key names, cannot be used: ${describe(cause)}. "openssl genpkey -algorithm ed25519" makes one.`;
    throw new ToolcribError('audit_key_unusable', message, { cause });
  }
}

/** PEM, or what stands in it between the first line and the last: a variable may not hold lines. */
function readPrivateKey(text: string): KeyObject {
  if (text.includes('-----BEGIN')) return createPrivateKey(text);
  return createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' });
}

async function readPrivately(path: string, forbidden: number): Promise<string> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // a pipe would wait for ever
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error('it is not a file');
    if (process.platform !== 'win32' && (found.mode & forbidden) !== 0)
      throw new Error('others can read it; run "chmod 600" on it, or use another key if they may have read it');
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The name is given to a file that is whole; of processes that come at once the first wins, and the others take its key. */
async function createSigningKey(folder: string): Promise<SigningKey> {
  const path = join(folder, FILE_NAME);
  const draft = `${path}.${randomUUID()}.tmp`;
  const { privateKey } = generateKeyPairSync('ed25519');
  try {
    const text = privateKey.export({ type: 'pkcs8', format: 'pem' });
    await writeFile(draft, text, { flag: 'wx', mode: 0o600, flush: true });
    await link(draft, path);
    return toSigningKey(privateKey);
  } catch (cause) {
    const other = codeOf(cause) === 'EEXIST' ? await readSigningKey(folder) : undefined;
    if (other !== undefined) return other;
    throw unusable(path, cause);
  } finally {
    await rm(draft, { force: true });
  }
}

function toSigningKey(privateKey: KeyObject): SigningKey {
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new Error('it is not an Ed25519 key');
  return {
    publicKey: toPublicText(createPublicKey(privateKey)),
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64'),
  };
}

function unusable(path: string, cause: unknown): ToolcribError {
  const message = `The key of the audit, ${path}, cannot be used: ${describe(cause)}. Restore it from a backup; without it nothing new can be signed in its name.`;
  return new ToolcribError('audit_key_unusable', message, { cause });
}

/** What OpenSSL says of a text that is not a key helps nobody, and names no file. */
function describe(cause: unknown): string {
  const code = codeOf(cause);
  return typeof code === 'string' && code.startsWith('ERR_OSSL') ? 'it is not a private key' : messageOf(cause);
}
