import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { join } from 'node:path';
import { codeOf, messageOf, ToolcribError } from '../core/tool-error.ts';
import { createPrivateFile, FORBIDDEN, readPrivateFile } from '../system/private-file.ts';
import { type SigningKey, toPublicText } from './proof.ts';

/** Where the owner keeps the key of the audit: in a file, or in an environment variable. */
export type KeySource = { readonly file: string } | { readonly env: string };

const FILE_NAME = 'key.pem';
/** More than any key has. */
const MAX_BYTES = 4096;

/** A key that lives as long as the process; no other process can vouch for what it signs. */
export function createPassingKey(): SigningKey {
  return toSigningKey(generateKeyPairSync('ed25519').privateKey);
}

/** The key in a folder, made by the first process that asks. */
export async function openSigningKey(folder: string): Promise<SigningKey> {
  return (await readSigningKey(folder)) ?? createSigningKey(folder);
}

/** The key in a folder, if there is one. */
async function readSigningKey(folder: string): Promise<SigningKey | undefined> {
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
  const read = await readPrivateFile(path, { forbidden, maxBytes: MAX_BYTES });
  if ('text' in read) return read.text;
  if (read.problem === 'not a file') throw new Error('it is not a file');
  throw new Error('others can read it; run "chmod 600" on it, or use another key if they may have read it');
}

/** Of processes that come at once the first makes the key, and the others take it. */
async function createSigningKey(folder: string): Promise<SigningKey> {
  const path = join(folder, FILE_NAME);
  const { privateKey } = generateKeyPairSync('ed25519');
  const text = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const isOurs = await createPrivateFile(path, text).catch((cause: unknown) => {
    throw unusable(path, cause);
  });
  const key = isOurs ? toSigningKey(privateKey) : await readSigningKey(folder);
  if (key !== undefined) return key;
  throw unusable(path, new Error('another process made and removed it'));
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

/** What the owner says about the keys of the audit. */
export interface AuditKeySettings {
  /** The key to sign with, instead of one that is made here: replicas may share it. */
  readonly key?: KeySource;
  /** Public keys of others whose chains count as genuine, as `toolcrib audit key` prints them. */
  readonly trustedKeys?: readonly string[];
}

/** The public keys that are known here, as base64. */
export interface KnownKeys {
  /** The key in the audit folder of this machine. */
  readonly local: string | undefined;
  /** The key that the owner names. Other replicas may sign with it, too. */
  readonly named: string | undefined;
  /** The key of this process where none can be kept. */
  readonly passing: string | undefined;
  readonly trusted: ReadonlySet<string>;
}

/** The keys of this machine and those that the owner trusts. `passing` is the key of the chain that this process writes. */
export async function readKnownKeys(
  folder: string | undefined,
  { key, trustedKeys = [] }: AuditKeySettings,
  passing: string | undefined,
): Promise<KnownKeys> {
  return {
    local: folder === undefined ? undefined : (await readSigningKey(folder))?.publicKey,
    named: key === undefined ? undefined : (await readNamedKey(key, process.env)).publicKey,
    passing,
    trusted: new Set(trustedKeys),
  };
}

/** All of them. */
export function listKeys({ local, named, passing, trusted }: KnownKeys): readonly string[] {
  return [local, named, passing, ...trusted].filter((key) => key !== undefined);
}

/** Whether a key is of this machine, of another one that the owner trusts, or not known. */
export function judgeKey(keys: KnownKeys, key: string): 'own' | 'trusted' | 'unknown' {
  if ([keys.local, keys.named, keys.passing].includes(key)) return 'own';
  return keys.trusted.has(key) ? 'trusted' : 'unknown';
}
