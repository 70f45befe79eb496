import { dirname } from 'node:path';
import type { ToolSpec } from '../core/tool-spec.ts';
import { readContent, readIndexedContent } from './file-content.ts';
import type { SpecIndexes } from './index/spec-indexes.ts';
import type { EntryOptions } from './spec-entry.ts';
import type { FoundFile } from './spec-files.ts';
import { keepKnown } from './spec-list.ts';
import type { SpecProblem } from './text/entry-collector.ts';
import { formatOfName, MAX_BYTES } from './text/spec-format.ts';

/** What a file holds, as far as it could be read. */
export interface SpecFile {
  readonly found: FoundFile;
  readonly readAt: number;
  readonly hash: string;
  readonly specs: readonly ToolSpec[];
  readonly problems: readonly SpecProblem[];
  /** Why it could not be read at all; then the specs are those of before. */
  readonly failure?: string;
  /** It is something else, and always was. */
  readonly foreign?: true;
}

export interface SpecFileOptions extends Omit<EntryOptions, 'folder'> {
  readonly maxBytes?: number;
  /** Whether a file that looks untouched is read all the same. */
  readonly read: 'changed' | 'all';
  /** Where what is known of large files is kept. */
  readonly indexes?: SpecIndexes | undefined;
}

/** Smaller files are read sooner than a store is opened. */
const INDEXED_BYTES = 1_000_000;

/** Times of files can be this coarse: a file that was read so soon after a change may have changed again unnoticed. */
const COARSE_MS = 2000;

/** Reads a file, or answers with what is known if its content is the same. A file that is broken now keeps its specs. */
export async function readSpecFile(
  found: FoundFile,
  before: SpecFile | undefined,
  { source, readRunText, traitsOf, maxBytes, read, indexes }: SpecFileOptions,
): Promise<SpecFile> {
  const { path } = found;
  const format = formatOfName(path) ?? 'yaml';
  const readAt = Date.now();
  const known = indexes?.isDoubted(path) ? undefined : before;
  if (known !== undefined && read === 'changed' && isUntouched(found, known)) return known;
  const text = { source, readRunText, traitsOf, format, file: path, folder: dirname(path) };
  const options = { ...text, maxBytes: maxBytes ?? MAX_BYTES[format], hashBefore: known?.hash || undefined };
  const isIndexed = indexes !== undefined && format === 'ndjson' && found.bytes >= INDEXED_BYTES;
  const content = isIndexed ? await readIndexedContent(options, indexes) : await readContent(options);
  const old = { found, readAt, specs: known?.specs ?? [], problems: [] };
  if (!content.ok) return { ...old, hash: '', failure: `${path}: ${content.reason}.` };
  const { hash, next } = content;
  if (next === undefined) return { ...(known ?? old), found, readAt, hash };
  if (next.ok) return { found, readAt, hash, specs: keepKnown(old.specs, next), problems: next.problems };
  const foreign = next.foreign === true && old.specs.length === 0;
  return { ...old, hash, failure: `${path}: ${next.reason}.`, ...(foreign && { foreign }) };
}

function isUntouched(found: FoundFile, { found: before, readAt }: SpecFile): boolean {
  return before.stamp === found.stamp && readAt - before.changedAt > COARSE_MS;
}
