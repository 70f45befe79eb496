import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Encrypts texts with one key, so that their holders can neither read nor change them. */
export interface Seal {
  seal(text: string): string;
  /** The text; undefined if it was not sealed with this key and purpose, or was changed. */
  open(sealed: string): string | undefined;
}

const VERSION = 'v1.';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM with a key of 32 bytes; `purpose` prevents a text sealed for one use from being accepted for another. */
export function createSeal(key: Buffer, purpose: string): Seal {
  const about = Buffer.from(`${VERSION}${purpose}`);
  return {
    seal(text) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(about);
      const body = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return `${VERSION}${Buffer.concat(body).toString('base64url')}`;
    },
    open(sealed) {
      const bytes = readBytes(sealed);
      if (bytes === undefined) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(about).setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch {
        return undefined; // the tag does not match; no details are given
      }
    },
  };
}

/** Accepts only the canonical encoding: other spellings of the same bytes are refused. */
function readBytes(sealed: string): Buffer | undefined {
  if (!sealed.startsWith(VERSION)) return undefined;
  const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
  const isWhole = bytes.length >= IV_BYTES + TAG_BYTES && `${VERSION}${bytes.toString('base64url')}` === sealed;
  return isWhole ? bytes : undefined;
}
