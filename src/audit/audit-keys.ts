import { type KeySource, readNamedKey, readSigningKey } from './signing-key.ts';

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
