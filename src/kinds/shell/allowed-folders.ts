import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { HiddenPaths } from '../../config/records.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { createPlaces, isInside, type Places, tracePath } from './trace-path.ts';

/** The folders that a command may use, with links resolved. */
export interface AllowedFolders {
  /** Sorted: a folder comes before those inside it. */
  readonly roots: readonly Root[];
  /** The crib's private paths and its protected paths, under every mount point. */
  readonly hidden: HiddenPaths;
  /** Links on the way to those paths. */
  readonly links: readonly string[];
  /** Private paths of the crib: no command may see them. */
  readonly kept: Places;
  /** Protected paths, which control what the crib runs: no command may change them. */
  readonly fixed: Places;
}

/** A folder that a command may read, and possibly write. */
export interface Root {
  readonly path: string;
  readonly isWritable: boolean;
}

/** A path that may be passed to a program. */
export interface AllowedPath {
  /** Absolute; links in its folders are resolved, its last name is as given. */
  readonly named: string;
  /** The resolved path; it differs if the last name is a link. */
  readonly target: string;
}

/**
 * Resolves the roots; throws for a missing one. All work is synchronous: starting a program waits for its folder in
 * any case, and the time between check and use should be short.
 */
export function findFolders(roots: readonly Root[], hidden: HiddenPaths): AllowedFolders {
  const found = roots.map((root) => ({ ...root, path: findRoot(root.path) }));
  const places = found.map(({ path }) => path);
  const folders = findPaths(hidden.folders, places);
  const files = findPaths(hidden.files, places);
  const readOnly = findPaths(hidden.readOnly, places);
  const kept = createPlaces([...folders.paths, ...files.paths]);
  const fixed = createPlaces(readOnly.paths);
  if (places.some(kept.covers)) throw new ToolcribError('outside_folder', 'one of its folders is private to the crib');
  // A root inside a protected path is never writable.
  const real = found.map((root) => ({ ...root, isWritable: root.isWritable && !fixed.covers(root.path) }));
  // A root that is named twice is writable if one of the two is.
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
      return { real: path, links: [] }; // a path that cannot be inspected keeps its name
    }
  });
  const real = traced.map((path) => path.real);
  return { paths: [...real, ...otherMounts(real, roots)], links: traced.flatMap(({ links }) => links) };
}

function findRoot(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (cause) {
    throw new ToolcribError('missing_folder', `the folder ${path} does not exist`, { cause });
  }
}

/** True if a resolved path lies in an allowed folder and not in a private path. */
function isAllowed(path: string, { roots, kept }: AllowedFolders): boolean {
  return roots.some((root) => isInside(path, root.path)) && !kept.covers(path);
}

/** True if a resolved path lies in a writable folder. */
export function isInWritableRoot(path: string, { roots }: Pick<AllowedFolders, 'roots'>): boolean {
  return roots.findLast((root) => isInside(path, root.path))?.isWritable === true;
}

/**
 * Checks a path for a program. Its last name stays as given, so that removing a named link removes the link itself. If
 * the last name is a link, its target must be allowed, too. Returns undefined for a path that is not allowed.
 */
export function allowPath(path: string, cwd: string, folders: AllowedFolders): AllowedPath | undefined {
  const absolute = resolve(cwd, path);
  const parent = dirname(absolute);
  try {
    const target = tracePath(absolute, cwd).real;
    const named = parent === absolute ? target : join(tracePath(parent, cwd).real, basename(absolute));
    return isAllowed(target, folders) && isAllowed(named, folders) ? { named, target } : undefined;
  } catch {
    return undefined; // a cycle of links, a name that is too long, or a folder without access
  }
}

/** A mounted part of a file system, and its mount point. */
interface Mount {
  readonly device: string;
  /** The mounted part, as a path inside the file system. */
  readonly part: string;
  readonly at: string;
}

/** Other paths inside the folders at which parts of these paths are mounted as well. */
function otherMounts(paths: readonly string[], folders: readonly string[]): readonly string[] {
  const mounts = readMounts();
  const inReach = mounts.filter(({ at }) => folders.some((folder) => isInside(at, folder)));
  if (inReach.length === 0) return [];
  return paths.flatMap((path) => {
    const around = mounts.filter(({ at }) => isInside(path, at));
    const home = around.toSorted((a, b) => a.at.length - b.at.length).at(-1); // of two mounts at one place, the later one is visible
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

/** Decodes octal escapes such as those of spaces. */
function withoutEscapes(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
