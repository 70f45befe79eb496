import { isUtf8 } from 'node:buffer';
import { ToolcribError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { createEntryReader, type EntryOptions } from './spec-entry.ts';
import type { SpecFormat } from './spec-format.ts';
import { readJsonEntries } from './spec-json.ts';
import { createNdjsonReader } from './spec-ndjson.ts';
import { type EntryReader, type EntrySink, NOT_TEXT, type NoList } from './spec-sink.ts';
import { readYamlEntries } from './spec-yaml.ts';

/** One spec and where it stands; lines count from 1, places in the list from 0. */
interface SpecEntry {
  readonly spec: ToolSpec;
  readonly line: number;
  readonly index: number;
}

/** An entry that could not be read. */
export interface SpecProblem {
  readonly file: string;
  readonly line: number;
  readonly index: number;
  /** The name it bears, if that much could be read. */
  readonly name?: string;
  readonly message: string;
}

/** What a text holds, or why it holds no list at all. */
export type SpecReading =
  | { readonly ok: true; readonly entries: readonly SpecEntry[]; readonly problems: readonly SpecProblem[] }
  | ({ readonly ok: false } & NoList);

/** What a text is, and where it comes from. */
export interface SpecTextOptions extends EntryOptions {
  readonly format: SpecFormat;
  /** Named in problems. */
  readonly file: string;
}

/** A list of specs that is being read. */
export interface SpecTextReader {
  /** Takes the next bytes; they may be overwritten afterwards. */
  take(piece: Buffer): void;
  end(): SpecReading;
}

/** With more than that, it is not entries that are wrong but the file. */
const MAX_PROBLEMS = 1000;

/** Reads a whole text. */
export function readSpecText(bytes: Uint8Array, options: SpecTextOptions): SpecReading {
  const reader = createSpecTextReader(options);
  reader.take(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return reader.end();
}

/** Reads a list of specs as its bytes come in. A bad entry is a problem with its place, and the others are read. */
export function createSpecTextReader(options: SpecTextOptions): SpecTextReader {
  const { file, format } = options;
  const read = createEntryReader(options);
  const entries: SpecEntry[] = [];
  const problems: SpecProblem[] = [];
  let index = 0;
  let isEmpty = true;
  const reader = createReader(format, {
    isFull: () => problems.length > MAX_PROBLEMS,
    entry(value, line) {
      const place = index++;
      try {
        entries.push({ spec: read(value), line, index: place });
      } catch (cause) {
        if (!(cause instanceof ToolcribError)) throw cause;
        problems.push({ file, line, index: place, ...nameIn(value), message: cause.message });
      }
    },
    broken: (line, message) => void problems.push({ file, line, index: index++, message }),
  });
  return {
    take(piece) {
      reader.take(isEmpty ? withoutMark(piece) : piece);
      isEmpty &&= piece.length === 0;
    },
    end() {
      if (isEmpty) return { ok: false, reason: 'it is empty; a list without tools is written "tools: []"' };
      const failure = reader.end();
      if (failure !== undefined) return { ok: false, ...failure };
      if (problems.length <= MAX_PROBLEMS) return { ok: true, entries, problems };
      return {
        ok: false,
        reason: `more than ${MAX_PROBLEMS} entries cannot be read; the first: ${problems[0]?.message}`,
      };
    },
  };
}

function createReader(format: SpecFormat, sink: EntrySink): EntryReader {
  switch (format) {
    case 'ndjson':
      return createNdjsonReader(sink);
    case 'json':
      return whole((text) => readJsonEntries(text, sink));
    case 'yaml':
      return whole((text) => readYamlEntries(text, sink));
  }
}

function whole(read: (text: string) => NoList | undefined): EntryReader {
  const pieces: Buffer[] = [];
  return {
    take: (piece) => void pieces.push(Buffer.from(piece)),
    end() {
      const bytes = Buffer.concat(pieces);
      return isUtf8(bytes) && !bytes.includes(0) ? read(bytes.toString()) : NOT_TEXT;
    },
  };
}

function nameIn(value: unknown): { readonly name?: string } {
  const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined;
  return typeof name === 'string' ? { name } : {};
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
