import { isUtf8 } from 'node:buffer';
import { extname } from 'node:path';
import { describe, nearest } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { RUN, type ToolSpec } from '../core/tool-spec.ts';

/** One spec and its place. Lines count from 1, indexes in the list from 0. */
export interface SpecEntry {
  readonly spec: ToolSpec;
  readonly line: number;
  readonly index: number;
}

/** An entry that could not be read. */
export interface SpecProblem {
  readonly file: string;
  readonly line: number;
  readonly index: number;
  /** The name of the entry, if it could be read. */
  readonly name?: string;
  readonly message: string;
}

/** The specs and problems of a text, or the reason why it is not a list of specs. */
export type SpecReading =
  | { readonly ok: true; readonly entries: readonly SpecEntry[]; readonly problems: readonly SpecProblem[] }
  | ({ readonly ok: false } & NoList);

/** Converts the entries of one list to specs. A bad entry becomes a problem with its place; the others are read. */
export interface EntryCollector extends EntrySink {
  /** Adds an entry that is already a spec. */
  spec(spec: ToolSpec, line: number): void;
  reading(): SpecReading;
}

/** With more problems than this, the file as a whole is rejected. */
const MAX_PROBLEMS = 1000;

/** Reads an entry, and receives data that are refused. */
export interface EntryJudge {
  read(entry: unknown): ToolSpec;
  readonly onRefused?: ((data: unknown) => void) | undefined;
}

export function createEntryCollector(file: string, { read, onRefused = () => {} }: EntryJudge): EntryCollector {
  const entries: SpecEntry[] = [];
  const problems: SpecProblem[] = [];
  let index = 0;
  return {
    isFull: () => problems.length > MAX_PROBLEMS,
    entry(value, line) {
      const place = index++;
      try {
        entries.push({ spec: read(value), line, index: place });
      } catch (cause) {
        if (!(cause instanceof ToolcribError)) throw cause;
        onRefused(value);
        problems.push({ file, line, index: place, ...nameIn(value), message: cause.message });
      }
    },
    refused: onRefused,
    broken: (line, message) => void problems.push({ file, line, index: index++, message }),
    spec: (spec, line) => void entries.push({ spec, line, index: index++ }),
    reading() {
      if (problems.length <= MAX_PROBLEMS) return { ok: true, entries, problems };
      for (const { spec } of entries) onRefused({ run: spec[RUN] });
      return {
        ok: false,
        // The caller adds the full stop.
        reason: `more than ${MAX_PROBLEMS} entries are invalid; the first problem: ${problems[0]?.message.replace(/\.$/, '')}`,
      };
    },
  };
}

function nameIn(value: unknown): { readonly name?: string } {
  const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined;
  return typeof name === 'string' ? { name } : {};
}

/** Receives what a format's reader finds, entry by entry. */
export interface EntrySink {
  entry(value: unknown, line: number): void;
  /** Receives a refused text as a whole. */
  refused(data: unknown): void;
  /** Reports an entry that cannot be parsed. */
  broken(line: number, message: string): void;
  /** True if there are too many problems to go on reading. */
  isFull(): boolean;
}

/** Reads the text of one list as its bytes come in. */
export interface EntryReader {
  /** Takes the next bytes; they may be overwritten afterwards. */
  take(piece: Buffer): void;
  end(): NoList | undefined;
}

/** The reason why a text is not a list of entries. `foreign`: the text is readable, but it is something else. */
export interface NoList {
  readonly reason: string;
  readonly foreign?: true;
}

/** The result for bytes that are not text. */
export const NOT_TEXT: NoList = { reason: 'it is not text in UTF-8' };

const ADVICE = 'write a list of tools, or "tools:" followed by a list';

