import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf, messageOf, ToolcribError } from '../core/tool-error.ts';
import { createFolder } from '../system/create-folder.ts';

const TOKEN = 'operator-token';
const AUDIT = 'audit';
const KEY = join(AUDIT, 'key.pem');
/** Checkpoints, and the file that names the origin of their chains. Earlier versions used the shorter names. */
const CHECKPOINT = /^(?:origin|(?:[0-9a-f]{24}|[0-9a-f]{16})\.[0-9a-z-]+)\.json$/;

/** More than any token, key or checkpoint. */
const MAX_BYTES = 65_536;

/** `kept`: the reason why the file stays in its old place. */
type Moved = 'moved' | 'absent' | { readonly kept: string };

/**
 * Moves the operator token, the audit key and the audit checkpoints from the folder of an earlier version, or of a store
 * that the operator moved. A file is removed only after a complete copy exists in the new folder, and nothing there is
 * overwritten. So a crash, or a second process doing the same, loses nothing. Returns warnings for the operator.
 */
export function adoptState(from: string, to: string): readonly string[] {
  if (from === to) return [];
  try {
    const moved = new Map<string, Moved>([[TOKEN, moveFile(TOKEN, from, to)]]);
    moved.set(KEY, isLink(join(from, AUDIT)) ? { kept: 'its folder is a link' } : moveFile(KEY, from, to));
    const hasKey = typeof moved.get(KEY) === 'string';
    for (const name of hasKey ? checkpointsIn(from) : []) moved.set(name, moveFile(name, from, to));
    removeEmpty(join(from, AUDIT));
    return toWarnings(moved, from, to);
  } catch (cause) {
    const message = `The operator token and the audit key could not be moved from ${from} to ${to}: ${messageOf(cause)}. Nothing was lost; make ${to} writable and start again.`;
    throw new ToolcribError('state_not_moved', message, { cause });
  }
}

function moveFile(name: string, fromFolder: string, toFolder: string): Moved {
  const [from, to] = [join(fromFolder, name), join(toFolder, name)];
  const text = readPrivate(from);
  if (text === undefined) return 'absent';
  if (typeof text !== 'string') return text;
  createFolder(dirname(to));
  const draft = `${to}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: true, encoding: 'latin1' });
    linkSync(draft, to);
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause;
    if (readFileSync(to, 'latin1') !== text) return { kept: `${toFolder} has a different one` };
  } finally {
    rmSync(draft, { force: true });
  }
  rmSync(from, { force: true });
  return 'moved';
}

/** A file that other users can read or own is not moved: it may have come with the folder, and its author may know it. */
function readPrivate(path: string): string | undefined | { readonly kept: string } {
  let file: number | undefined;
  try {
    if (!lstatSync(path).isFile()) return { kept: 'it is not a regular file' };
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)); // it may have been replaced meanwhile
    const found = fstatSync(file);
    if (!found.isFile()) return { kept: 'it is not a regular file' };
    if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) return { kept: 'other users can read it' };
    if (process.platform !== 'win32' && found.uid !== process.getuid?.()) return { kept: 'it belongs to another user' };
    if (found.size > MAX_BYTES) return { kept: 'it is too large' };
    return readFileSync(file, 'latin1');
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(String(codeOf(cause)))) return undefined;
    throw cause;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** True for a link in the place of the folder of the key: it may lead to the key of another configuration. */
function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function checkpointsIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(join(folder, AUDIT)).filter((name) => CHECKPOINT.test(name));
    return names.map((name) => join(AUDIT, name));
  } catch {
    return [];
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The folder is gone, or not empty.
  }
}

function toWarnings(moved: ReadonlyMap<string, Moved>, from: string, to: string): readonly string[] {
  const left = [...moved].flatMap(([name, result]) => (typeof result === 'string' ? [] : [{ name, ...result }]));
  const isMoved = [...moved.values()].includes('moved');
  return [
    ...(isMoved ? [`The operator token and the audit key were moved from ${from} to ${to}.`] : []),
    ...left.map(({ name, kept }) => `${join(from, name)} was not moved, because ${kept}. Remove it.`),
  ];
}
