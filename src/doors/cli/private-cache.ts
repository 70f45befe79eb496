// Asked for, not imported: an import looks at all that a module of Node exports, which loads a good part of Node.
const fs = process.getBuiltinModule('node:fs');
const { homedir } = process.getBuiltinModule('node:os');
const { isAbsolute, join } = process.getBuiltinModule('node:path');

/**
 * The folder of this package in the user's cache directory; made if it is absent. Undefined where another user could write
 * to it: what lies there decides which code is run, and which names are offered.
 */
export function openPrivateCache(): string | undefined {
  const base = [process.env.XDG_CACHE_HOME ?? '', join(homedir(), '.cache')].find((path) => isAbsolute(path));
  if (base === undefined) return undefined;
  const folder = join(base, 'toolcrib');
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  return isPrivate(fs.statSync(folder)) ? folder : undefined;
}

/** True for what this user owns and no other user can write to. */
export function isPrivate({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  if (process.getuid === undefined) return true; // Windows: a home belongs to its user
  return uid === process.getuid() && (mode & 0o022) === 0;
}

/** Writes a file as a whole: a process that reads meanwhile finds all of it or what was there before. */
export function replaceFile(file: string, content: string | Uint8Array): void {
  const draft = `${file}.${process.pid}`;
  try {
    fs.writeFileSync(draft, content, { mode: 0o600 });
    fs.renameSync(draft, file);
  } finally {
    fs.rmSync(draft, { force: true }); // left where the disk is full
  }
}

/** The result of work on the cache; undefined where it failed, as in a home that cannot be written. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined; // a full disk, a process that was faster: the cache is a convenience
  }
}
