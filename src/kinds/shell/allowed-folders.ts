import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { HiddenPaths } from '../../config/records.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { createPlaces, isInside, type Places, tracePath } from './trace-path.ts';

/** The folders that a command may use, as they really are. */
export interface AllowedFolders {
  /** Sorted: a folder stands before those in it. */
  readonly roots: readonly Root[];
  /** What the crib keeps for itself, and what no command may change; wherever that is mounted. */
  readonly hidden: HiddenPaths;
  /** The links by which the crib finds those. */
  readonly links: readonly string[];
  /** What the crib keeps for itself. */
  readonly kept: Places;
  /** What decides what the crib runs. */
  readonly fixed: Places;
}

/** A folder that may be read, and perhaps written. */
export interface Root {
  readonly path: string;
  readonly isWritable: boolean;
}

/** A path that a program may be given. */
export interface AllowedPath {
  /** Absolute, its folder without links, its last name as it was given. */
  readonly named: string;
  /** What it leads to, which differs where the last name is a link. */
  readonly target: string;
}

/**
 * The roots that are there, without links; throws for one that is not. Nothing here waits for others:
 * starting a program waits for its folder in any case, and the less time lies between check and use the better.
 */
export function findFolders(roots: readonly Root[], hidden: HiddenPaths): AllowedFolders {
  const found = roots.map((root) => ({ ...root, path: findRoot(root.path) }));
  const places = found.map(({ path }) => path);
  const folders = findPaths(hidden.folders, places);
  const files = findPaths(hidden.files, places);
  const readOnly = findPaths(hidden.readOnly, places);
  const kept = createPlaces([...folders.paths, ...files.paths]);
  const fixed = createPlaces(readOnly.paths);
  if (places.some(kept.covers))
    throw new ToolcribError('outside_folder', 'a folder that it names is one that the crib keeps for itself');
  // What lies in something that no command may change cannot be written, whatever names it.
  const real = found.map((root) => ({ ...root, isWritable: root.isWritable && !fixed.covers(root.path) }));
  // A writable root stays so, also if it is named twice.
  const byPath = new Map(
    real.toSorted((a, b) => Number(a.isWritable) - Number(b.isWritable)).map((root) => [root.path, root]),
  );
  return {
    roots: [...byPath.values()].toSorted((a, b) => a.path.length - b.path.length),
    hidden: { folders: folders.paths, files: files.paths, readOnly: readOnly.paths },
    links: [...folders.links, ...files.links, ...readOnly.links],
    kept,
    fixed,
  };
}

interface FoundPaths {
  readonly paths: readonly string[];
  readonly links: readonly string[];
}

function findPaths(paths: readonly string[], roots: readonly string[]): FoundPaths {
  const traced = paths.map((path) => {
    try {
      return tracePath(path, '/');
    } catch {
      return { real: path, links: [] }; // one that cannot be looked at is known by the name it has
    }
  });
  const real = traced.map((path) => path.real);
  return { paths: [...real, ...otherMounts(real, roots)], links: traced.flatMap(({ links }) => links) };
}

function findRoot(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (cause) {
    throw new ToolcribError('missing_folder', `the folder ${path} is not there`, { cause });
  }
}

/** True if a path without links lies in an allowed folder, and in nothing hidden. */
function isAllowed(path: string, { roots, kept }: AllowedFolders): boolean {
  return roots.some((root) => isInside(path, root.path)) && !kept.covers(path);
}

/** True if a path without links lies in a folder that may be written. */
export function isInWritableRoot(path: string, { roots }: Pick<AllowedFolders, 'roots'>): boolean {
  return roots.findLast((root) => isInside(path, root.path))?.isWritable === true;
}

/**
 * The path that a program may be given: its last name stays as it was given, so that a link which is named is what is
 * removed. Where the last name is a link, what it leads to is allowed as well. Undefined for a path that is not allowed.
 */
export function allowPath(path: string, cwd: string, folders: AllowedFolders): AllowedPath | undefined {
  const absolute = resolve(cwd, path);
  const parent = dirname(absolute);
  try {
    const target = tracePath(absolute, cwd).real;
    const named = parent === absolute ? target : join(tracePath(parent, cwd).real, basename(absolute));
    return isAllowed(target, folders) && isAllowed(named, folders) ? { named, target } : undefined;
  } catch {
    return undefined; // a circle of links, a name that is too long, a folder that is not for us
  }
}

/** A part of a file system, and the folder or file where it is seen. */
interface Mount {
  readonly device: string;
  /** The part, as a path inside the file system. */
  readonly part: string;
  readonly at: string;
}

/** Every other path under which something of these is mounted as well, in one of the folders. */
function otherMounts(paths: readonly string[], folders: readonly string[]): readonly string[] {
  const mounts = readMounts();
  const inReach = mounts.filter(({ at }) => folders.some((folder) => isInside(at, folder)));
  if (inReach.length === 0) return [];
  return paths.flatMap((path) => {
    const around = mounts.filter(({ at }) => isInside(path, at));
    const home = around.toSorted((a, b) => a.at.length - b.at.length).at(-1); // of two at one place the later one is seen
    if (home === undefined) return [];
    const inside = join(home.part, relative(home.at, path));
    const others = inReach.filter(({ device, at }) => device === home.device && at !== home.at);
    return others.flatMap(({ part, at }) => {
      if (isInside(inside, part)) return [join(at, relative(part, inside))];
      return isInside(part, inside) ? [at] : [];
    });
  });
}

function readMounts(): readonly Mount[] {
  if (process.platform !== 'linux') return [];
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, , device, part, at] = line.split(' ');
    return device === undefined || part === undefined || at === undefined
      ? []
      : [{ device, part: withoutEscapes(part), at: withoutEscapes(at) }];
  });
}

/** Spaces and the like are written as octal numbers. */
function withoutEscapes(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
