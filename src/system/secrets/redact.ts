import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { seenText } from '../../core/visible-text.ts';
import { hiding } from './secret.ts';
import type { Secrets } from './secrets.ts';

/**
 * Creates a function that removes the values of known secrets from a text (plain, base64, URL-encoded or in JSON), and
 * toolcrib's own keys. The search is rebuilt only when the known secrets change. A colour, an invisible character or
 * a repeated encoding of a value hides it from the search, not from a reader: such a text loses all of them.
 */
export function createRedact(secrets: Secrets): (text: string) => string {
  let revision = -1;
  let hide = (text: string): string => text;
  return (text) => {
    if (revision !== secrets.revision()) {
      revision = secrets.revision();
      hide = hiding(secrets.known());
    }
    return hideReadable(hideTokens(hide(text)), (other) => hideTokens(hide(other)));
  };
}

/** Hides what a reader still finds in a text: it is replaced by a simpler form if that contains a secret. */
function hideReadable(text: string, hide: (text: string) => string): string {
  for (const simpler of simplerForms(text)) {
    const hidden = hide(simpler);
    if (hidden !== simpler) return hideReadable(hidden, hide);
  }
  return text;
}

/** A printable character of ASCII, encoded as in a URL or in JSON. */
const ENCODED = /(?:%|\\{1,3}u00)([2-7][0-9a-f])/gi;
const MAX_LEVELS = 4;

/** The text without colours and invisible characters, and decoded once, twice and so on. */
function* simplerForms(text: string): Generator<string> {
  const seen = seenText(text);
  if (seen !== undefined) yield seen;
  let [before, decoded] = ['', text];
  for (let level = 0; level < MAX_LEVELS && decoded !== before; level++) {
    before = decoded;
    decoded = before.replace(ENCODED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
    if (decoded !== before) yield decoded;
  }
}

/** 32 characters that are not easily confused: no i, l, o, u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** A regular expression for one of them. */
const TOKEN_CHARACTER = '[0-9a-hjkmnp-tv-z]';

/** Prefixes of our keys and tokens. */
export const KEY_PREFIX = 'tck_';
export const OPERATOR_PREFIX = 'tco_';

/** 160 bits. */
export const SECRET_LENGTH = 32;
/** Enough for 32 bits. */
const CHECKSUM_LENGTH = 7;
/** Length of the public part of a key. */
export const ID_LENGTH = 10;

/** Regular expressions for both; secret scanners use the same. */
const ENDING = `${TOKEN_CHARACTER}{${SECRET_LENGTH + CHECKSUM_LENGTH}}`;
export const KEY_FORM = `${KEY_PREFIX}(${TOKEN_CHARACTER}{${ID_LENGTH}})_${ENDING}`;
export const OPERATOR_FORM = `${OPERATOR_PREFIX}${ENDING}`;

/** Random text with 5 bits per character. */
export function randomText(length: number): string {
  return Array.from(randomBytes(length), (byte) => ALPHABET[byte & 31]).join('');
}

/** A checksum that detects every single wrong character and most other typos before the store is queried. It is not a protection against attackers. */
export function checksumOf(text: string): string {
  const sum = crc32(text);
  return Array.from({ length: CHECKSUM_LENGTH }, (_, index) => ALPHABET[Math.floor(sum / 32 ** index) & 31]).join('');
}

/** True if the text ends with its checksum. */
export function hasItsChecksum(text: string): boolean {
  return text.slice(-CHECKSUM_LENGTH) === checksumOf(text.slice(0, -CHECKSUM_LENGTH));
}

/** SHA-256 as hex. The input is random, so it needs neither salt nor a slow hash. */
export function hashOf(text: string): string {
  return hash('sha256', text);
}

/** Compares two hashes in constant time. */
export function isSameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

const TOKENS = new RegExp(`${KEY_FORM}|${OPERATOR_FORM}`, 'g');

/** Removes toolcrib keys and tokens from a text; the id of a key stays. */
function hideTokens(text: string): string {
  if (!text.includes(KEY_PREFIX) && !text.includes(OPERATOR_PREFIX)) return text;
  return text.replace(TOKENS, (_, id?: string) =>
    id === undefined ? '[secret operator token]' : `[secret API key ${id}]`,
  );
}
