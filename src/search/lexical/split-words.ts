/** A word of a text: `GitHub` is one word with the parts `git` and `hub`. */
export interface TextWord {
  /** In lower case, with compatibility forms and accents folded. */
  readonly text: string;
  /** True for a word that was joined from its parts. */
  readonly isWhole: boolean;
}

export const MAX_WORD_LENGTH = 64;
/** A longer word with case changes is an identifier, which is not searched without its parts. */
export const MAX_WHOLE_LENGTH = 16;

/** Kinds of ASCII characters. */
export const SEPARATOR = 0;
export const LOWER = 1;
export const UPPER = 2;
const DIGIT = 3;

/** Calls `visit` with each word of a text, split at punctuation and case changes. Scripts without spaces give pairs of characters. */
export function eachWord(text: string, visit: (word: string, isWhole: boolean) => void): void {
  if (isAscii(text)) eachAsciiWord(text, visit);
  else eachUnicodeWord(text, visit);
}

/** The words of a text in order. */
export function wordsOf(text: string): readonly TextWord[] {
  const words: TextWord[] = [];
  eachWord(text, (word, isWhole) => words.push({ text: word, isWhole }));
  return words;
}

function isAscii(text: string): boolean {
  return !NOT_ASCII.test(text);
}

const NOT_ASCII = /[^\0-\x7f]/;

/** Indexed by ASCII code. */
export const KINDS: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const letter = String.fromCharCode(code);
  if (/[a-z]/.test(letter)) return LOWER;
  if (/[A-Z]/.test(letter)) return UPPER;
  return /\d/.test(letter) ? DIGIT : SEPARATOR;
});

function eachAsciiWord(text: string, visit: (word: string, isWhole: boolean) => void): void {
  const lower = text.toLowerCase();
  let start = 0;
  while (start < text.length) {
    if (KINDS[text.charCodeAt(start)] === SEPARATOR) {
      start += 1;
      continue;
    }
    let end = start;
    let partStart = start;
    let parts = 1;
    for (; end < text.length; end += 1) {
      const kind = KINDS[text.charCodeAt(end)];
      if (kind === SEPARATOR) break;
      if (end > partStart && kind === UPPER && isCaseChange(text, end)) {
        visit(lower.slice(partStart, Math.min(end, partStart + MAX_WORD_LENGTH)), false);
        partStart = end;
        parts += 1;
      }
    }
    visit(lower.slice(partStart, Math.min(end, partStart + MAX_WORD_LENGTH)), false);
    if (parts > 1 && parts < 4 && end - start <= MAX_WHOLE_LENGTH) visit(lower.slice(start, end), true);
    start = end;
  }
}

/** True between `t` and `H` of `gitHub`, and between `P` and `R` of `HTTPRequest`. */
function isCaseChange(text: string, index: number): boolean {
  return KINDS[text.charCodeAt(index - 1)] !== UPPER || isBehindAbbreviation(text, index);
}

/** True for an upper-case letter after another one, at which a word begins: `R` of `HTTPRequest`. */
function isBehindAbbreviation(text: string, index: number): boolean {
  // A plural `s` as in `URLs` belongs to the abbreviation.
  const next = text.charCodeAt(index + 1);
  if (KINDS[next] !== LOWER) return false;
  return !(text[index + 1] === 's' && KINDS[text.charCodeAt(index + 2)] !== LOWER);
}

const RUN_OF_LETTERS = /[\p{L}\p{M}\p{N}]+/gu;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu;
const ACCENTS = /[\u0300-\u036f]/g;

function eachUnicodeWord(text: string, visit: (word: string, isWhole: boolean) => void): void {
  const folded = text.normalize('NFKD').replace(ACCENTS, '').normalize('NFC');
  for (const [run] of folded.matchAll(RUN_OF_LETTERS)) {
    if (isAscii(run)) {
      eachAsciiWord(run, visit);
      continue;
    }
    for (const [unspaced] of run.matchAll(UNSPACED)) eachPair(unspaced, visit);
    for (const spaced of run.split(UNSPACED)) {
      for (const part of spaced.split(/(?<=\p{Ll})(?=\p{Lu})/u)) {
        if (part !== '') visit(part.toLowerCase().slice(0, MAX_WORD_LENGTH), false);
      }
    }
  }
}

function eachPair(text: string, visit: (word: string, isWhole: boolean) => void): void {
  const letters = [...text];
  if (letters.length === 1) visit(text, false);
  for (let index = 1; index < letters.length; index += 1) visit(`${letters[index - 1]}${letters[index]}`, false);
}
