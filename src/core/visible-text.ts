import type { JsonObject, JsonValue } from './json.ts';

/**
 * Characters that are invisible or change how their neighbours are read: control and format characters
 * (bidirectional marks, zero-width characters, tags), spaces other than the usual one, fillers, variation selectors, lone
 * surrogates, private and unassigned characters, enclosing marks, more than four marks on one letter, and marks of
 * another script on a letter of Latin, Greek or Cyrillic, on a digit or a sign: some of them join letters and show nothing.
 */
const UNSEEN =
  /(?! )[\p{C}\p{Z}\p{Me}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]|(?<=\p{M}{4})\p{M}|(?<=[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Common}]\p{sc=Inherited}?)(?:(?![\p{sc=Inherited}\p{sc=Cyrillic}])\p{M})+/gu;

/** Writes every invisible character as `\u{202e}`. Line breaks count as invisible, so the result is one line. */
export function visible(text: string): string {
  const escaped = (character: string) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}}`;
  return text.replace(UNSEEN, (unseen) => Array.from(unseen, escaped).join(''));
}

/** Like `visible`, but keeps line breaks. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** Escapes invisible characters in JSON; its meaning stays the same. */
export function visibleJson(json: string): string {
  const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const escapeUnits = (unseen: string) => unseen.split('').map(toEscape).join('');
  return json
    .split('\n')
    .map((line) => line.replace(UNSEEN, escapeUnits))
    .join('\n');
}

/** Quotes a text and escapes invisible characters, so it cannot be confused with the text around it. */
export function quoted(text: string): string {
  return visible(JSON.stringify(text));
}

/** Quotes a text and cuts the middle if it is longer than `limit`. Its length and the omitted length follow the quotes. */
export function quotedUpTo(text: string, limit: number): string {
  if (text.length <= limit) return quoted(text);
  const endLength = Math.floor(limit / 4);
  const begin = text.slice(0, limit - endLength);
  const end = text.slice(text.length - endLength);
  return `${quoted(begin)} … ${quoted(end)} (${text.length} characters, ${text.length - limit} not shown)`;
}

/** Limits for showing a value: characters per text (tried in this order) and in total. */
export interface ShownSize {
  readonly texts: readonly number[];
  readonly whole: number;
}

const USUAL_SIZE: ShownSize = { texts: [500, 100, 20], whole: 2000 };

/** A value as readable JSON. Texts are shortened before names are left out; omissions are marked. */
export function toVisibleJson(value: JsonValue, { texts, whole }: ShownSize = USUAL_SIZE): string {
  let shown = '';
  for (const textLimit of texts) {
    const room: Room = { textLimit, left: whole, isShort: false };
    shown = write(value, room);
    if (!room.isShort) return shown;
  }
  return shown;
}

/** Remaining space while writing. */
interface Room {
  readonly textLimit: number;
  left: number;
  /** True if something did not fit. */
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
    room.left -= 2; // the separator
    written.push(writePart(part));
  }
  return written;
}

function take(text: string, room: Room): string {
  room.left -= text.length;
  return text;
}

/** The beginning of a text, marked as cut. Redaction uses the mark to find the beginning of a secret. */
export function beginningOf(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text;
}

/** The text without the characters of this class at its end. A pattern with `+$` would look at a long text again from each of them. */
export function withoutEnd(text: string, unwanted: RegExp): string {
  let end = text.length;
  while (end > 0 && unwanted.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

const [BELL, ESCAPE, CONTROL, STRING_END, COMMAND] = ['\u0007', '\u001b', '\u009b', '\u009c', '\u009d'];
const TERMINAL_CODES = new RegExp(
  [
    // A string for the system ends at the next escape, so that no text is looked at from each of many that never end.
    `(?:${ESCAPE}[\\]PX^_]|${COMMAND})[^${BELL}${ESCAPE}${STRING_END}]*(?:${BELL}|${ESCAPE}\\\\|${STRING_END})`,
    `(?:${ESCAPE}\\[|${CONTROL})[0-?]*[ -/]*[@-~]`,
    `${ESCAPE}[ -/]*[0-Z\\\\^-~]`,
  ].join('|'),
  'g',
);

/** The text without sequences that control a terminal. */
export function withoutTerminalCodes(text: string): string {
  return text.replace(TERMINAL_CODES, '');
}

const HIDDEN = /(?![\n\r\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const ALL_HIDDEN = new RegExp(HIDDEN.source, 'gu');

/** The text as a terminal would show it, without terminal codes and invisible characters; undefined if it has none. */
export function seenText(text: string): string | undefined {
  return HIDDEN.test(text) ? withoutTerminalCodes(text).replace(ALL_HIDDEN, '') : undefined;
}

/** Turns a single name into a list. */
export function listOf<T extends string>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

/** Compiles a glob: `*` is any characters, `?` is one; the whole text must match. Linear time. */
export function compileGlob(glob: string): (text: string) => boolean {
  if (!/[*?]/.test(glob)) return (text) => text === glob;
  return (text) => matchesGlob(glob, text);
}

// Greedy two-pointer matching: on a mismatch only the last star takes one more character, so it stays linear.
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

const CREDENTIAL_NAME = /auth|token|passw|key|secret|sig/i;

/** True if an address has a parameter that is named like a credential. */
export function hasCredentialParameter(address: string): boolean {
  const start = address.search(/[?&;]/);
  if (start < 0) return false;
  const segments = address.slice(start).split('=').slice(0, -1); // each ends with the name of a parameter
  return segments.some((segment) => {
    const begin = segment.search(/[?&;]/);
    return begin >= 0 && CREDENTIAL_NAME.test(segment.slice(Math.max(begin, segment.lastIndexOf('&'))));
  });
}

/** The login of an address, with or without its scheme. */
const LOGIN = /(?<=:\/\/)[^\s/@"']{1,200}(?=@|…)|(?<![^\s"'])[^\s/:@"']{1,100}:[^\s/@"']{1,200}(?=@)/g;

/** Masks the login of an address. */
export function hideLogin(text: string): string {
  return text.replace(LOGIN, (login) => '*'.repeat(login.length));
}
