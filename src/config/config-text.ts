import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { describe } from '../core/read-options.ts';
import { ToolcribError, whyUnreadable } from '../core/tool-error.ts';
import { hideLogin } from '../core/visible-text.ts';
import { type ParsedConfig, type Position, parseConfig } from './parse-config.ts';

/** Locates mistakes in a configuration and formats them. */
export interface ConfigText {
  readonly shownAs: string;
  locate(mistake: Pick<Mistake, 'path' | 'at'>): Position | undefined;
  /** The message with file, line, column and an excerpt. */
  show(mistake: Mistake): string;
}

/** A parsed configuration text and its value. */
export interface ReadText extends ConfigText {
  readonly value: unknown;
}

/** Parses a configuration text. Throws for syntax errors. */
export async function readConfigText(text: string, shownAs: string): Promise<ReadText> {
  const parsed = await parseText(text, shownAs);
  const lines = text.split(/\r?\n/);
  const show = (given: string, place: Position | undefined, isHidden: boolean): string => {
    const message = given.replace(GOT, hideCredentials);
    if (place === undefined) return `${shownAs}: ${message}`;
    const line = excerpt(lines[place.line - 1] ?? '', place, isHidden);
    return `${shownAs}:${place.line}:${place.column}: ${message}\n${line}`;
  };
  if (parsed.mistakes.length > 0) {
    const shown = parsed.mistakes.slice(0, MAX_MISTAKES);
    throw toConfigError(
      shownAs,
      shown.map((mistake) => show(mistake.message, mistake, false)),
    );
  }
  const locate: ConfigText['locate'] = ({ path, at }) => parsed.locate(path, at);
  return {
    shownAs,
    value: parsed.value,
    locate,
    show: (mistake) => show(mistake.message, locate(mistake), isDelicate(mistake.path)),
  };
}

/** The value of a text, ignoring syntax errors as far as possible. */
export async function parseLeniently(text: string, file: string): Promise<unknown> {
  return (await parseText(text, file)).value;
}

function parseText(text: string, file: string): Promise<ParsedConfig> {
  return parseConfig(/\.jsonc?$/i.test(file) ? blankComments(text) : text);
}

/** For a configuration given as an object, which has no lines. */
export function objectText(shownAs: string): ConfigText {
  return { shownAs, locate: () => undefined, show: ({ message }) => `${shownAs}: ${message}` };
}

/** Combines several reports into one error. */
export function toConfigError(shownAs: string, reports: readonly string[]): ToolcribError {
  const shown = reports.slice(0, MAX_MISTAKES).join('\n');
  if (reports.length === 1) return new ToolcribError('invalid_config', shown);
  const count = reports.length >= MAX_MISTAKES ? `${MAX_MISTAKES} or more` : reports.length;
  return new ToolcribError('invalid_config', `${shownAs} has ${count} mistakes:\n${shown}`);
}

const WIDTH = 100;
const MAX_LINE = 10_000;

/** The value of a key that is named like a credential. */
const NAMED =
  /(?<=(?:token|secret|password|passwd|pwd|pass|key|auth|authorization|credentials?)["']?\s?[:=]\s?)("[^"]*"?|'[^']*'?|[^\s,}\]{["'$][^\s,}\]]*)/gi;
