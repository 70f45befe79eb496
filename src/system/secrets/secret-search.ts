/** The name and value of a secret. */
interface Hidden {
  readonly name: string;
  readonly value: string;
}

/** Shorter values are too likely to be part of other text. */
const MIN_LENGTH = 8;
/** Limits per regular expression: engines search for a few alternatives much faster than for many, and refuse large patterns. */
const MANY_PATTERNS = 5;
const LONG_PATTERN = 20_000;
/** The mark at the end of texts that toolcrib has cut. */
const CUT = '…';
const MANY_CUTS = 8;

type Search = (text: string) => string;

/** Creates a function that replaces every value by `[secret NAME]`, in any spelling. Built once, then fast. */
export function createSearch(values: readonly Hidden[]): Search {
  // Longest first: a shorter value may be part of a longer one.
  const hidden = values
    .flatMap(withParts)
    .filter(({ value }) => value.length >= MIN_LENGTH)
    .toSorted((a, b) => b.value.length - a.value.length);
  if (hidden.length === 0) return (text) => text;
  const searches = createSearches(hidden);
  const hideCut = replaceCut(hidden);
  return (text) => {
    if (text.length < MIN_LENGTH) return text;
    let shown = text;
    for (const search of searches) shown = search(shown);
    return shown.includes(CUT) ? hideCut(shown) : shown;
  };
}

/** Shorter lines, and lines with spaces, may appear elsewhere for another reason. */
const SECRET_LINE = /^\S{16,}$/;

/** A value, its trimmed form, and its long lines: texts may be quoted line by line. */
function withParts({ name, value }: Hidden): readonly Hidden[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const parts = new Set([
    value,
    value.trim(),
    ...(lines.length > 1 ? lines.filter((line) => SECRET_LINE.test(line)) : []),
  ]);
  return Array.from(parts, (part) => ({ name, value: part }));
}

/** Creates the searches. A value too long for a pattern (a whole file, for example) is searched literally, in its usual spellings. */
function createSearches(hidden: readonly Hidden[]): readonly Search[] {
  const searches: Search[] = [];
  let group: Spelt[] = [];
  for (const one of hidden) {
    const spelt = { ...one, pattern: [one.value, ...base64Of(one.value)].map(patternOf).join('|') };
    if (spelt.pattern.length > LONG_PATTERN) {
      searches.push(replaceLiterals(one));
      continue;
    }
    if (group.length === MANY_PATTERNS || sizeOf([...group, spelt]) > LONG_PATTERN) {
      searches.push(replacePatterns(group));
      group = [];
    }
    group.push(spelt);
  }
  return group.length === 0 ? searches : [...searches, replacePatterns(group)];
}

interface Spelt extends Hidden {
  readonly pattern: string;
}

function sizeOf(group: readonly Spelt[]): number {
  return group.reduce((size, { pattern }) => size + pattern.length, 0);
}

function replacePatterns(group: readonly Spelt[]): Search {
  const pattern = new RegExp(group.map((one) => `(${one.pattern})`).join('|'), 'g');
  const markers = group.map(markerOf);
  const markerOfMatch = (...found: readonly unknown[]) =>
    markers.find((_, index) => found[index + 1] !== undefined) ?? '[secret]';
  return (text) => text.replace(pattern, markerOfMatch);
}

function replaceLiterals(hidden: Hidden): Search {
  const literals = literalsOf(hidden.value);
  const marker = markerOf(hidden);
  return (text) =>
    literals.reduce(
      (shown, literal) => (shown.includes(literal) ? shown.replaceAll(literal, () => marker) : shown),
      text,
    );
}

/** Hides the beginning of a value at the end of a text that was cut. */
function replaceCut(hidden: readonly Hidden[]): Search {
  const endings = hidden.flatMap((one) => literalsOf(one.value).map((literal) => ({ literal, marker: markerOf(one) })));
  const withoutBeginning = (piece: string): string => {
    for (const { literal, marker } of endings) {
      const head = literal.slice(0, MIN_LENGTH);
      for (let at = piece.indexOf(head); at >= 0; at = piece.indexOf(head, at + 1)) {
        if (literal.startsWith(piece.slice(at))) return piece.slice(0, at) + marker;
      }
    }
    return piece;
  };
  return (text) => {
    const pieces = text.split(CUT);
    const first = Math.max(0, pieces.length - 1 - MANY_CUTS);
    return pieces
      .map((piece, index) => (index < first || index === pieces.length - 1 ? piece : withoutBeginning(piece)))
      .join(CUT);
  };
}

function markerOf({ name }: Hidden): string {
  return `[secret ${name}]`;
}

/** A regular expression for a text in plain form, in JSON, in a URL, in a form or in a JSON pointer, or in any mixture of these. */
function patternOf(value: string): string {
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

/** Escapes of a character in JSON, forms and JSON pointers, besides its code. JSON may be nested in JSON, hence several backslashes. */
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

// The whole run at once: one by one, a long run would have too many matches.
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

/** The complete spellings of a text, for values too long for a pattern and for cut texts. */
function literalsOf(value: string): readonly string[] {
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

/** The part of a text's base64 that does not depend on its neighbours, for each offset and in both alphabets. */
function base64Of(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const cores = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [...new Set(cores.flatMap((core) => [core, core.replaceAll('+', '-').replaceAll('/', '_')]))];
}
