import { randomBytes } from 'node:crypto';
import { linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf, messageOf, ToolcribError } from '../core/tool-error.ts';

const TOKEN = 'operator-token';
const AUDIT = 'audit';
const KEY = join(AUDIT, 'key.pem');
/** Checkpoints, and the file that names the origin of their chains. The shorter names are those of earlier versions. */
const CHECKPOINT = /^(?:origin|(?:[0-9a-f]{24}|[0-9a-f]{16})\.[0-9a-z-]+)\.json$/;

/** `kept`: the file stays where it is, and why. */
type Moved = 'moved' | 'absent' | { readonly kept: string };

/**
 * Moves the operator token, the audit key and the checkpoints of the audit from where earlier versions, or a store that
 * the operator moved, kept them.
 * A file is removed only once a whole copy has its name in the other folder, and nothing there is overwritten: a crash
 * in between, or a second process that does the same, loses nothing. Returns what the operator should know.
 */
export function adoptState(from: string, to: string): readonly string[] {
  if (from === to) return [];
  try {
    const moved = new Map<string, Moved>([[TOKEN, moveFile(TOKEN, from, to)]]);
    moved.set(KEY, moveFile(KEY, from, to));
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
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  const draft = `${to}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: true, encoding: 'latin1' });
    linkSync(draft, to);
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause;
    if (readFileSync(to, 'latin1') !== text) return { kept: `another one is in ${toFolder}` };
  } finally {
    rmSync(draft, { force: true });
  }
  rmSync(from, { force: true });
  return 'moved';
}

/** What others could read or replace is not taken over: it may have come with the folder, and be known to its author. */
function readPrivate(path: string): string | undefined | { readonly kept: string } {
  try {
    const found = lstatSync(path);
    if (!found.isFile()) return { kept: 'it is not a file' };
    if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) return { kept: 'others can read it' };
    return readFileSync(path, 'latin1');
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(String(codeOf(cause)))) return undefined;
    throw cause;
  }
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
    // It is gone, or something is left in it.
  }
}

function toWarnings(moved: ReadonlyMap<string, Moved>, from: string, to: string): readonly string[] {
  const left = [...moved].flatMap(([name, result]) => (typeof result === 'string' ? [] : [{ name, ...result }]));
  const isMoved = [...moved.values()].includes('moved');
  return [
    ...(isMoved ? [`The operator token and the audit key were moved from ${from} to ${to}.`] : []),
    ...left.map(({ name, kept }) => `${join(from, name)} was not taken over, because ${kept}; remove it.`),
  ];
}