/** Values of variables and headers, in one line. */
const VARIABLES = /(?<=\b(?:env|headers)["']?\s?:\s?\{)[^}]*/g;
const VALUE = /(?<=:\s?)("[^"]*"?|'[^']*'?|[^\s,"']+)/g;
/** A word of letters and digits that is as long as a token; not a key, path, address or version. */
const WORD = /(?<![\w./:@\\$-])(?:[a-z]{1,10}-){0,3}(?=\w*[a-z])(?=\w*\d)[\w+=-]{12,}(?![\w./@\\-]|["']?\s?:)/gi;

/** An address, and those parts of its path that may be a credential, as in webhooks of chat services. */
const ADDRESS = /\w{1,20}:\/\/[^\s"']+/g;
const PATH_PART = /(?<=\/)(?=[\w-]*[a-z])(?=[\w-]*\d)[\w-]{12,}/gi;
/** The value that a message quotes. */
const GOT = /(?<=, got )"(?:[^"\\]|\\.)*"/g;

/** Masks what may be a credential, character by character, so that columns stay the same. */
function hideCredentials(line: string): string {
  const mask = (text: string) => '*'.repeat(text.length);
  return hideLogin(line)
    .replace(ADDRESS, (address) => address.replace(PATH_PART, mask))
    .replace(VARIABLES, (values) => values.replace(VALUE, mask))
    .replace(NAMED, mask)
    .replace(WORD, mask);
}

/** The line with a caret under the column. The line ends there if the rest may be a credential. */
function excerpt(line: string, { line: number, column }: Position, isHidden: boolean): string {
  const from = Math.max(0, column - 1 - WIDTH / 2);
  const to = isHidden ? column - 1 : from + WIDTH;
  const safe = hideCredentials(line.slice(0, MAX_LINE));
  const cut = `${from > 0 ? '…' : ''}${safe.slice(from, to)}${to < line.length ? '…' : ''}`;
  const gutter = `${number} | `;
  const caret = ' '.repeat(column - 1 - from + (from > 0 ? 1 : 0));
  return `  ${gutter}${cut.replaceAll(/\p{Cc}/gu, ' ')}\n  ${' '.repeat(gutter.length - 2)}| ${caret}^`;
}

/** Replaces comments in JSON with spaces, so that positions stay the same. */
function blankComments(text: string): string {
  return text.replaceAll(/"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, (part) =>
    part.startsWith('"') ? part : part.replaceAll(/[^\n]/g, ' '),
  );
}

const MAX_CONFIG_BYTES = 5_000_000;

/** Reads a configuration file. The error says whether the path is a folder, a device, too large or not text. */
export async function readConfigFile(file: string, shownAs: string): Promise<string> {
  let handle: FileHandle | undefined;
  try {
    // Without O_NONBLOCK, opening a named pipe would block the start.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const status = await handle.stat();
    if (status.isDirectory()) throw unusable(`${shownAs} is a folder; pass the path of the file.`);
    if (!status.isFile()) throw unusable(`${shownAs} is a pipe or a device, not a file.`);
    if (status.size > MAX_CONFIG_BYTES) throw tooLarge(shownAs);
    return toText(await readAtMost(handle, MAX_CONFIG_BYTES, shownAs), shownAs);
  } catch (cause) {
    throw cause instanceof ToolcribError ? cause : unusable(`${shownAs} ${whyUnreadable(cause)}.`, cause);
  } finally {
    await handle?.close();
  }
}

// A file may grow after stat(), and some special files report no size.
async function readAtMost(handle: FileHandle, maxBytes: number, shownAs: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(65_536), 0, 65_536, null);
    if (bytesRead === 0) return Buffer.concat(chunks);
    length += bytesRead;
    if (length > maxBytes) throw tooLarge(shownAs);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

/** Decodes UTF-8, or UTF-16 as some editors and shells on Windows write it. */
function toText(bytes: Buffer, shownAs: string): string {
  const encoding = encodingOf(bytes);
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    if (!hasControlCharacters(text)) return text;
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause; // the decoder throws it for invalid bytes
  }
  throw unusable(`${shownAs} is not a text file; save it as UTF-8.`);
}

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
}

function hasControlCharacters(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the search is for control characters
  return /[\0-\x08\x0b\x0c\x0e-\x1f]/.test(text);
}

function tooLarge(shownAs: string): ToolcribError {
  return unusable(
    `${shownAs} is larger than ${MAX_CONFIG_BYTES / 1_000_000} MB, the maximum size of a configuration file.`,
  );
}

function unusable(message: string, cause?: unknown): ToolcribError {
  return new ToolcribError('invalid_config', message, { cause });
}

/** A path in a configuration: keys and list indexes, from the root. */
export type Path = readonly (string | number)[];

/** One mistake in a configuration. */
export interface Mistake {
  readonly path: Path;
  /** The part that is wrong. */
  readonly at: 'key' | 'value';
  readonly message: string;
}

/** Maximum number of mistakes reported at once. */
export const MAX_MISTAKES = 20;

/** Formats a path: `profiles.assistant.include[2]`. */
export function toPathText(path: Path): string {
  if (path.length === 0) return 'the configuration';
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`;
    const isPlain = /^[\w$.@/-]{1,64}$/.test(segment);
    if (!isPlain) return `${text}[${describe(segment)}]`;
    return text === '' ? segment : `${text}.${segment}`;
  }, '');
}

/** True if the value at the path may be a credential, so messages must not quote it. */
export function isDelicate(path: Path): boolean {
  return path.some((segment) => DELICATE.has(segment));
}

const DELICATE: ReadonlySet<string | number> = new Set(['secrets', 'secret', 'env', 'headers', 'key']);