/** The reason why a text with this top-level value is not a list of tools. Calls `refuse` if it holds tools nevertheless. */
export function noToolsIn(top: unknown, refuse: () => void): NoList {
  if (typeof top !== 'object' || top === null)
    return { reason: `it contains ${describe(top)}; ${ADVICE}`, foreign: true };
  const keys = Object.keys(top);
  if (!keys.includes('tools')) {
    const near = keys.find((key) => nearest(key, ['tools']) !== undefined);
    if (near !== undefined) refuse();
    return { reason: `it has no "tools"${near === undefined ? '' : `, but "${near}"`}; ${ADVICE}`, foreign: true };
  }
  refuse();
  return { reason: `"tools" must be a list, got ${describe((top as { tools: unknown }).tools)}` }; // the key is there
}

/** File formats for lists of specs. */
export type SpecFormat = 'yaml' | 'json' | 'ndjson';

/** Default size limit of a list in each format. YAML of 5 MB takes seconds to parse. */
export const MAX_BYTES: Readonly<Record<SpecFormat, number>> = {
  yaml: 5_000_000,
  json: 5_000_000,
  ndjson: 50_000_000,
};

const BY_EXTENSION: Readonly<Record<string, SpecFormat>> = {
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.json': 'json',
  '.ndjson': 'ndjson',
};

/** The format by file extension; undefined for other files. */
export function formatOfName(path: string): SpecFormat | undefined {
  return BY_EXTENSION[extname(path).toLowerCase()];
}

const BY_TYPE: readonly (readonly [RegExp, SpecFormat])[] = [
  [/^application\/(x-)?(ndjson|jsonl|jsonlines)$/, 'ndjson'],
  [/^(application|text)\/json$|\+json$/, 'json'],
  [/^(application|text)\/(x-)?yaml$|\+yaml$/, 'yaml'],
];

/** Content types that servers use for unknown files. */
const SAYS_NOTHING = ['', 'text/plain', 'application/octet-stream', 'binary/octet-stream'];

/** The format by `Content-Type`, or by the extension in the address if the type is generic. */
export function formatOfType(contentType: string | undefined, pathname: string): SpecFormat | undefined {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (SAYS_NOTHING.includes(type)) return formatOfName(pathname);
  return BY_TYPE.find(([pattern]) => pattern.test(type))?.[1];
}

/** Text is decoded in parts that fit into the CPU cache. */
const PART_BYTES = 65_536;
const LINE_BREAK = 10;

/** Reads one entry per line, as the text arrives. Skips blank lines. */
export function createNdjsonReader(sink: EntrySink): EntryReader {
  let rest: readonly Buffer[] = []; // the start of a line whose end has not arrived
  let line = 1;
  let isText = true;

  const readLines = (bytes: Buffer): void => {
    isText &&= isUtf8(bytes) && !(line === 1 && bytes.includes(0)); // on later lines, a NUL only spoils its line
    if (!isText) return;
    for (let at = 0; at <= bytes.length && !sink.isFull(); ) {
      const lineEnd = bytes.indexOf(LINE_BREAK, at + PART_BYTES);
      const end = lineEnd === -1 ? bytes.length : lineEnd;
      for (const text of bytes.toString('utf8', at, end).split('\n')) readLine(text, line++, sink);
      at = end + 1;
    }
  };
  return {
    take(piece) {
      const first = piece.indexOf(LINE_BREAK);
      const last = piece.lastIndexOf(LINE_BREAK);
      if (first !== -1) readLines(Buffer.concat([...rest, piece.subarray(0, first)]));
      if (first !== last) readLines(piece.subarray(first + 1, last));
      const left = Buffer.from(piece.subarray(last + 1));
      rest = first === -1 ? [...rest, left] : [left];
    },
    end() {
      readLines(Buffer.concat(rest));
      return isText ? undefined : NOT_TEXT;
    },
  };
}

/** The offset of each line end. */
export function lineEndsOf(bytes: Buffer): readonly number[] {
  const ends: number[] = [];
  for (let end = bytes.indexOf(LINE_BREAK); end !== -1; end = bytes.indexOf(LINE_BREAK, end + 1)) ends.push(end);
  ends.push(bytes.length);
  return ends;
}

/** Reads the entry of one line. */
export function readLine(text: string, line: number, sink: EntrySink): void {
  if (text === '') return;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (text.trim() !== '') sink.broken(line, `The line is not JSON: ${error.message}.`);
    return;
  }
  sink.entry(value, line);
}
