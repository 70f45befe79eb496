import type { JsonObject, JsonValue } from './json.ts';

/**
 * Characters that a reader cannot see, or that change how their neighbours are read: control and format characters
 * (bidirectional marks, zero-width characters, tags), spaces other than the usual one, fillers, variation selectors, lone
 * surrogates, private and unassigned characters, enclosing marks, and more than four marks on one letter.
 */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Me}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]|(?<=\p{M}{4})\p{M}/gu;

/** The text with every invisible character written as `\u{202e}`; on one line, since line breaks are among them. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    return `\\u{${code}}`;
  });
}

/** The same for a text of several lines, which it stays. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** JSON that means the same and in which nothing is invisible. */
export function visibleJson(json: string): string {
  const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const escapeUnits = (unseen: string) => unseen.split('').map(toEscape).join('');
  return json
    .split('\n')
    .map((line) => line.replace(UNSEEN, escapeUnits))
    .join('\n');
}

/** A text between quotes, where nothing in it is invisible and none of it can be taken for what stands around it. */
export function quoted(text: string): string {
  return visible(JSON.stringify(text));
}

/** A text between quotes, cut in the middle where it is longer than `limit`; its length and what is left out are said outside of the quotes. */
export function quotedUpTo(text: string, limit: number): string {
  if (text.length <= limit) return quoted(text);
  const endLength = Math.floor(limit / 4);
  const begin = text.slice(0, limit - endLength);
  const end = text.slice(text.length - endLength);
  return `${quoted(begin)} … ${quoted(end)} (${text.length} characters, ${text.length - limit} not shown)`;
}

/** How much of a value is shown: characters of each text in it (tried in this order) and of the whole. */
export interface ShownSize {
  readonly texts: readonly number[];
  readonly whole: number;
}

const USUAL_SIZE: ShownSize = { texts: [500, 100, 20], whole: 2000 };

/** A value as JSON that a person can read. Texts in it are shortened before names are left out, and whatever is left out is said. */
export function toVisibleJson(value: JsonValue, { texts, whole }: ShownSize = USUAL_SIZE): string {
  let shown = '';
  for (const textLimit of texts) {
    const room: Room = { textLimit, left: whole, isShort: false };
    shown = write(value, room);
    if (!room.isShort) return shown;
  }
  return shown;
}

/** How much may still be written; counted down on the way. */
interface Room {
  readonly textLimit: number;
  left: number;
  /** Something did not fit. */
  isShort: boolean;
}

function write(value: JsonValue, room: Room): string {
  if (typeof value === 'string') return take(quotedUpTo(value, room.textLimit), room);
  if (typeof value !== 'object' || value === null) return take(JSON.stringify(value), room);
  if (Array.isArray(value)) return `[${writeAll(value, room, (item: JsonValue) => write(item, room)).join(', ')}]`;
  const members = Object.entries(value as JsonObject); // not a list, not null
  return `{${writeAll(members, room, (member) => writeMember(member, room)).join(', ')}}`;
}

function writeMember([name, value]: readonly [string, JsonValue], room: Room): string {
  const shown = take(quotedUpTo(name, room.textLimit), room);
  return `${shown}: ${write(value, room)}`;
}

function writeAll<Part>(parts: readonly Part[], room: Room, writePart: (part: Part) => string): readonly string[] {
  const written: string[] = [];
  for (const part of parts) {
    if (room.left <= 0) {
      room.isShort = true;
      return [...written, `… ${parts.length - written.length} more not shown`];
    }
    room.left -= 2; // what stands between two of them
    written.push(writePart(part));
  }
  return written;
}

function take(text: string, room: Room): string {
  room.left -= text.length;
  return text;
}

/** The beginning of a text with the sign that it was cut, by which redaction also finds the beginning of a secret. */
export function beginningOf(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text;
}

/** One name stands for a list of one. */
export function listOf<T extends string>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

/** `*` stands for any characters, `?` for one; the whole text must match. Linear in the text. */
export function compileGlob(glob: string): (text: string) => boolean {
  if (!/[*?]/.test(glob)) return (text) => text === glob;
  return (text) => matchesGlob(glob, text);
}

// The greedy two-pointer walk: on a mismatch only the last star takes one character more, so nothing explodes.
function matchesGlob(glob: string, text: string): boolean {
  let g = 0;
  let star = -1;
  let resume = 0;
  for (let t = 0; t < text.length; ) {
    if (glob[g] === '*') {
      star = g++;
      resume = t;
    } else if (glob[g] === '?' || glob[g] === text[t]) {
      g++;
      t++;
    } else if (star >= 0) {
      g = star + 1;
      t = ++resume;
    } else return false;
  }
  while (glob[g] === '*') g++;
  return g === glob.length;
}
