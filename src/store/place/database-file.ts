import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { storeUnavailable, toFailure, toStoreError } from '../store-errors.ts';

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
