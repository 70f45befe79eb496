import type { Dirent, Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../core/tool-error.ts';
import { formatOfName } from './entry-collector.ts';

/** A file that may hold specs. */
export interface FoundFile {
  readonly path: string;
  /** Differs, as far as the system can tell, when the file does. */
  readonly stamp: string;
  /** Milliseconds since 1970. */
  readonly changedAt: number;
  readonly bytes: number;
}

/** A file or folder that could not be looked into, and why. */
export interface Unreadable {
  readonly path: string;
  readonly reason: string;
}

/** What was found under a path, in an order that depends on names only. */
export interface SpecScan {
  readonly files: readonly FoundFile[];
  readonly unreadable: readonly Unreadable[];
}

type Listen = (folder: string) => void;

const MAX_FOLDERS = 10_000;

/** Finds the spec files of a folder and those below it, or the one file that `root` is. `listen` hears of each folder before it is read. */
export async function scanSpecFiles(root: string, listen: Listen): Promise<SpecScan> {
  const stats = await lookAndListen(root, listen);
  if (stats === undefined) return refused(root, `there is nothing at this path${/[*?]/.test(root) ? PATTERN : ''}`);
  if (stats.isDirectory()) return scanFolder(root, listen);
  if (!stats.isFile()) return refused(root, 'it is no plain file');
  if (formatOfName(root) === undefined) return refused(root, 'its name ends in none of .yaml, .yml, .json, .ndjson');
  await listenToTarget(root, listen);
  return { files: [toFound(root, stats)], unreadable: [] };
}

const PATTERN = '; it is not read as a pattern: name the folder, or each file';

/** What is at `root`, with an ear where it would appear or be replaced: its folder, or the nearest that exists. */
async function lookAndListen(root: string, listen: Listen): Promise<Stats | undefined> {
  for (let listened = ''; ; ) {
    const nearest = await nearestFolder(dirname(root));
    listen(nearest);
    const stats = await statIfThere(root);
    if (stats !== undefined || nearest === listened) return stats;
    listened = nearest; // again: the next folder may have appeared before anybody listened
  }
}

async function scanFolder(root: string, listen: Listen): Promise<SpecScan> {
  const files: FoundFile[] = [];
  const unreadable: Unreadable[] = [];
  const seen = new Set<string>();
  let isTooMuch = false;

  const walk = async (folder: string): Promise<void> => {
    const real = await realpath(folder);
    if (seen.has(real)) return; // a link to what was seen already, or a circle
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
      else unreadable.push({ path, reason: stats === undefined ? 'it points at nothing' : 'it is no plain file' });
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
    unreadable.push({ path: root, reason: `only ${MAX_FOLDERS} of its folders are read; name a smaller one` });
  return { files, unreadable };
}

async function look(path: string): Promise<{ readonly path: string; readonly stats: Stats | undefined }> {
  return { path, stats: await statIfThere(path) };
}

/** A file behind a link changes in its own folder. */
async function listenToTarget(path: string, listen: Listen): Promise<void> {
  if (formatOfName(path) === undefined) return;
  const target = await realpath(path).catch(() => path);
  if (target !== path) listen(dirname(target));
}

async function nearestFolder(folder: string): Promise<string> {
  const stats = await statIfThere(folder);
  return stats?.isDirectory() || folder === dirname(folder) ? folder : nearestFolder(dirname(folder));
}

/** Nothing, too, for what may not be looked at or goes in circles. */
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
