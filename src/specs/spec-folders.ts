import { dirname, sep } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { FolderWatch } from '../system/watch.ts';
import { formatOfName, MAX_BYTES, type SpecProblem, type SpecReading } from './entry-collector.ts';
import { hashOf, readPieces, readWhole } from './file-reading.ts';
import type { EntryOptions } from './spec-entry.ts';
import { type FoundFile, scanSpecFiles, type Unreadable } from './spec-files.ts';
import { readByIndex } from './spec-index.ts';
import type { SpecIndexes } from './spec-indexes.ts';
import { describeProblems, keepKnown } from './spec-list.ts';
import { createSpecTextReader, type SpecTextOptions } from './spec-text.ts';

/** The spec files under some paths, in order, and the paths that could not be read. */
export interface SpecFolders {
  readonly files: ReadonlyMap<string, SpecFile>;
  readonly unreadable: readonly Unreadable[];
}

export interface SpecFoldersOptions extends SpecFileOptions {
  readonly roots: readonly string[];
  readonly watch: FolderWatch;
}

/** Reads what changed under the roots since `before`. Files that can no longer be reached stay as they were. */
export async function readSpecFolders(before: SpecFolders, options: SpecFoldersOptions): Promise<SpecFolders> {
  const { roots, watch } = options;
  const folders = new Set<string>();
  const listen = (folder: string) => {
    folders.add(folder);
    watch.listen(folder);
  };
  const scans = await Promise.all(roots.map((root) => scanSpecFiles(root, listen)));
  watch.keepOnly(folders);
  const unreadable = scans.flatMap((scan) => scan.unreadable);
  const files = new Map<string, SpecFile>();
  for (const found of scans.flatMap((scan) => scan.files))
    files.set(found.path, await readSpecFile(found, before.files.get(found.path), options));
  for (const [path, file] of before.files) if (!files.has(path) && isHidden(path, unreadable)) files.set(path, file);
  return { files, unreadable };
}

/** The file and line of a spec. */
export function placeOfSpec({ files }: SpecFolders, spec: ToolSpec): string | undefined {
  for (const [path, { specs, lines }] of files) {
    const index = specs.indexOf(spec);
    if (index !== -1) return index < lines.length ? `${path}, line ${lines[index]}` : path;
  }
  return undefined;
}

function isHidden(path: string, unreadable: readonly Unreadable[]): boolean {
  return unreadable.some((place) => path === place.path || path.startsWith(`${place.path}${sep}`));
}

/** Problems with spec files, by severity. */
export interface FolderTroubles {
  /** Files and folders that could not be read. */
  readonly failures: readonly string[];
  /** True if there are failures, and no file could be read. */
  readonly isDown: boolean;
  /** Invalid entries. */
  readonly leftOut: readonly string[];
  /** Files in spec folders that are not spec files. */
  readonly passedOver: readonly string[];
}

/** The current problems. Files named in `roots` must hold specs; other files may be something else. */
export function troublesOf({ files, unreadable }: SpecFolders, roots: readonly string[]): FolderTroubles {
  const failures = unreadable.map(({ path, reason }) => `${path}: ${reason}.`);
  const passedOver: string[] = [];
  for (const [path, { failure, foreign }] of files) {
    if (failure === undefined) continue;
    if (foreign === true && !roots.includes(path)) passedOver.push(failure);
    else failures.push(failure);
  }
  const isDown = failures.length > 0 && ![...files].some(([path, file]) => isRead(file) && !isHidden(path, unreadable));
  return {
    failures,
    isDown,
    passedOver,
    leftOut: [...files.values()].flatMap((file) => describeProblems(file.problems)),
  };
}

function isRead({ failure }: SpecFile): boolean {
  return failure === undefined;
}

/** The content of a file, as far as it could be read. */
export interface SpecFile {
  readonly found: FoundFile;
  readonly readAt: number;
  readonly hash: string;
  readonly specs: readonly ToolSpec[];
  /** The lines of the first specs, in order. Specs kept from an earlier version of the file have no line. */
  readonly lines: Uint32Array;
  readonly problems: readonly SpecProblem[];
  /** The reason why the file could not be read; `specs` are then those of the last good version. */
  readonly failure?: string;
  /** True if the file never held specs. */
  readonly foreign?: true;
}

