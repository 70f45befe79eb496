import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { createFolder } from '../system/create-folder.ts';
import { storeUnavailable, toFailure, toStoreError } from './engines/sql-engine.ts';

/** The environment variables that locate a user's state. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The folders that may hold the state of a configuration. Tools of the crib have no access to them. */
export interface StateFolders {
  /** `.toolcrib` beside the configuration. */
  readonly beside: string;
  /** The fallback in the user's state directory, if `beside` is not writable. */
  readonly users: string;
  /** The name of `users` for the other path to the configuration, with or without links; the same as `users` if there is one path. */
  readonly usersAlias: string;
  /** The user's state directory for all configurations. Operator tokens and audit keys lie in its subfolders. */
  readonly states: string;
}

/** Computes the folders; creates nothing. */
export function stateFolders(configFolder: string, env: Environment): StateFolders {
  const beside = resolve(configFolder, '.toolcrib');
  const states = userStateFolder(env);
  const byPath = join(states, hashOf(resolve(configFolder)));
  const byRealPath = join(states, hashOf(realpathOf(configFolder)));
  const names = [byPath, byRealPath];
  const users = names.find((name) => existsSync(databaseIn(name))) ?? names.find((name) => existsSync(name)) ?? byPath;
  return { beside, users, usersAlias: users === byPath ? byRealPath : byPath, states };
}

/** The database file in a state folder. */
export function databaseIn(folder: string): string {
  return join(folder, 'crib.db');
}

/** The folder of all state of this user. */
export function userStateFolder({ XDG_STATE_HOME, HOME }: Environment): string {
  if (XDG_STATE_HOME !== undefined && isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, 'toolcrib');
  return join(HOME || homedir(), '.local/state/toolcrib');
}

/** Creates the folder if missing. True if files can be read, created and replaced in it. */
export function isWritableFolder(path: string): boolean {
  return obstacleAt(path) === undefined;
}

/** Creates the folder if missing. Returns the error code if the folder is not writable, otherwise undefined. */
export function obstacleAt(path: string): string | undefined {
  try {
    createFolder(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (cause) {
    return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  }
}

/** Prevents keys from being committed by accident. */
export function keepOutOfGit(folder: string): void {
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // The file exists, or the folder is not writable.
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The path without links; unchanged if it does not exist. */
export function realpathOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return resolve(folder);
  }
}

/** A database file, with its identity at the time it was opened. */
export interface DatabaseFile {
  readonly path: string;
  readonly identity: string;
}

/** Creates the folder and the file if missing, readable by the owner only; SQLite gives its other files the same mode. Access of other users, for example after a restore, is removed, because the file contains complete arguments. */
export function createPrivateFile(path: string): DatabaseFile {
  try {
    createFolder(dirname(path));
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) {
      const what = found.isDirectory() ? 'is a folder' : 'is not a file'; // opening a named pipe would block
      throw storeUnavailable(path, `${what}; set store.url to a file`);
    }
    if (found !== undefined && !isDatabase(path))
      throw storeUnavailable(path, 'is not a SQLite database; set store.url to another file');
    closeSync(openSync(path, 'a', 0o600));
    for (const ending of ['', '-wal', '-shm']) takeFromOthers(`${path}${ending}`, ending === '');
    return { path, identity: identityOf(path) };
  } catch (error) {
    if (toFailure(error).code !== 'ENOENT') throw toStoreError(error, path);
    // The folders exist by now, so only a broken link is possible.
    throw storeUnavailable(path, 'is behind a broken link; mount its disk, or remove the link', error);
  }
}

const SQLITE = 'SQLite format 3\0';

/** True for a SQLite database and for an empty file, which becomes one. Any other file stays as it is, with its mode. */
function isDatabase(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const begin = Buffer.alloc(SQLITE.length);
    const length = readSync(file, begin, 0, begin.length, 0);
    return length === 0 || begin.toString('latin1', 0, length) === SQLITE;
  } finally {
    closeSync(file);
  }
}

/** Works only for the owner of a file; modes have no meaning on Windows. A link in place of a file that SQLite creates itself is left alone. */
function takeFromOthers(path: string, mayBeLink: boolean): void {
  const found = (mayBeLink ? statSync : lstatSync)(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink() || found.uid !== process.getuid?.() || (found.mode & 0o077) === 0)
    return;
  chmodSync(path, found.mode & 0o700);
}

/** Throws if the file was removed or replaced: an open database would continue to write to the deleted file. */
export function requireSameFile({ path, identity }: DatabaseFile): void {
  if (identityOf(path) === identity) return;
  throw Object.assign(new Error('replaced'), { code: 'ESTALE' });
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}
