import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import type { FormerFolder, PrivateFolder } from '../core/ports/crib-context.ts';
import { codeOf, ToolcribError } from '../core/tool-error.ts';
import { adoptState } from './adopt-state.ts';
import type { EngineOptions } from './engines/open-engine.ts';
import {
  databaseIn,
  type Environment,
  isWritableFolder,
  keepOutOfGit,
  realpathOf,
  type StateFolders,
  stateFolders,
  userStateFolder,
} from './state-folder.ts';
import { findStateFolder, mayExist } from './store-place.ts';
import { isMemoryUrl, sqliteFileOf } from './store-url.ts';

const ID_FILE = 'id';
/** The file in a private folder that names the folder of its configuration. It is written last: once it exists, nothing is moved any more. */
const HOME_FILE = 'configuration';
const ID = /^[0-9a-f]{32}$/;
const ID_BYTES = 33; // including the line feed
/** Limit for chains of copies: each copy of a copy adds one id. */
const MAX_COPIES = 100;

/**
 * Finds the folder for the secrets of a crib. It lies in the user's state directory and is named by the id beside the
 * configuration, so that a renamed configuration keeps its secrets. Without an id, the hash of the path names the folder.
 * If the state directory is not writable, the fallback is the folder beside the configuration.
 */
export function findPrivateFolder(configFolder: string, env: Environment): PrivateFolder {
  const folders = stateFolders(configFolder, env);
  const { beside, states } = folders;
  // Keys and checkpoints stay with a store in the user's state directory; a new id would separate them.
  const mayMakeId = () => findStateFolder(configFolder, env).path !== folders.users;
  const found = isWritableFolder(states) ? openFolder(folders, realpathOf(configFolder), mayMakeId) : undefined;
  if (found !== undefined) return found;
  if (isWritableFolder(beside)) {
    keepOutOfGit(beside);
    const warning = `${states} is not writable, so the operator token and the audit key are kept in ${beside}, where programs that work in this folder may read them. Set XDG_STATE_HOME to a writable folder, or set TOOLCRIB_OPERATOR_TOKEN_FILE and extensions.audit.key.`;
    return { path: beside, warnings: [warning] };
  }
  const warning = `Neither ${states} nor ${beside} is writable, so the operator token is lost when this process ends. Set XDG_STATE_HOME to a writable folder, or set TOOLCRIB_OPERATOR_TOKEN_FILE.`;
  return { path: undefined, warnings: [warning] };
}

function openFolder(folders: StateFolders, home: string, mayMakeId: () => boolean): PrivateFolder | undefined {
  const { beside, users, states } = folders;
  const warnings: string[] = [];
  let id = readId(beside) ?? (mayMakeId() ? keepId(beside) : undefined);
  warnings.push(...lostFolders(states, home, id));
  for (let copies = 0; id !== undefined && copies < MAX_COPIES; copies++) {
    const path = join(states, id);
    if (!isWritableFolder(path)) return undefined;
    const before = readHome(path);
    if (before === undefined) warnings.push(...[beside, users].flatMap((from) => adoptState(from, path)));
    if (before === undefined || before === home || !isCopy(before, beside, id)) {
      if (before !== home) writeWhole(join(path, HOME_FILE), home);
      return { path, warnings };
    }
    warnings.push(
      `${beside} is a copy of ${before}/.toolcrib, so it gets its own operator token and audit key. Audit rows in the copied store are signed by the key of ${before}: list that key in extensions.audit.trustedKeys.`,
    );
    id = replaceId(beside, idOfCopy(id, home));
  }
  return isWritableFolder(users) ? { path: users, warnings } : undefined;
}

/** Warns if this configuration had another id with an audit log. Otherwise a program that removes the id would leave no trace. */
function lostFolders(states: string, home: string, id: string | undefined): readonly string[] {
  const lost = foldersOf(states, home, id).filter((name) => existsSync(join(states, name, 'audit/key.pem')));
  return lost.map(
    (name) =>
      `${join(states, name)} has an audit key and checkpoints of this configuration under another id. They are not used, because ${join(home, '.toolcrib', ID_FILE)} was removed or changed. If a program did that, write ${name} into that file and run audit verify. If you created the configuration anew, move that folder out of ${states}. If you moved the older configuration, open it once in its new place.`,
  );
}