interface SpecFileOptions extends Omit<EntryOptions, 'folder' | 'onRefused'> {
  /** Receives refused data and the folder of their file. */
  readonly noteRefused?: ((data: unknown, folder: string) => void) | undefined;
  readonly maxBytes?: number;
  /** `all` also reads files that look unchanged. */
  readonly read: 'changed' | 'all';
  /** The stored indexes of large files. */
  readonly indexes?: SpecIndexes | undefined;
}

/** Smaller files are read faster than a store is opened. */
const INDEXED_BYTES = 1_000_000;

/** Resolution of file times. A file read this soon after a change may have changed again unnoticed. */
const COARSE_MS = 2000;

/** Reads a file, or returns the known result if its content is the same. A file that is broken now keeps its specs. */
export async function readSpecFile(
  found: FoundFile,
  before: SpecFile | undefined,
  { source, readRunText, traitsOf, noteRefused, maxBytes, read, indexes }: SpecFileOptions,
): Promise<SpecFile> {
  const { path } = found;
  const format = formatOfName(path) ?? 'yaml';
  const readAt = Date.now();
  const known = indexes?.isDoubted(path) ? undefined : before;
  if (known !== undefined && read === 'changed' && isUntouched(found, known)) return known;
  const folder = dirname(path);
  const onRefused = (data: unknown) => noteRefused?.(data, folder);
  const text = { source, readRunText, traitsOf, onRefused, format, file: path, folder };
  const options = { ...text, maxBytes: maxBytes ?? MAX_BYTES[format], hashBefore: known?.hash || undefined };
  const isIndexed = indexes !== undefined && format === 'ndjson' && found.bytes >= INDEXED_BYTES;
  const content = isIndexed ? await readIndexedContent(options, indexes) : await readContent(options);
  const old = { found, readAt, specs: known?.specs ?? [], lines: known?.lines ?? new Uint32Array(), problems: [] };
  if (!content.ok) return { ...old, hash: '', failure: `${path}: ${content.reason}.` };
  const { hash, next } = content;
  if (next === undefined) return { ...(known ?? old), found, readAt, hash };
  if (next.ok) {
    const lines = Uint32Array.from(next.entries, ({ line }) => line);
    return { found, readAt, hash, specs: keepKnown(old.specs, next), lines, problems: next.problems };
  }
  const foreign = next.foreign === true && old.specs.length === 0;
  return { ...old, hash, failure: `${path}: ${next.reason}.`, ...(foreign && { foreign }) };
}

function isUntouched(found: FoundFile, { found: before, readAt }: SpecFile): boolean {
  return before.stamp === found.stamp && readAt - before.changedAt > COARSE_MS;
}

/** The content of a file, or the reason why it could not be read. Without `next`, the content is unchanged. */
type FileContent =
  | { readonly ok: true; readonly hash: string; readonly next?: SpecReading }
  | { readonly ok: false; readonly reason: string };

/** The file to read, with its hash if it was read before. */
interface ContentOptions extends SpecTextOptions {
  readonly maxBytes: number;
  readonly hashBefore: string | undefined;
}

/** Reads a file as a stream. */
async function readContent(options: ContentOptions): Promise<FileContent> {
  const { file, maxBytes, hashBefore } = options;
  if (hashBefore !== undefined && hashBefore === (await hashOf(file, maxBytes))) return { ok: true, hash: hashBefore };
  const reader = createSpecTextReader(options);
  const reading = await readPieces(file, maxBytes, reader.take);
  return reading.ok ? { ok: true, hash: reading.hash, next: reader.end() } : reading;
}

/** Lists a large file from its index if the hash matches; otherwise reads it and stores a new index. */
async function readIndexedContent(options: ContentOptions, indexes: SpecIndexes): Promise<FileContent> {
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

/** Reads bytes in pieces and yields to the event loop between them. */
async function readInTurns(bytes: Buffer, options: SpecTextOptions): Promise<SpecReading> {
  const reader = createSpecTextReader(options);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    reader.take(bytes.subarray(at, at + PIECE_BYTES));
    await nextTurn();
  }
  return reader.end();
}
