import { randomBytes } from 'node:crypto';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf } from '../core/tool-error.ts';
import { storeUnavailable } from './engines/sql-engine.ts';
import {
  databaseIn,
  type Environment,
  keepOutOfGit,
  obstacleAt,
  type StateFolders,
  stateFolders,
} from './state-folder.ts';

/** The folder for what must outlive the process; undefined where no place can be written. */
export interface StateFolder {
  readonly path: string | undefined;
  readonly warnings: readonly string[];
}

/** `beside`: in `.toolcrib/` of the configuration; `users`: the fallback in the user's state directory. */
type Place = 'beside' | 'users';

/** The record of the place that was chosen. `begun`: the database was there once. */
interface PlaceRecord {
  readonly place: Place;
  readonly begun: boolean;
}

/** `unknown`: a database may be there, but this process cannot look. It counts as there. */
type Sight = 'there' | 'absent' | 'unknown';

interface Seen {
  readonly folders: StateFolders;
  readonly beside: Sight;
  readonly users: Sight;
  readonly record: PlaceRecord | undefined;
}

const RECORD = 'store-place.json';

/** Only these say that a folder is not for this process to write. Others, such as a full disk, pass; a choice of place does not. */
const NOT_WRITABLE: readonly string[] = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOENT'];

/** False only if there is surely no such file. A link to nothing counts as a file. */
export function mayExist(path: string): boolean {
  return lookFor(path) !== 'absent';
}

/** The folder of the store, or the one where it would be begun; nothing is recorded. */
export function findStateFolder(configFolder: string, env: Environment): StateFolder {
  const seen = lookAround(configFolder, env);
  return toStateFolder(knownPlace(seen) ?? firstPlace(seen.folders), seen);
}

/**
 * The folder of the store, chosen once. Where a database is, no other place is used; where one was, none but that.
 * Only a configuration without either gets a place by what can be written now. The choice is recorded before the
 * database is made, so that of processes that start at once the first one chooses for all.
 */
export function settleStateFolder(configFolder: string, env: Environment): StateFolder {
  const seen = lookAround(configFolder, env);
  const known = knownPlace(seen);
  if (known !== undefined) return isGone(seen) ? replaceGone(known, seen) : toStateFolder(known, seen);
  const first = firstPlace(seen.folders);
  return toStateFolder(first === undefined ? undefined : recordFirst(first, configFolder, seen.folders), seen);
}

/** Records that the database in the folder was opened, unless that is on record. */
export function recordBegun(folder: string, configFolder: string, env: Environment): void {
  const { folders, record } = lookAround(configFolder, env);
  const place = folder === folders.beside ? 'beside' : 'users';
  if (record?.place === place && record.begun) return;
  try {
    writeRecord({ place, begun: true }, configFolder, folders);
  } catch {
    // Without a state directory the database alone says where the store is.
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

/** True if the path, or the nearest folder above it that has an entry, is a link to nothing: a disk may not be mounted. */
function isBehindBrokenLink(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return dirname(path) !== path && isBehindBrokenLink(dirname(path));
  return found.isSymbolicLink() && !existsSync(path);
}

/** The place that was chosen before. The record decides between two databases, and where there is none. */
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

/** A database that was removed is begun anew in its place, and that is said; never in another place. */
function replaceGone(place: Place, seen: Seen): StateFolder {
  const folder = seen.folders[place];
  const file = databaseIn(folder);
  const record = join(seen.folders.users, RECORD);
  const what = 'is not there, though the store of this configuration was begun in that place';
  if (obstacleAt(folder) !== undefined) {
    const remedy = `Restore it, or mount its disk. If it was given up on purpose, remove ${record}`;
    throw storeUnavailable(file, `${what}, and its folder cannot be written. ${remedy}`);
  }
  const { path, warnings } = toStateFolder(place, seen);
  const gone = `The store ${file} ${what}. It was removed, or its disk is not mounted. A new, empty store is begun.`;
  return { path, warnings: [gone, ...warnings] };
}

function toStateFolder(place: Place | undefined, { folders, beside, users }: Seen): StateFolder {
  if (place === undefined) {
    const warning = `Neither ${folders.beside} nor ${folders.users} can be written, so nothing outlives this process; make one writable or set store.url.`;
    return { path: undefined, warnings: [warning] };
  }
  const path = folders[place];
  const other = folders[place === 'beside' ? 'users' : 'beside'];
  const isTwice = beside === 'there' && users === 'there';
  const twice = `There are two stores of this configuration. Only ${databaseIn(path)} is used; move ${databaseIn(other)} away.`;
  if (place === 'users') return { path, warnings: [describeFallback(folders), ...(isTwice ? [twice] : [])] };
  if (obstacleAt(path) === undefined) keepOutOfGit(path);
  return { path, warnings: isTwice ? [twice] : [] };
}

function describeFallback({ beside, users }: StateFolders): string {
  return obstacleAt(beside) === undefined
    ? `The store was begun in ${users} while ${beside} could not be written, and stays there.`
    : `${beside} cannot be written, so state is kept in ${users} and stays there.`;
}

function readRecord({ users }: StateFolders): PlaceRecord | undefined {
  try {
    const { place, begun }: Partial<PlaceRecord> = JSON.parse(readFileSync(join(users, RECORD), 'utf8'));
    return place === 'beside' || place === 'users' ? { place, begun: begun === true } : undefined;
  } catch {
    return undefined;
  }
}

/** Records the place unless another process was first; returns the place on record. One that cannot be read may name another place, so none is used. */
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
      `is not begun, since the chosen place cannot be read. ${remedy}`,
      cause,
    );
  }
}

/** Readers see a whole record. One that says nothing but a choice never replaces another. */
function writeRecord(record: PlaceRecord, configFolder: string, { users, usersAlias }: StateFolders): void {
  mkdirSync(users, { recursive: true, mode: 0o700 });
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

/** A configuration that is reached by another path finds the same folder. */
function linkFolder(folder: string, name: string): void {
  if (folder === name) return;
  try {
    symlinkSync(basename(folder), name);
  } catch {
    // The name is taken, or links cannot be made here: each path has a folder of its own then.
  }
}
