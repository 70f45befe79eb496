import {
  checksumOf,
  hashOf,
  hasItsChecksum,
  ID_LENGTH,
  KEY_FORM,
  KEY_PREFIX,
  randomText,
  SECRET_LENGTH,
} from '../system/secrets/token-text.ts';

const FORM = new RegExp(`^${KEY_FORM}$`);

/** The part of a key that is no secret, and the hash of the part that is one. */
export interface KeyParts {
  readonly id: string;
  readonly hash: string;
}

/** A new key: `tck_`, its id, `_`, the secret and a checksum. Only whoever calls this ever has it. */
export function mintKey(): KeyParts & { readonly key: string } {
  const id = randomText(ID_LENGTH);
  const secret = randomText(SECRET_LENGTH);
  const body = `${KEY_PREFIX}${id}_${secret}`;
  return { id, hash: hashOf(secret), key: `${body}${checksumOf(body)}` };
}

/** True for what claims to be a key. */
export function isKeyLike(credential: string): boolean {
  return credential.startsWith(KEY_PREFIX);
}

/** The parts of a key that is written without a slip. */
export function readKey(credential: string): KeyParts | undefined {
  const id = FORM.exec(credential)?.[1];
  if (id === undefined || !hasItsChecksum(credential)) return undefined;
  const start = KEY_PREFIX.length + ID_LENGTH + 1;
  return { id, hash: hashOf(credential.slice(start, start + SECRET_LENGTH)) };
}
