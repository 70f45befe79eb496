import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import type { SigningKey } from './proof.ts';

const FILE_NAME = 'key.pem';

/** A key that lives as long as the process; what it signs, nobody elsewhere can vouch for. */
export function createPassingKey(): SigningKey {
  return toSigningKey(generateKeyPairSync('ed25519').privateKey);
}

/** The key in a folder, made by the first who asks. */
export async function openSigningKey(folder: string): Promise<SigningKey> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return (await readSigningKey(folder)) ?? createSigningKey(folder);
}

/** The key in a folder, if there is one. */
export async function readSigningKey(folder: string): Promise<SigningKey | undefined> {
  const path = join(folder, FILE_NAME);
  try {
    return toSigningKey(createPrivateKey(await readFile(path)));
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw unusable(path, cause);
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
  const exported = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  return {
    publicKey: exported.toString('base64'),
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64'),
  };
}

function unusable(path: string, cause: unknown): ToolcribError {
  const message = `The key of the audit, ${path}, cannot be used: ${messageOf(cause)}. Restore it from a backup; without it nothing new can be signed in its name.`;
  return new ToolcribError('audit_key_unusable', message, { cause });
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined;
}
