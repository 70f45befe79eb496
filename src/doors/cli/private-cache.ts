import { createFolder } from '../../system/create-folder.ts';

// Not imported: an import statement reads all exports of a module of Node, which loads a large part of Node.
const fs = process.getBuiltinModule('node:fs');
const { homedir } = process.getBuiltinModule('node:os');
const { isAbsolute, join } = process.getBuiltinModule('node:path');

/**
 * The folder of this package in the user's cache directory; created if absent. Undefined if another user can write to it:
 * its files decide which code runs and which names completion offers.
 */
export function openPrivateCache(): string | undefined {
  const base = [process.env.XDG_CACHE_HOME ?? '', join(homedir(), '.cache')].find((path) => isAbsolute(path));
  if (base === undefined) return undefined;
  const folder = join(base, 'toolcrib');
  createFolder(folder);
  return isPrivate(fs.statSync(folder)) ? folder : undefined;
}

/** True if this user owns the file and no other user can write to it. */
export function isPrivate({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  if (process.getuid === undefined) return true; // Windows: only the user can write to the home folder
  return uid === process.getuid() && (mode & 0o022) === 0;
}

/** Replaces a file atomically: a concurrent reader sees either the old or the new content. */
export function replaceFile(file: string, content: string | Uint8Array): void {
  const draft = `${file}.${process.pid}`;
  try {
    fs.writeFileSync(draft, content, { mode: 0o600 });
    fs.renameSync(draft, file);
  } finally {
    fs.rmSync(draft, { force: true }); // it remains if the disk is full
  }
}

/** The result of work on the cache; undefined if the work throws, for example in a read-only home. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined; // a full disk, or another process was faster: the cache is optional
  }
}
