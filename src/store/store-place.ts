import { randomBytes } from 'node:crypto';
import {
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf } from '../core/tool-error.ts';
import { createFolder } from '../system/create-folder.ts';
import { storeUnavailable } from './engines/sql-engine.ts';
import {
  databaseIn,
  type Environment,
  keepOutOfGit,
  obstacleAt,
  type StateFolders,
  stateFolders,
} from './state-folder.ts';

/** The folder for persistent state; undefined if no place is writable. */
export interface StateFolder {
  readonly path: string | undefined;
  readonly warnings: readonly string[];
}

/** `beside`: `.toolcrib/` beside the configuration; `users`: the fallback in the user's state directory. */
type Place = 'beside' | 'users';

/** The recorded choice of place. `begun`: a database existed there. */
interface PlaceRecord {
  readonly place: Place;
  readonly begun: boolean;
}

/** `unknown`: this process cannot check. It counts as there. */
type Sight = 'there' | 'absent' | 'unknown';

interface Seen {
  readonly folders: StateFolders;
  readonly beside: Sight;
  readonly users: Sight;
  readonly record: PlaceRecord | undefined;
}

const RECORD = 'store-place.json';

/** Error codes that mean the folder is not writable for this process. Other errors, such as a full disk, are temporary; a choice of place is not. */
const NOT_WRITABLE: readonly string[] = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOENT'];

/** False only if the file certainly does not exist. A broken link counts as a file. */
export function mayExist(path: string): boolean {
  return lookFor(path) !== 'absent';
}

/** The folder of the store, or the one where it would be created. Records nothing. */
export function findStateFolder(configFolder: string, env: Environment): StateFolder {
  const seen = lookAround(configFolder, env);
  return toStateFolder(knownPlace(seen) ?? firstPlace(seen.folders), seen);
}

/**
 * The folder of the store, chosen once. If a database exists, its place is used; if one existed, the same place again. Only
 * a configuration without either gets a place by what is writable now. The choice is recorded before the database is
 * created, so that the first of several processes chooses for all.
 */
export function settleStateFolder(configFolder: string, env: Environment): StateFolder {
  const seen = lookAround(configFolder, env);
  const known = knownPlace(seen);
  if (known !== undefined) return isGone(seen) ? replaceGone(known, seen) : toStateFolder(known, seen);
  const first = firstPlace(seen.folders);
  return toStateFolder(first === undefined ? undefined : recordFirst(first, configFolder, seen.folders), seen);
}

/** Records that the database in the folder was opened, unless already recorded. */
export function recordBegun(folder: string, configFolder: string, env: Environment): void {
  const { folders, record } = lookAround(configFolder, env);
  const place = folder === folders.beside ? 'beside' : 'users';
  if (record?.place === place && record.begun) return;
  try {
    writeRecord({ place, begun: true }, configFolder, folders);
  } catch {
    // Without a record, the database itself shows the place of the store.
  }
}

function lookAround(configFolder: string, env: Environment): Seen {
  const folders = stateFolders(configFolder, env);
  const [beside, users] = [lookFor(databaseIn(folders.beside)), lookFor(databaseIn(folders.users))];
  return { folders, beside, users, record: readRecord(folders) };
}

function lookFor(path: string): Sight {
  try {
    statSync(path);
    return 'there';
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'ENOTDIR') return 'absent';
    return code === 'ENOENT' && !isBehindBrokenLink(path) ? 'absent' : 'unknown';
  }
}

/** True if the path, or its nearest existing parent, is a broken link: a disk may not be mounted. */
function isBehindBrokenLink(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return dirname(path) !== path && isBehindBrokenLink(dirname(path));
  return found.isSymbolicLink() && !existsSync(path);
}

/** The place chosen before. If there are two databases, or none, the record decides. */
function knownPlace({ beside, users, record }: Seen): Place | undefined {
  if (beside === 'absent' && users === 'absent') return record?.place;
  if (beside === 'absent') return 'users';
  return users === 'there' && record?.place === 'users' ? 'users' : 'beside';
}

