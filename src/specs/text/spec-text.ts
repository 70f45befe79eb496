import { isUtf8 } from 'node:buffer';
import { createEntryReader, type EntryOptions } from '../spec-entry.ts';
import { createEntryCollector, type SpecReading } from './entry-collector.ts';
import type { SpecFormat } from './spec-format.ts';
import { readJsonEntries } from './spec-json.ts';
import { createNdjsonReader } from './spec-ndjson.ts';
import { type EntryReader, type EntrySink, NOT_TEXT, type NoList } from './spec-sink.ts';
import { readYamlEntries } from './spec-yaml.ts';

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

/** Reads a whole text. */
export function readSpecText(bytes: Uint8Array, options: SpecTextOptions): SpecReading {
  const reader = createSpecTextReader(options);
  reader.take(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return reader.end();
}

/** Reads a list of specs as its bytes come in. */
export function createSpecTextReader(options: SpecTextOptions): SpecTextReader {
  const collector = createEntryCollector(options.file, createEntryReader(options));
  const reader = createReader(options.format, collector);
  let isEmpty = true;
  return {
    take(piece) {
      reader.take(isEmpty ? piece.subarray(markLength(piece)) : piece);
      isEmpty &&= piece.length === 0;
    },
    end() {
      if (isEmpty) return { ok: false, reason: 'it is empty; a list without tools is written "tools: []"' };
      const failure = reader.end();
      return failure === undefined ? collector.reading() : { ok: false, ...failure };
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

/** How many of the first bytes only say that the rest is UTF-8. */
export function markLength(bytes: Buffer): 0 | 3 {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}
