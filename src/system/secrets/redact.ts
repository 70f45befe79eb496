import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { hiding } from './secret.ts';
import type { Secrets } from './secrets.ts';

/** The text without the values of secrets that are known, plain, as base64, in a URL or in JSON, and without our own keys. Built anew only when another secret is known. */
export function createRedact(secrets: Secrets): (text: string) => string {
  let revision = -1;
  let hide = (text: string): string => text;
  return (text) => {
    if (revision !== secrets.revision()) {
      revision = secrets.revision();
      hide = hiding(secrets.known());
    }
    return hideTokens(hide(text));
  };
}

/** 32 characters that are not mistaken for one another: no i, l, o, u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** One of them, in a regular expression. */
const TOKEN_CHARACTER = '[0-9a-hjkmnp-tv-z]';

/** What keys and tokens of ours begin with; what follows is known by its form. */
export const KEY_PREFIX = 'tck_';
export const OPERATOR_PREFIX = 'tco_';

/** 160 bits. */
export const SECRET_LENGTH = 32;
/** Enough for 32 bits. */
const CHECKSUM_LENGTH = 7;
/** The part of a key that is no secret. */
export const ID_LENGTH = 10;

/** The forms of both, as regular expressions; scanners for leaked secrets are told the same. */
const ENDING = `${TOKEN_CHARACTER}{${SECRET_LENGTH + CHECKSUM_LENGTH}}`;
export const KEY_FORM = `${KEY_PREFIX}(${TOKEN_CHARACTER}{${ID_LENGTH}})_${ENDING}`;
export const OPERATOR_FORM = `${OPERATOR_PREFIX}${ENDING}`;

/** Random text, 5 bits a character. */
export function randomText(length: number): string {
  return Array.from(randomBytes(length), (byte) => ALPHABET[byte & 31]).join('');
}

/** Finds every single wrong character and most other slips, so that a typo never reaches the store. Keeps nobody out who can compute it. */
export function checksumOf(text: string): string {
  const sum = crc32(text);
  return Array.from({ length: CHECKSUM_LENGTH }, (_, index) => ALPHABET[Math.floor(sum / 32 ** index) & 31]).join('');
}

/** True if the text ends with the checksum of what stands before. */
export function hasItsChecksum(text: string): boolean {
  return text.slice(-CHECKSUM_LENGTH) === checksumOf(text.slice(0, -CHECKSUM_LENGTH));
}

/** SHA-256 as hex. What is hashed here is random, so it needs neither salt nor slowness. */
export function hashOf(text: string): string {
  return hash('sha256', text);
}

/** Compares two hashes in a time that says nothing about where they differ. */
export function isSameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

const TOKENS = new RegExp(`${KEY_FORM}|${OPERATOR_FORM}`, 'g');

/** The text without keys and tokens of ours, whoever they belong to; the id of a key stays. */
function hideTokens(text: string): string {
  if (!text.includes(KEY_PREFIX) && !text.includes(OPERATOR_PREFIX)) return text;
  return text.replace(TOKENS, (_, id?: string) =>
    id === undefined ? '[secret operator token]' : `[secret API key ${id}]`,
  );
}
