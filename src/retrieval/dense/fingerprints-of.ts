import { FINGERPRINT_START, fingerprint, finishFingerprint, takeCharacter } from './fingerprint.ts';
import { MAX_WORD_LENGTH, wordsOf } from './words.ts';

/** The fingerprints of a text's words. Most texts are ASCII but for punctuation, and no string is made of their words. */
export function fingerprintsOf(text: string): readonly number[] {
  return fingerprintsOfAscii(text) ?? wordsOf(text).map(fingerprint);
}

const OTHER = 0;
const DIGIT = 1;
const LOWER = 2;
const UPPER = 3;
const BEYOND = 4;

/** The same as `wordsOf` for what it knows; undefined for other texts. */
function fingerprintsOfAscii(text: string): readonly number[] | undefined {
  const found: number[] = [];
  let hash = FINGERPRINT_START;
  let length = 0;
  let before = OTHER;
  let kind = kindOf(text.charCodeAt(0));
  for (let index = 0; index < text.length; index++) {
    if (kind === BEYOND) return undefined;
    const code = text.charCodeAt(index);
    const after = index + 1 < text.length ? kindOf(text.charCodeAt(index + 1)) : OTHER;
    if (length > 0 && endsBefore(before, kind, after)) {
      found.push(finishFingerprint(hash));
      hash = FINGERPRINT_START;
      length = 0;
    }
    if (kind !== OTHER && length < MAX_WORD_LENGTH) {
      hash = takeCharacter(hash, kind === UPPER ? code | 0x20 : code);
      length++;
    }
    before = kind;
    kind = after;
  }
  if (length > 0) found.push(finishFingerprint(hash));
  return found;
}

/** Whether a word ends before a character of this kind. */
function endsBefore(before: number, kind: number, after: number): boolean {
  if (kind === UPPER) return before !== UPPER || after === LOWER;
  if (kind === LOWER) return before === DIGIT;
  return kind !== before;
}

const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return LOWER;
  if (/[A-Z]/.test(character)) return UPPER;
  return /\d/.test(character) ? DIGIT : OTHER;
});

function kindOf(code: number): number {
  if (code < 128) return KINDS[code] as number; // there is one for every ASCII code
  // Dashes, quotation marks, ellipses and spaces of many kinds: they stand in many a text that is ASCII but for them.
  return code >= 0x2000 && code < 0x2060 ? OTHER : BEYOND;
}
