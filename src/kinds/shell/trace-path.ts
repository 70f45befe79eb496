import { type BigIntStats, lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, parse, relative, sep } from 'node:path';
import { ToolcribError } from '../../core/tool-error.ts';

/** The target of a path, and the links on the way. */
export interface TracedPath {
  /** Absolute, without links; it may not exist. */
  readonly real: string;
  /** The location of each link, itself without links. */
  readonly links: readonly string[];
  /** Number of inspected names. */
  readonly looks: number;
}

const MAX_LINKS = 40;

/** Resolves a path as the system does: `..` applies to the target of earlier links. Missing names stay as they are. */
export function tracePath(path: string, cwd: string): TracedPath {
  const links: string[] = [];
  const whole = isAbsolute(path) ? path : `${cwd}${sep}${path}`;
  const names = namesOf(whole).reverse();
  let real = parse(whole).root;
  let looks = 0;
  let below = 0; // names after the first missing one, which need no inspection
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (name === '..') {
      real = dirname(real);
      below = Math.max(0, below - 1);
      continue;
    }
    const next = real.endsWith(sep) ? `${real}${name}` : `${real}${sep}${name}`;
    if (below === 0) looks++;
    const target = below > 0 ? MISSING : linkAt(next);
    if (target === MISSING || target === undefined) {
      real = next;
      if (target === MISSING) below++;
      continue;
    }
    links.push(next);
    if (links.length > MAX_LINKS) throw new ToolcribError('too_many_links', 'a path leads through too many links');
    names.push(...namesOf(target).reverse());
    if (isAbsolute(target)) real = parse(target).root;
  }
  return { real, links, looks };
}

function namesOf(path: string): string[] {
  const { root } = parse(path);
  return path
    .slice(root.length)
    .split(sep)
    .filter((name) => name !== '' && name !== '.');
}

/** Marks a missing name. */
const MISSING = Symbol('missing');

/** The target of a link; undefined if the path is not a link. */
function linkAt(path: string): string | typeof MISSING | undefined {
  try {
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status === undefined) return MISSING;
    return status.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException; // from the file system
    if (code === 'ENOTDIR' || code === 'ENOENT') return MISSING; // a file has no children
    throw cause;
  }
}

/** True for the folder itself and everything in it. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** The folders above a path, nearest first. */
export function foldersAbove(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...foldersAbove(parent)];
}

/** Paths recognized under every name: in another case, through hard links, and at other mount points. */
export interface Places {
  /** True for one of the paths and for everything in it. */
  covers(path: string): boolean;
  /** Like `covers`, by name only, without file system access. */
  isNamed(path: string): boolean;
  /** True for a folder that contains one of the paths. */
  liesBelow(path: string): boolean;
  /** False if no path in this folder that begins with the name can be, contain or lie in one of the paths, by name. */
  mayStartWith(name: string, folder: string): boolean;
}

/** Creates places from resolved paths. The file system is read lazily. */
export function createPlaces(paths: readonly string[]): Places {
  const folded = new Set(paths.map(fold));
  const lengths = [...new Set([...folded].map(({ length }) => length))];
  const above = new Set([...folded].flatMap((path) => [path, ...foldersAbove(path)]));
  let identities: ReadonlySet<string> | undefined;
  const isKnown = (path: string): boolean => {
    identities ??= new Set(paths.flatMap((one) => identityOf(one) ?? []));
    return identitiesOnTheWay(path).some((identity) => identities?.has(identity));
  };
  // A caller may send thousands of long paths, so each must be cheap to check.
  const isNamed = (path: string) => {
    const name = fold(path);
    return lengths.some((length) => isEndOfName(name, length) && folded.has(name.slice(0, length)));
  };
  const starts = new Map<string, ReadonlySet<string>>();
  const startsIn = (folder: string): ReadonlySet<string> => {
    const before = folder === sep ? sep : `${fold(folder)}${sep}`;
    const inside = [...folded].filter((path) => path.startsWith(before));
    return new Set(inside.map((path) => path.slice(before.length).split(sep, 1)[0] ?? ''));
  };
  return {
    isNamed,
    mayStartWith(name, folder) {
      const known = starts.get(folder) ?? startsIn(folder);
      starts.set(folder, known);
      return known.has(fold(name)) || isNamed(folder);
    },
    covers: (path) => isNamed(path) || isKnown(path) || isLinkedInto(path, paths),
    liesBelow: (path) => above.has(fold(path)),
  };
}

/** True if a folder name, or the whole path, ends at this length. */
function isEndOfName(path: string, length: number): boolean {
  return length === path.length || path[length] === sep || (length < path.length && path[length - 1] === sep);
}

/** The identities of a path and the folders above it, up to the first missing name. */
function identitiesOnTheWay(path: string): readonly string[] {
  const found: string[] = [];
  for (let end = 1; end > 0; end = end > path.length ? 0 : path.indexOf(sep, end) + 1 || path.length + 1) {
    const identity = identityOf(path.slice(0, end));
    if (identity === undefined) break;
    found.push(identity);
  }
  return found;
}

/** Some file systems ignore case. */
function fold(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** Equal for all names of one file or folder; undefined if it does not exist. */
function identityOf(path: string): string | undefined {
  const status = statusOf(path, statSync);
  return status === undefined ? undefined : `${status.dev}:${status.ino}`;
}

function statusOf(path: string, look: typeof statSync): BigIntStats | undefined {
  try {
    return look(path, { throwIfNoEntry: false, bigint: true });
  } catch {
    return undefined; // not accessible, or below a file
  }
}

/** Search limit; larger folders are not searched to the end. */
const MANY_FILES = 10_000;

/** True for a file that has another hard link in one of the folders, or may have one. */
function isLinkedInto(path: string, folders: readonly string[]): boolean {
  const status = statusOf(path, statSync);
  if (status === undefined || !status.isFile() || status.nlink < 2n) return false;
  const waiting = [...folders];
  let seen = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (++seen > MANY_FILES) return true;
    const found = statusOf(next, lstatSync);
    if (found?.dev === status.dev && found.ino === status.ino) return true;
    if (found?.isDirectory() === true) waiting.push(...namesIn(next));
  }
  return false;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return []; // not accessible
  }
}
