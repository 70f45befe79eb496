import { homedir } from 'node:os';
import { join } from 'node:path';

/** The system limit for paths. */
export const MAX_PATH = 4096;
/** The system limit for one argument. */
export const MAX_ARGUMENT = 131_072;
const MANY_PIECES = 64;

/** Returns the possible paths in a text, read once for each text. */
export type ReadPaths = (text: string) => readonly string[];

/** Reads the possible paths in the texts of one call, which `spend` limits in number and length. */
export function createPathReader(spend: (names: number) => void): ReadPaths {
  const known = new Map<string, readonly string[]>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const paths = pathsIn(text);
    spend(paths.reduce((sum, path) => sum + path.length + LOOK, 0) / CHARACTERS);
    known.set(text, paths);
    return paths;
  };
}

/** Characters of paths that cost as much as one inspected name. */
const CHARACTERS = 100;
/** Characters that cost as much as a path itself, however short. */
const LOOK = 100;

/** The possible paths in a text: the whole, and the pieces between `=`, `:`, `@`, `,` and line ends. */
export function pathsIn(text: string): readonly string[] {
  if (text.length > MAX_ARGUMENT) return [];
  const ends = [...Array.from(text.matchAll(/[=:@,\r\n]/g), ({ index }) => index), text.length];
  const starts = [0, ...ends.slice(0, -1).map((end) => end + 1)];
  const isLong = starts.length > MANY_PIECES;
  const pieces = new Set<string>();
  for (const [index, start] of starts.entries()) {
    const isLast = starts.length - index <= MANY_PIECES;
    const chosen = isLong ? [ends[index] ?? 0, ...(isLast ? [text.length] : [])] : ends.slice(index);
    for (const end of chosen) if (end > start && end - start <= MAX_PATH) pieces.add(text.slice(start, end));
  }
  return [...new Set([...pieces].flatMap(spellingsOf))];
}

/** The paths that a program may read a piece as. */
export function spellingsOf(piece: string): readonly string[] {
  const [scheme] = /^file:(?:\/\/[^/]*)?/i.exec(piece) ?? [];
  const address = scheme === undefined ? undefined : piece.slice(scheme.length);
  const whole = [piece, ...(address === undefined ? [] : [address]), ...behindLetters(piece)];
  const plain = [...new Set(whole.flatMap((text) => [text, withoutDirection(text), ...beforeEnds(text)]))];
  const decoded = plain.filter((path) => path.includes('%')).map(decode);
  return [...plain, ...decoded, ...plain.flatMap(expanded)].filter((path) => path !== '' && !path.includes('\0'));
}

/** A path without the spaces and signs around it that say how a program opens it: `> x`, `< x`. */
function withoutDirection(text: string): string {
  return text.trim().replace(/^[\s<>+|&!]+/, '');
}

/** The beginnings of a text that end where the path of an address or of an option may end: `x.db?mode=ro`, `x#part`. */
function beforeEnds(text: string): readonly string[] {
  if (!/[?#!;&|]/.test(text)) return [];
  const ends = Array.from('?#!;&|', (end) => [text.indexOf(end), text.lastIndexOf(end)]).flat();
  return [...new Set(ends)].filter((end) => end > 0).map((end) => text.slice(0, end));
}

/** Limit of option letters in one word: `-xvfFILE`. */
const MANY_LETTERS = 8;

/** Possible paths after the letters, digits and signs of an option, and after a name that an absolute path ends: `-idirafter/FOLDER`. */
function behindLetters(piece: string): readonly string[] {
  const { length } = /^-([^\s/]*)/.exec(piece)?.[1] ?? '';
  const starts = Array.from({ length: Math.min(length, MANY_LETTERS) }, (_, index) => index + 2);
  return [...starts, ...(length > MANY_LETTERS ? [length + 1] : [])].map((start) => piece.slice(start));
}

/** Decodes like programs that leave what is not encoded correctly, and end a path at an encoded NUL. */
function decode(text: string): string {
  const bytes = (run: string) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8');
  return text.replaceAll(/(?:%[\da-f]{2})+/gi, bytes).split('\0', 1)[0] ?? '';
}

const TILDE = /^~([\w.+-]*)(?=\/)/;
const VARIABLE = /\$(?:(\w+)|\{(\w+)\})/g;

/**
 * The paths that shells and libraries make of a home (`~/x`, `~ann/x`) at its start, and of variables (`$HOME/x`) anywhere.
 * A name may be that of this user, or of one whose home lies beside. An unknown variable is empty.
 */
function expanded(path: string): readonly string[] {
  const [start, name = ''] = TILDE.exec(path) ?? [];
  const homes = name === '+' ? ['.'] : [homedir(), join(homedir(), '..', name)];
  const tildes = start === undefined ? [] : homes.map((home) => `${home}${path.slice(start.length)}`);
  if (!path.includes('/') || !path.includes('$')) return tildes;
  const filled = path.replaceAll(VARIABLE, (_, plain?: string, braced?: string) =>
    textOfVariable(plain ?? braced ?? ''),
  );
  return filled === path || !/[^/.]/.test(filled) ? tildes : [...tildes, filled];
}

function textOfVariable(variable: string): string {
  return variable === 'PWD' ? '.' : (process.env[variable] ?? '');
}
