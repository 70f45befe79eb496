/** A stretch of a text: shown as it is, or marked because a reader could not see it or would misread it. */
export type TextPiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'mark'; readonly code: string; readonly name: string; readonly text: string };

/** The same characters as `visible` of the server: control and format characters, unusual spaces, fillers, long stacks of marks. */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Me}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]|(?<=\p{M}{4})\p{M}/u;
const WORD = /[\p{L}\p{M}]+/gu;
const LATIN = /\p{Script=Latin}/u;
const LOOKALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
/** Nothing in such a text can be suspicious, so most texts are one piece at once. */
const PLAIN = /^[ -~\n\t]*$/;

const NAMES: Readonly<Record<number, string>> = {
  0: 'null',
  7: 'bell',
  8: 'backspace',
  13: 'carriage return',
  27: 'escape',
  160: 'no-break space',
  173: 'soft hyphen',
  1564: 'Arabic letter mark',
  8203: 'zero width space',
  8204: 'zero width non-joiner',
  8205: 'zero width joiner',
  8206: 'left-to-right mark',
  8207: 'right-to-left mark',
  8232: 'line separator',
  8233: 'paragraph separator',
  8234: 'left-to-right embedding',
  8235: 'right-to-left embedding',
  8236: 'end of embedding',
  8237: 'left-to-right override',
  8238: 'right-to-left override',
  8288: 'word joiner',
  8294: 'left-to-right isolate',
  8295: 'right-to-left isolate',
  8296: 'first strong isolate',
  8297: 'end of isolate',
  65279: 'byte order mark',
};

function nameOf(character: string): string {
  const known = NAMES[character.codePointAt(0) ?? 0];
  if (known !== undefined) return known;
  if (/\p{Cc}/u.test(character)) return 'control character';
  if (/\p{Z}/u.test(character)) return 'unusual space';
  if (/\p{M}/u.test(character)) return 'combining mark';
  return LOOKALIKE.test(character) ? 'letter of another script' : 'invisible character';
}

function markOf(character: string): TextPiece {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  return { kind: 'mark', code, name: nameOf(character), text: character };
}

/** Letters that look like Latin ones, inside words with Latin letters: places in the text. */
function lookalikes(text: string): ReadonlySet<number> {
  const places = new Set<number>();
  if (!LOOKALIKE.test(text)) return places;
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!LATIN.test(word) || !LOOKALIKE.test(word)) continue;
    let place = index;
    for (const letter of word) {
      if (LOOKALIKE.test(letter)) places.add(place);
      place += letter.length;
    }
  }
  return places;
}

/** Splits a text into pieces. Line breaks and tabs stay as they are, unless the text is a name on one line. */
export function toPieces(text: string, lines: 'one line' | 'many lines' = 'many lines'): readonly TextPiece[] {
  if (PLAIN.test(text) && (lines === 'many lines' || !/[\n\t]/.test(text))) return [{ kind: 'text', text }];
  const lettersOfOthers = lookalikes(text);
  const pieces: TextPiece[] = [];
  let plain = '';
  let place = 0;
  let marks = 0; // combining marks in a row
  for (const character of text) {
    marks = /\p{M}/u.test(character) ? marks + 1 : 0;
    const isBreak = lines === 'many lines' && (character === '\n' || character === '\t');
    if (!isBreak && (UNSEEN.test(character) || marks > 4 || lettersOfOthers.has(place))) {
      if (plain !== '') pieces.push({ kind: 'text', text: plain });
      plain = '';
      pieces.push(markOf(character));
    } else plain += character;
    place += character.length;
  }
  if (plain !== '') pieces.push({ kind: 'text', text: plain });
  return pieces;
}

/** How often each suspicious character occurs in a text, by its name. */
export function countSuspicious(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const piece of toPieces(text))
    if (piece.kind === 'mark') counts.set(piece.name, (counts.get(piece.name) ?? 0) + 1);
  return counts;
}
