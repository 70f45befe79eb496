import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ToolcribError } from '../../core/tool-error.ts';
import type { HiddenPaths } from './shell-ports.ts';

/** The folders that a command may use, as they really are. */
export interface AllowedFolders {
  /** Sorted: a folder stands before those in it. */
  readonly roots: readonly Root[];
  /** What lies in them and is nobody's business. */
  readonly hidden: HiddenPaths;
}

/** A folder that may be read, and perhaps written. */
export interface Root {
  readonly path: string;
  readonly isWritable: boolean;
}

/**
 * The roots that are there, without links; throws for one that is not. Nothing here waits for others:
 * starting a program waits for its folder in any case, and the less time lies between check and use the better.
 */
export function findFolders(roots: readonly Root[], hidden: HiddenPaths): AllowedFolders {
  const real = roots.map((root) => ({ ...root, path: findRoot(root.path) }));
  // A writable root stays so, also if it is named twice.
  const byPath = new Map(
    real.toSorted((a, b) => Number(a.isWritable) - Number(b.isWritable)).map((root) => [root.path, root]),
  );
  const sorted = [...byPath.values()].toSorted((a, b) => a.path.length - b.path.length);
  const [folders, files, readOnly] = [hidden.folders, hidden.files, hidden.readOnly].map((paths) =>
    paths.map(findHidden),
  );
  return { roots: sorted, hidden: { folders: folders ?? [], files: files ?? [], readOnly: readOnly ?? [] } };
}

function findHidden(path: string): string {
  try {
    return followLinks(path);
  } catch {
    return path; // one that cannot be looked at is hidden under the name it has
  }
}

function findRoot(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (cause) {
    throw new ToolcribError('missing_folder', `the folder ${path} is not there`, { cause });
  }
}

/** True if a path without links lies in an allowed folder, and in nothing hidden. */
function isAllowed(path: string, { roots, hidden }: AllowedFolders): boolean {
  return (
    roots.some((root) => isInside(path, root.path)) &&
    ![...hidden.folders, ...hidden.files].some((secret) => isInside(path, secret))
  );
}

/**
 * The path that a program may be given: absolute, its folder without links, its last name as it was given, so that a
 * link which is named is what is removed. Where the last name is a link, what it leads to is allowed as well.
 * Undefined for a path that is not allowed.
 */
export function allowPath(path: string, cwd: string, folders: AllowedFolders): string | undefined {
  const absolute = resolve(cwd, path);
  const parent = dirname(absolute);
  try {
    const target = followLinks(absolute);
    const named = parent === absolute ? target : join(followLinks(parent), basename(absolute));
    return isAllowed(target, folders) && isAllowed(named, folders) ? named : undefined;
  } catch {
    return undefined; // a circle of links, a name that is too long, a folder that is not for us
  }
}

const MAX_LINKS = 40;

/** Where a path leads, also if it is not there yet: the links of what is there are followed. */
function followLinks(path: string, links = 0): string {
  try {
    return realpathSync.native(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException; // of the file system
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw cause;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (!isLink) return join(followLinks(parent, links), basename(path));
  // It leads to what is not there: a program that writes through it would make that.
  if (links >= MAX_LINKS) throw new ToolcribError('too_many_links', 'a path leads through too many links');
  return followLinks(resolve(followLinks(parent, links + 1), readlinkSync(path)), links + 1);
}

/** True for the folder itself and for all in it. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
