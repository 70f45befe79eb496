import { setImmediate as nextTurn } from 'node:timers/promises';
import { hashOf, readPieces, readWhole } from './file-reading.ts';
import { readByIndex } from './index/spec-index.ts';
import type { SpecIndexes } from './index/spec-indexes.ts';
import type { SpecReading } from './text/entry-collector.ts';
import { createSpecTextReader, type SpecTextOptions } from './text/spec-text.ts';

/** What a file says; without `next`, what it said before. Or why it could not be read. */
export type FileContent =
  | { readonly ok: true; readonly hash: string; readonly next?: SpecReading }
  | { readonly ok: false; readonly reason: string };

/** Which file to read, and the hash it had if it was read before. */
export interface ContentOptions extends SpecTextOptions {
  readonly maxBytes: number;
  readonly hashBefore: string | undefined;
}

/** Reads a file as its bytes come in. */
export async function readContent(options: ContentOptions): Promise<FileContent> {
  const { file, maxBytes, hashBefore } = options;
  if (hashBefore !== undefined && hashBefore === (await hashOf(file, maxBytes))) return { ok: true, hash: hashBefore };
  const reader = createSpecTextReader(options);
  const reading = await readPieces(file, maxBytes, reader.take);
  return reading.ok ? { ok: true, hash: reading.hash, next: reader.end() } : reading;
}

/** Lists a large file by its index if one was made of this very content; else reads it and has one made. */
export async function readIndexedContent(options: ContentOptions, indexes: SpecIndexes): Promise<FileContent> {
  const { file, maxBytes, hashBefore } = options;
  const asked = hashBefore === undefined ? indexes.find(file) : undefined;
  const reading = await readWhole(file, maxBytes);
  const stored = await asked;
  if (!reading.ok) return reading;
  const { hash, bytes } = reading;
  if (hash === hashBefore) return { ok: true, hash };
  const how = { ...options, hash, admission: indexes.admission, onDoubt: () => indexes.doubt(file) };
  const listed = stored?.hash === hash ? readByIndex(bytes, stored.text, how) : undefined;
  if (listed !== undefined) return { ok: true, hash, next: listed };
  const next = await readInTurns(bytes, options);
  if (next.ok) indexes.keep({ path: file, hash, bytes, entries: next.entries });
  return { ok: true, hash, next };
}

const PIECE_BYTES = 1 << 20;

/** Reads what is there already, and lets others have their turn meanwhile. */
async function readInTurns(bytes: Buffer, options: SpecTextOptions): Promise<SpecReading> {
  const reader = createSpecTextReader(options);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    reader.take(bytes.subarray(at, at + PIECE_BYTES));
    await nextTurn();
  }
  return reader.end();
}
