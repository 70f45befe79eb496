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

/** The name prefix of the marker files in placeholder folders. */
const MARK = '.toolcrib-held-';
const MAX_TRIES = 100;

/** True for a placeholder folder, which only reserves a name. File readers ignore it. */
export function isPlaceholder(path: string): boolean {
  return firstIn(path)?.startsWith(MARK) === true && (namesIn(path) ?? []).every((name) => name.startsWith(MARK));
}

/** True for a file or folder that is not a placeholder. */
export function isThere(path: string): boolean {
  return existsSync(path) && !isPlaceholder(path);
}

/**
 * Reserves a name while a command runs that could create it. An empty folder is put there, because only what exists can be
 * covered by a mount. Returns a function that releases the name; undefined if something exists there, or if the parent is
 * not writable. Several processes may hold one name; the last one to release it removes the folder.
 */
export function holdPlace(path: string): (() => void) | undefined {
  const mark = `${MARK}${ownNamespace()}-${process.pid}-${randomUUID()}`;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const isFree = attempt(() => lstatSync(path, { throwIfNoEntry: false }), ['ENOTDIR']) === undefined;
    if (!isFree && !isPlaceholder(path)) return undefined;
    const outcome = isFree ? makeFolder(path, mark) : joinFolder(path, mark);
    if (outcome === 'held') return () => letGo(path, mark);
    if (outcome === 'forbidden') return undefined; // the command, which runs as the same user, cannot create it either
  }
  throw new ToolcribError('no_sandbox', 'cannot reserve a name that the command must not create');
}

type Outcome = 'held' | 'taken' | 'forbidden';

/** Puts the marker into the folder before the folder gets its name, so that no other process takes it for an empty one. */
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

/** The result of `make`; undefined if it fails with one of the expected codes. */
function attempt<Made>(make: () => Made, expected: readonly string[]): Made | undefined {
  try {
    return make();
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException; // a file system error
    if (expected.includes(code)) return undefined;
    throw new ToolcribError('no_sandbox', 'cannot reserve a name that the command must not create', { cause });
  }
}

function joinFolder(path: string, mark: string): Outcome {
  const isMarked = attempt(() => {
    writeFileSync(join(path, mark), '', { flag: 'wx' });
    return true;
  }, ['ENOENT', 'ENOTDIR']); // removed meanwhile
  return isMarked === undefined ? 'taken' : 'held';
}

function letGo(path: string, mark: string): void {
  const left = (namesIn(path) ?? []).filter((name) => name === mark || isLeftBehind(name));
  for (const name of left) rmSync(join(path, name), { force: true });
  try {
    rmdirSync(path);
  } catch {
    // Other processes hold it, or it is gone.
  }
}

/** True for the marker of a process that was killed. Processes of other containers cannot be checked. */
function isLeftBehind(name: string): boolean {
  const [namespace, pid] = name.slice(MARK.length).split('-');
  return namespace === ownNamespace() && !isAlive(Number(pid));
}

function ownNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
  } catch {
    return '0'; // no PID namespaces on this system
  }
}

/** The first name in a folder, without reading a large folder to its end. */
function firstIn(path: string): string | undefined {
  try {
    const folder = opendirSync(path);
    const first = folder.readSync()?.name;
    folder.closeSync();
    return first;
  } catch {
    return undefined; // not a folder, or missing
  }
}

function namesIn(path: string): readonly string[] | undefined {
  try {
    return readdirSync(path);
  } catch {
    return undefined; // not a folder, or missing
  }
}
