import { FINGERPRINT_START, fingerprint, finishFingerprint, takeCharacter } from './fingerprint.ts';
import { MAX_WORD_LENGTH, wordsOf } from './words.ts';

/** The fingerprints of a text's words. Most texts are ASCII, and no string is made of their words. */
export function fingerprintsOf(text: string): readonly number[] {
  return fingerprintsOfAscii(text) ?? wordsOf(text).map(fingerprint);
}

const [OTHER, DIGIT, LOWER, UPPER, BEYOND] = [0, 1, 2, 3, 4];

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

function kindOf(code: number): number {
  if (code >= 0x61 && code <= 0x7a) return LOWER;
  if (code >= 0x41 && code <= 0x5a) return UPPER;
  if (code >= 0x30 && code <= 0x39) return DIGIT;
  return code < 0x80 ? OTHER : BEYOND;
}
