/** A regular expression for a text as it stands, in JSON, in a URL, in a form or in a JSON pointer, or in any mixture of these. */
export function patternOf(value: string): string {
  return (value.match(/\\+|[^\\]/gsu) ?? []).map(patternOfPiece).join('');
}

function patternOfPiece(piece: string): string {
  if (/^[A-Za-z0-9]$/.test(piece)) return piece;
  if (piece.startsWith('\\')) return backslashes(piece.length);
  const spellings = [
    ...(OTHER_SPELLINGS[piece] ?? []),
    escapePattern(piece),
    percentPattern(piece),
    unicodePattern(piece),
  ];
  return `(?:${spellings.join('|')})`;
}

/** What JSON, forms and pointers make of a character besides its code. JSON may stand in JSON, hence more than one backslash. */
const OTHER_SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  '"': [String.raw`\\{1,3}"`],
  '/': [String.raw`\\{1,2}\/`, '~1'],
  '~': ['~0'],
  ' ': [String.raw`\+`],
  '\b': [String.raw`\\{1,2}b`],
  '\f': [String.raw`\\{1,2}f`],
  '\n': [String.raw`\\{1,2}n`],
  '\r': [String.raw`\\{1,2}r`],
  '\t': [String.raw`\\{1,2}t`],
};

// A whole run at once: one by one, a long run could be read in too many ways.
function backslashes(count: number): string {
  const run = (times: number) => String.raw`\\{${count * times}}`;
  return `(?:${run(4)}|${run(2)}|${run(1)}|(?:%5[cC]){${count}}|${String.raw`(?:\\{1,2}u005[cC])`}{${count}})`;
}

function percentPattern(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `%${hexPattern(byte, 2)}`).join('');
}

function unicodePattern(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => String.raw`\\{1,2}u${hexPattern(unit, 4)}`).join('');
}

function hexPattern(code: number, digits: number): string {
  const hex = code.toString(16).padStart(digits, '0');
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

/** The spellings of a text that can be said in full: for what is too long for a pattern, and for what was cut off. */
export function literalsOf(value: string): readonly string[] {
  const whole = value.toWellFormed();
  const inUrl = encodeURIComponent(whole);
  const inForm = new URLSearchParams([['', whole]]).toString().slice(1);
  const inJson = JSON.stringify(value).slice(1, -1);
  const twice = JSON.stringify(inJson).slice(1, -1);
  const spellings = [value, inJson, twice, inUrl, lowerHex(inUrl), inForm, lowerHex(inForm)];
  return [...new Set([...spellings, ...base64Of(value)])];
}

function lowerHex(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

/** The part of a text's base64 that no neighbour changes, wherever the text begins in what was encoded, in both alphabets. */
export function base64Of(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const cores = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [...new Set(cores.flatMap((core) => [core, core.replaceAll('+', '-').replaceAll('/', '_')]))];
}