function isGone({ beside, users, record }: Seen): boolean {
  return beside === 'absent' && users === 'absent' && record?.begun === true;
}

function firstPlace({ beside, users }: StateFolders): Place | undefined {
  const obstacle = obstacleAt(beside);
  if (obstacle === undefined || !NOT_WRITABLE.includes(obstacle)) return 'beside';
  return obstacleAt(users) === undefined ? 'users' : undefined;
}

/** Replaces a removed database in the same place, never in another, and warns. */
function replaceGone(place: Place, seen: Seen): StateFolder {
  const folder = seen.folders[place];
  const file = databaseIn(folder);
  const record = join(seen.folders.users, RECORD);
  const what = 'is missing, although this configuration had a store there';
  if (obstacleAt(folder) !== undefined) {
    const remedy = `Restore it, or mount its disk. If you removed it on purpose, remove ${record}`;
    throw storeUnavailable(file, `${what}, and its folder is not writable. ${remedy}`);
  }
  const { path, warnings } = toStateFolder(place, seen);
  const gone = `The store ${file} ${what}. It was removed, or its disk is not mounted. Toolcrib creates a new, empty store.`;
  return { path, warnings: [gone, ...warnings] };
}

function toStateFolder(place: Place | undefined, { folders, beside, users }: Seen): StateFolder {
  if (place === undefined) {
    const warning = `Neither ${folders.beside} nor ${folders.users} is writable, so all state is lost when this process ends; make one writable or set store.url.`;
    return { path: undefined, warnings: [warning] };
  }
  const path = folders[place];
  const other = folders[place === 'beside' ? 'users' : 'beside'];
  const isTwice = beside === 'there' && users === 'there';
  const twice = `This configuration has two stores. Only ${databaseIn(path)} is used; move ${databaseIn(other)} away.`;
  if (place === 'users') return { path, warnings: [describeFallback(folders), ...(isTwice ? [twice] : [])] };
  if (obstacleAt(path) === undefined) keepOutOfGit(path);
  return { path, warnings: isTwice ? [twice] : [] };
}

function describeFallback({ beside, users }: StateFolders): string {
  return obstacleAt(beside) === undefined
    ? `The store is in ${users}, because ${beside} was not writable when it was created. It stays there.`
    : `${beside} is not writable, so state is kept in ${users}. It stays there.`;
}

function readRecord({ users }: StateFolders): PlaceRecord | undefined {
  try {
    const { place, begun }: Partial<PlaceRecord> = JSON.parse(readFileSync(join(users, RECORD), 'utf8'));
    return place === 'beside' || place === 'users' ? { place, begun: begun === true } : undefined;
  } catch {
    return undefined;
  }
}

/** Records the place, unless another process was first, and returns the recorded place. An unreadable record may name another place, so it is an error. */
function recordFirst(place: Place, configFolder: string, folders: StateFolders): Place {
  try {
    writeRecord({ place, begun: false }, configFolder, folders);
    return place;
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') return place;
    const chosen = readRecord(folders)?.place;
    if (chosen !== undefined) return chosen;
    const record = join(folders.users, RECORD);
    const remedy = `Start the crib as the user that owns ${record}, or remove that file`;
    throw storeUnavailable(
      databaseIn(folders[place]),
      `cannot be created: the recorded choice of place is unreadable. ${remedy}`,
      cause,
    );
  }
}

/** Writes the record atomically. A record that is only a choice never replaces another. */
function writeRecord(record: PlaceRecord, configFolder: string, { users, usersAlias }: StateFolders): void {
  createFolder(users);
  const path = join(users, RECORD);
  const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const text = JSON.stringify({ ...record, configuration: resolve(configFolder) });
    writeFileSync(draft, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
    if (record.begun) renameSync(draft, path);
    else linkSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  linkFolder(users, usersAlias);
}

/** Links the folder, so that the configuration finds it by either path. */
function linkFolder(folder: string, name: string): void {
  if (folder === name) return;
  try {
    symlinkSync(basename(folder), name);
  } catch {
    // The name is taken, or links are not supported: then each path has its own folder.
  }
}
