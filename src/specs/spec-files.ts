import type { Dirent, Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../core/tool-error.ts';
import { formatOfName } from './entry-collector.ts';

/** A file that may hold specs. */
export interface FoundFile {
  readonly path: string;
  /** A fingerprint that changes with the file, as far as the file system can tell. */
  readonly stamp: string;
  /** Milliseconds since 1970. */
  readonly changedAt: number;
  readonly bytes: number;
}

/** A file or folder that could not be read, and the reason. */
export interface Unreadable {
  readonly path: string;
  readonly reason: string;
}

/** The result of scanning a path, sorted by name. */
export interface SpecScan {
  readonly files: readonly FoundFile[];
  readonly unreadable: readonly Unreadable[];
}

type Listen = (folder: string) => void;

const MAX_FOLDERS = 10_000;

/** Finds the spec files in a folder and its subfolders, or the single file at `root`. Calls `listen` for each folder before it is read. */
export async function scanSpecFiles(root: string, listen: Listen): Promise<SpecScan> {
  const stats = await lookAndListen(root, listen);
  if (stats === undefined)
    return refused(root, `it does not exist, or cannot be accessed${/[*?]/.test(root) ? PATTERN : ''}`);
  if (stats.isDirectory()) return scanFolder(root, listen);
  if (!stats.isFile()) return refused(root, 'it is not a regular file');
  if (formatOfName(root) === undefined) return refused(root, 'its name must end in .yaml, .yml, .json or .ndjson');
  await listenToTarget(root, listen);
  return { files: [toFound(root, stats)], unreadable: [] };
}

const PATTERN = ' (patterns are not supported); name the folder, or each file';

/** Stats of `root`. Also listens to its folder, or to the nearest folder that exists, to notice when `root` appears or is replaced. */
async function lookAndListen(root: string, listen: Listen): Promise<Stats | undefined> {
  for (let listened = ''; ; ) {
    const nearest = await nearestFolder(dirname(root));
    listen(nearest);
    const stats = await statIfThere(root);
    if (stats !== undefined || nearest === listened) return stats;
    listened = nearest; // once more: the next folder may have appeared before the listener was added
  }
}

async function scanFolder(root: string, listen: Listen): Promise<SpecScan> {
  const files: FoundFile[] = [];
  const unreadable: Unreadable[] = [];
  const seen = new Set<string>();
  let isTooMuch = false;

  const walk = async (folder: string): Promise<void> => {
    const real = await realpath(folder);
    if (seen.has(real)) return; // a link to a folder seen before, possibly a cycle
    seen.add(real);
    isTooMuch = seen.size > MAX_FOLDERS;
    if (isTooMuch) return;
    listen(folder);
    const entries = await readdir(folder, { withFileTypes: true });
    const named = entries.filter(isOfInterest).sort((a, b) => (a.name < b.name ? -1 : 1));
    const looked = await Promise.all(named.map((entry) => look(join(folder, entry.name))));
    for (const { path, stats } of looked) {
      if (stats?.isDirectory()) await attempt(path, walk);
      else if (formatOfName(path) === undefined) continue;
      else if (stats?.isFile()) files.push(toFound(path, stats));
      else unreadable.push({ path, reason: stats === undefined ? 'it is a broken link' : 'it is not a regular file' });
    }
    for (const entry of named) if (entry.isSymbolicLink()) await listenToTarget(join(folder, entry.name), listen);
  };
  const attempt = async (folder: string, read: (folder: string) => Promise<void>): Promise<void> => {
    try {
      await read(folder);
    } catch (cause) {
      unreadable.push({ path: folder, reason: messageOf(cause) });
    }
  };
  await attempt(root, walk);
  if (isTooMuch)
    unreadable.push({
      path: root,
      reason: `it has more than ${MAX_FOLDERS} subfolders, and the rest is skipped; name a smaller folder`,
    });
  return { files, unreadable };
}

async function look(path: string): Promise<{ readonly path: string; readonly stats: Stats | undefined }> {
  return { path, stats: await statIfThere(path) };
}

/** A linked file changes in its own folder, so that folder is watched, too. */
async function listenToTarget(path: string, listen: Listen): Promise<void> {
  if (formatOfName(path) === undefined) return;
  const target = await realpath(path).catch(() => path);
  if (target !== path) listen(dirname(target));
}

async function nearestFolder(folder: string): Promise<string> {
  const stats = await statIfThere(folder);
  return stats?.isDirectory() || folder === dirname(folder) ? folder : nearestFolder(dirname(folder));
}

/** Undefined also for paths without permission and for link cycles. */
async function statIfThere(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}

function isOfInterest({ name }: Dirent): boolean {
  return !name.startsWith('.') && name !== 'node_modules';
}

function toFound(path: string, { dev, ino, size, mtimeMs, ctimeMs }: Stats): FoundFile {
  return {
    path,
    stamp: `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`,
    changedAt: Math.max(mtimeMs, ctimeMs),
    bytes: size,
  };
}

function refused(path: string, reason: string): SpecScan {
  return { files: [], unreadable: [{ path, reason }] };
}
