import { dirname } from 'node:path';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { hashOf, readPieces } from './file-reading.ts';
import type { FoundFile } from './spec-files.ts';
import { formatOfName, MAX_BYTES } from './spec-format.ts';
import { keepKnown } from './spec-list.ts';
import { createSpecTextReader, type SpecProblem } from './spec-text.ts';

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

export interface SpecFileOptions {
  /** The name of the source that its specs bear. */
  readonly source: string;
  readonly maxBytes?: number;
  /** Whether a file that looks untouched is read all the same. */
  readonly read: 'changed' | 'all';
}

/** Times of files can be this coarse: a file that was read so soon after a change may have changed again unnoticed. */
const COARSE_MS = 2000;

/** Reads a file, or answers with what is known if its content is the same. A file that is broken now keeps its specs. */
export async function readSpecFile(
  found: FoundFile,
  before: SpecFile | undefined,
  { source, maxBytes, read }: SpecFileOptions,
): Promise<SpecFile> {
  const { path } = found;
  const format = formatOfName(path) ?? 'yaml';
  const most = maxBytes ?? MAX_BYTES[format];
  const readAt = Date.now();
  if (before !== undefined) {
    if (read === 'changed' && isUntouched(found, before)) return before;
    if (before.hash !== '' && before.hash === (await hashOf(path, most))) return { ...before, found, readAt };
  }
  const old = { found, readAt, specs: before?.specs ?? [], problems: [] };
  const reader = createSpecTextReader({ source, format, file: path, folder: dirname(path) });
  const reading = await readPieces(path, most, reader.take);
  if (!reading.ok) return { ...old, hash: '', failure: `${path}: ${reading.reason}.` };
  const { hash } = reading;
  const next = reader.end();
  if (next.ok) return { found, readAt, hash, specs: keepKnown(old.specs, next), problems: next.problems };
  const foreign = next.foreign === true && old.specs.length === 0;
  return { ...old, hash, failure: `${path}: ${next.reason}.`, ...(foreign && { foreign }) };
}

function isUntouched(found: FoundFile, { found: before, readAt }: SpecFile): boolean {
  return before.stamp === found.stamp && readAt - before.changedAt > COARSE_MS;
}