/** The private folders that this configuration had under earlier ids. */
export function findFormerFolders(configFolder: string, env: Environment): readonly FormerFolder[] {
  const { beside, states } = stateFolders(configFolder, env);
  const names = foldersOf(states, realpathOf(configFolder), readId(beside));
  return names.map((name) => ({ path: join(states, name), idFile: join(beside, ID_FILE) }));
}

/** The names of the folders that belong to the configuration at `home`, except the one with this id. */
function foldersOf(states: string, home: string, id: string | undefined): readonly string[] {
  return namesIn(states).filter((name) => ID.test(name) && name !== id && readHome(join(states, name)) === home);
}

/** Empty if the folder does not exist or cannot be read: then no keys were ever kept there. */
function namesIn(states: string): readonly string[] {
  try {
    return readdirSync(states);
  } catch {
    return [];
  }
}

/** The id beside the configuration; undefined if there is none. A tool may have written the file, so only the exact format is accepted. */
function readId(beside: string): string | undefined {
  const path = join(beside, ID_FILE);
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)); // without O_NONBLOCK, a named pipe would block
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(String(codeOf(cause)))) return undefined;
    throw unusableId(path, cause);
  }
  try {
    if (!fstatSync(file).isFile()) throw unusableId(path);
    const buffer = Buffer.alloc(ID_BYTES + 1);
    const text = buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0));
    const id = text.endsWith('\n') ? text.slice(0, -1) : text;
    if (!ID.test(id)) throw unusableId(path);
    return id;
  } finally {
    closeSync(file);
  }
}

/** Creates an id. If several processes start at once, the first wins and the others use its id. Undefined if it cannot be written. */
function keepId(beside: string): string | undefined {
  if (!isWritableFolder(beside)) return undefined;
  keepOutOfGit(beside);
  const path = join(beside, ID_FILE);
  const draft = draftOf(path);
  const id = randomBytes(16).toString('hex');
  try {
    writeFileSync(draft, `${id}\n`, { flag: 'wx', mode: 0o600, flush: true });
    linkSync(draft, path);
    return id;
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') return undefined;
    const other = readId(beside);
    if (other === undefined) throw unusableId(path, cause);
    return other;
  } finally {
    rmSync(draft, { force: true });
  }
}

function replaceId(beside: string, id: string): string | undefined {
  try {
    writeWhole(join(beside, ID_FILE), id);
    return id;
  } catch {
    return undefined; // the copy is not writable
  }
}

/** Deterministic, so that all processes that find the same copy choose the same id. */
function idOfCopy(id: string, home: string): string {
  return createHash('sha256').update(`copy\n${id}\n${home}`).digest('hex').slice(0, 32);
}

/** True if the configuration with this id still exists elsewhere, so that this one is a copy of it. */
function isCopy(home: string, beside: string, id: string): boolean {
  const there = join(home, '.toolcrib');
  try {
    if (readId(there) !== id) return false;
    const [theirs, ours] = [statSync(join(there, ID_FILE)), statSync(join(beside, ID_FILE))];
    return theirs.dev !== ours.dev || theirs.ino !== ours.ino; // the same file under two paths is not a copy
  } catch {
    return false; // the other is gone or has changed: this one was renamed
  }
}

function readHome(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, HOME_FILE), 'utf8').trimEnd();
  } catch {
    return undefined;
  }
}

/** Replaces a file atomically. */
function writeWhole(path: string, text: string): void {
  const draft = draftOf(path);
  try {
    writeFileSync(draft, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

function draftOf(path: string): string {
  return `${path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
}

function unusableId(path: string, cause?: unknown): ToolcribError {
  const message = `${path} must be a file with 32 hexadecimal digits, as written by Toolcrib. Restore it from a backup. If you remove it, Toolcrib creates a new id with a new operator token and a new audit key.`;
  return new ToolcribError('invalid_state_id', message, { cause });
}

/** False only if there is certainly no store yet. Opens and creates nothing. */
export function storeExists({ url, configFolder = '.', env }: EngineOptions): boolean {
  if (url !== undefined) {
    const file = sqliteFileOf(url);
    return file === undefined ? !isMemoryUrl(url) : mayExist(resolve(configFolder, file));
  }
  if (!mayExist(userStateFolder(env))) return mayExist(databaseIn(resolve(configFolder, '.toolcrib'))); // without a hash, which takes time to load
  const { beside, users } = stateFolders(configFolder, env);
  return [beside, users].some((folder) => mayExist(databaseIn(folder)));
}
