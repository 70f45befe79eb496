import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Seals texts under one key, so that whoever carries them can neither read nor change them. */
export interface Seal {
  seal(text: string): string;
  /** The text, or undefined if it was not sealed so, or was changed since. */
  open(sealed: string): string | undefined;
}

const VERSION = 'v1.';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM under a key of 32 bytes; `purpose` keeps texts for one use from being taken for another's. */
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
        return undefined; // the tag does not fit: what was changed is not told
      }
    },
  };
}

/** One spelling for each text: what decodes to the same bytes by other letters is not the same. */
function readBytes(sealed: string): Buffer | undefined {
  if (!sealed.startsWith(VERSION)) return undefined;
  const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
  const isWhole = bytes.length >= IV_BYTES + TAG_BYTES && `${VERSION}${bytes.toString('base64url')}` === sealed;
  return isWhole ? bytes : undefined;
}
