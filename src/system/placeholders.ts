import { randomUUID } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  opendirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { ToolcribError } from '../core/tool-error.ts';
import { isAlive } from './processes/process-tree.ts';

/** What every name begins with that is put where nothing may be made for a while. */
const MARK = '.toolcrib-held-';
const MAX_TRIES = 100;

/** True for a folder that only keeps a name from being taken: a reader of files takes it for nothing. */
export function isPlaceholder(path: string): boolean {
  return firstIn(path)?.startsWith(MARK) === true && (namesIn(path) ?? []).every((name) => name.startsWith(MARK));
}

/** True for a file or folder, and not for what only keeps its name. */
export function isThere(path: string): boolean {
  return existsSync(path) && !isPlaceholder(path);
}

/**
 * Keeps a name from being taken while a command runs that could take it: an empty folder stands there, and only what is
 * there can be covered. Returns how to let go; undefined where something is there, or where nothing can be made.
 * Several processes may hold one name; the last that lets go removes the folder.
 */
export function holdPlace(path: string): (() => void) | undefined {
  const mark = `${MARK}${ownNamespace()}-${process.pid}-${randomUUID()}`;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const isFree = attempt(() => lstatSync(path, { throwIfNoEntry: false }), ['ENOTDIR']) === undefined;
    if (!isFree && !isPlaceholder(path)) return undefined;
    const outcome = isFree ? makeFolder(path, mark) : joinFolder(path, mark);
    if (outcome === 'held') return () => letGo(path, mark);
    if (outcome === 'forbidden') return undefined; // for a command that runs as we do as well
  }
  throw new ToolcribError('no_sandbox', 'what it must not make cannot be kept from it');
}

type Outcome = 'held' | 'taken' | 'forbidden';

/** The mark is in the folder before the folder has its name, so that no other process takes it for an empty one. */
function makeFolder(path: string, mark: string): Outcome {
  const folder = attempt(() => mkdtempSync(join(dirname(path), MARK)), ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR']);
  if (folder === undefined) return 'forbidden';
  const isNamed = attempt(() => {
    writeFileSync(join(folder, mark), '');
    renameSync(folder, path);
    return true;
  }, ['EEXIST', 'ENOTEMPTY', 'ENOTDIR']);
  if (isNamed === undefined) rmSync(folder, { recursive: true, force: true });
  return isNamed === undefined ? 'taken' : 'held';
}

/** What it returns; undefined where it fails for one of these reasons. */
function attempt<Made>(make: () => Made, expected: readonly string[]): Made | undefined {
  try {
    return make();
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException; // of the file system
    if (expected.includes(code)) return undefined;
    throw new ToolcribError('no_sandbox', 'what it must not make cannot be kept from it', { cause });
  }
}

function joinFolder(path: string, mark: string): Outcome {
  const isMarked = attempt(() => {
    writeFileSync(join(path, mark), '', { flag: 'wx' });
    return true;
  }, ['ENOENT', 'ENOTDIR']); // it was removed meanwhile
  return isMarked === undefined ? 'taken' : 'held';
}

function letGo(path: string, mark: string): void {
  const left = (namesIn(path) ?? []).filter((name) => name === mark || isLeftBehind(name));
  for (const name of left) rmSync(join(path, name), { force: true });
  try {
    rmdirSync(path);
  } catch {
    // Others hold it, too; or it is gone.
  }
}

/** True for the mark of a process that was killed. Processes of another container cannot be asked. */
function isLeftBehind(name: string): boolean {
  const [namespace, pid] = name.slice(MARK.length).split('-');
  return namespace === ownNamespace() && !isAlive(Number(pid));
}

function ownNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
  } catch {
    return '0'; // no namespaces here
  }
}

/** A large folder need not be read to the end. */
function firstIn(path: string): string | undefined {
  try {
    const folder = opendirSync(path);
    const first = folder.readSync()?.name;
    folder.closeSync();
    return first;
  } catch {
    return undefined; // not a folder, or not there
  }
}

function namesIn(path: string): readonly string[] | undefined {
  try {
    return readdirSync(path);
  } catch {
    return undefined; // not a folder, or not there
  }
}
