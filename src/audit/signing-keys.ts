import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { join } from 'node:path';
import { codeOf, messageOf, ToolcribError } from '../core/tool-error.ts';
import { createPrivateFile, FORBIDDEN, readPrivateFile } from '../system/private-file.ts';
import { type SigningKey, toPublicText } from './proof.ts';

/** The source of the configured audit key: a file or an environment variable. */
export type KeySource = { readonly file: string } | { readonly env: string };

const FILE_NAME = 'key.pem';
/** More than the largest key. */
const MAX_BYTES = 4096;

/** Creates a key that lives as long as the process; other processes cannot verify its signatures. */
export function createPassingKey(): SigningKey {
  return toSigningKey(generateKeyPairSync('ed25519').privateKey);
}

/** The key in a folder, created by the first process that needs it. */
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

/** The key named by `extensions.audit.key`. Throws if it is missing or not an Ed25519 key. */
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
    const message = `The audit key ${what}, named by extensions.audit.key, cannot be used: ${describe(cause)}. Create one with "openssl genpkey -algorithm ed25519".`;
    throw new ToolcribError('audit_key_unusable', message, { cause });
  }
}

/** Reads PEM, or its base64 content alone, because a variable may not hold several lines. */
function readPrivateKey(text: string): KeyObject {
  if (text.includes('-----BEGIN')) return createPrivateKey(text);
  return createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' });
}

async function readPrivately(path: string, forbidden: number): Promise<string> {
  const read = await readPrivateFile(path, { forbidden, maxBytes: MAX_BYTES });
  if ('text' in read) return read.text;
  if (read.problem === 'not a file') throw new Error('it is not a file');
  if (read.problem === 'too large') throw new Error('it is too large to be a key');
  throw new Error(
    'it is readable for other users. Run "chmod 600" on it, or use another key if others may have read it',
  );
}

/** Creates the key. If several processes start at once, the first creates it and the others read it. */
async function createSigningKey(folder: string): Promise<SigningKey> {
  const path = join(folder, FILE_NAME);
  const { privateKey } = generateKeyPairSync('ed25519');
  const text = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const isOurs = await createPrivateFile(path, text).catch((cause: unknown) => {
    throw unusable(path, cause);
  });
  const key = isOurs ? toSigningKey(privateKey) : await readSigningKey(folder);
  if (key !== undefined) return key;
  throw unusable(path, new Error('another process created and removed it'));
}

function toSigningKey(privateKey: KeyObject): SigningKey {
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new Error('it is not an Ed25519 key');
  return {
    publicKey: toPublicText(createPublicKey(privateKey)),
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64'),
  };
}

function unusable(path: string, cause: unknown): ToolcribError {
  const message = `The audit key ${path} cannot be used: ${describe(cause)}. Restore it from a backup; without it, new rows cannot be signed.`;
  return new ToolcribError('audit_key_unusable', message, { cause });
}

/** Replaces OpenSSL messages about invalid keys, which are not helpful and name no file. */
function describe(cause: unknown): string {
  const code = codeOf(cause);
  return typeof code === 'string' && code.startsWith('ERR_OSSL') ? 'it is not a private key' : messageOf(cause);
}

/** Settings of the audit keys. */
export interface AuditKeySettings {
  /** The key to sign with instead of a generated one. Replicas may share it. */
  readonly key?: KeySource;
  /** Public keys of other machines to trust, as printed by `toolcrib audit key`. */
  readonly trustedKeys?: readonly string[];
}

/** The known public keys, as base64. */
export interface KnownKeys {
  /** The key in the audit folder of this machine. */
  readonly local: string | undefined;
  /** The configured key. Other replicas may sign with it, too. */
  readonly named: string | undefined;
  /** The key of this process if it cannot be stored. */
  readonly passing: string | undefined;
  readonly trusted: ReadonlySet<string>;
}

/** Reads the keys of this machine and the trusted ones. `passing` is the key of the chain that this process writes. */
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

/** All known keys as a list. */
export function listKeys({ local, named, passing, trusted }: KnownKeys): readonly string[] {
  return [local, named, passing, ...trusted].filter((key) => key !== undefined);
}

/** Tells whether a key belongs to this machine, is trusted, or is unknown. */
export function judgeKey(keys: KnownKeys, key: string): 'own' | 'trusted' | 'unknown' {
  if ([keys.local, keys.named, keys.passing].includes(key)) return 'own';
  return keys.trusted.has(key) ? 'trusted' : 'unknown';
}
