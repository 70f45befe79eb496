import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { storeUnavailable, toFailure, toStoreError } from './engines/sql-engine.ts';

/** The variables of the environment that say where a user's state is. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The folders in which the state of a configuration may lie. All of them are kept from the tools of the crib. */
export interface StateFolders {
  /** The folder beside the configuration. */
  readonly beside: string;
  /** The folder in the user's state directory that stands in for `beside` where that cannot be written. */
  readonly users: string;
  /** The name that `users` has by another path to the configuration, with links or without; `users` if there is one path only. */
  readonly usersAlias: string;
  /** The user's state directory of all configurations: operator tokens and audit keys lie in its folders. */
  readonly states: string;
}

/** The places it may be; makes nothing. */
export function stateFolders(configFolder: string, env: Environment): StateFolders {
  const beside = resolve(configFolder, '.toolcrib');
  const states = userStateFolder(env);
  const byPath = join(states, hashOf(resolve(configFolder)));
  const byRealPath = join(states, hashOf(realpathOf(configFolder)));
  const names = [byPath, byRealPath];
  const users = names.find((name) => existsSync(databaseIn(name))) ?? names.find((name) => existsSync(name)) ?? byPath;
  return { beside, users, usersAlias: users === byPath ? byRealPath : byPath, states };
}

/** The file of the store in a state folder. */
export function databaseIn(folder: string): string {
  return join(folder, 'crib.db');
}

function userStateFolder({ XDG_STATE_HOME, HOME }: Environment): string {
  if (XDG_STATE_HOME !== undefined && isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, 'toolcrib');
  return join(HOME || homedir(), '.local/state/toolcrib');
}

/** Makes the folder if it is missing; true if files can be read, made and replaced in it. */
export function isWritableFolder(path: string): boolean {
  return obstacleAt(path) === undefined;
}

/** Makes the folder if it is missing; the code of the error that keeps files from being made in it, undefined if none does. */
export function obstacleAt(path: string): string | undefined {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (cause) {
    return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  }
}

/** A folder that holds keys beside sources must not be committed by accident. */
export function keepOutOfGit(folder: string): void {
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // It is there already, or the folder cannot be written.
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The path without links; as it is given if it leads nowhere. */
export function realpathOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return resolve(folder);
  }
}

/** A file of ours, and which one it was when it was opened. */
export interface DatabaseFile {
  readonly path: string;
  readonly identity: string;
}

/** Makes the folder and the file if they are missing, for their owner only from the first moment; SQLite gives its other files the same mode. A file that others could read, such as one from a backup, is taken from them: it holds whole arguments. */
export function createPrivateFile(path: string): DatabaseFile {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) {
      const what = found.isDirectory() ? 'is a folder' : 'is not a file'; // opening a pipe would wait for ever
      throw storeUnavailable(path, `${what}; name a file under store.url`);
    }
    closeSync(openSync(path, 'a', 0o600));
    for (const ending of ['', '-wal', '-shm']) takeFromOthers(`${path}${ending}`);
    return { path, identity: identityOf(path) };
  } catch (error) {
    if (toFailure(error).code !== 'ENOENT') throw toStoreError(error, path);
    // Folders are made on the way, so that only a link can lead to nothing.
    throw storeUnavailable(path, 'lies behind a link to nothing; mount its disk, or remove the link', error);
  }
}

/** Only the owner of a file can do this; on Windows modes say nothing. */
function takeFromOthers(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.uid !== process.getuid?.() || (found.mode & 0o077) === 0) return;
  chmodSync(path, found.mode & 0o700);
}

/** Throws if the file was removed or replaced: an open database would go on writing into what nobody can see any more. */
export function requireSameFile({ path, identity }: DatabaseFile): void {
  if (identityOf(path) === identity) return;
  throw Object.assign(new Error('replaced'), { code: 'ESTALE' });
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}
