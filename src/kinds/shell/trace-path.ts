import { type BigIntStats, lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, parse, relative, sep } from 'node:path';
import { ToolcribError } from '../../core/tool-error.ts';

/** Where a path leads, and the links that it passes. */
export interface TracedPath {
  /** Absolute and without links; it need not be there. */
  readonly real: string;
  /** Where each link lies, without links in its own folders. */
  readonly links: readonly string[];
  /** How many names were looked at. */
  readonly looks: number;
}

const MAX_LINKS = 40;

/** Follows a path as the system does: `..` leads out of what the links before it lead to. Names that are not there yet stay as they are. */
export function tracePath(path: string, cwd: string): TracedPath {
  const links: string[] = [];
  const whole = isAbsolute(path) ? path : `${cwd}${sep}${path}`;
  const names = namesOf(whole).reverse();
  let real = parse(whole).root;
  let looks = 0;
  let below = 0; // names behind the first one that is missing: what lies there need not be looked at
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

/** Stands for a name that nothing has. */
const MISSING = Symbol('missing');

/** What a link says; undefined for what is not a link. */
function linkAt(path: string): string | typeof MISSING | undefined {
  try {
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status === undefined) return MISSING;
    return status.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException; // of the file system
    if (code === 'ENOTDIR' || code === 'ENOENT') return MISSING; // below a file there is nothing
    throw cause;
  }
}

/** True for the folder itself and for all in it. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** The folders that a path lies in, the nearest first. */
export function foldersAbove(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...foldersAbove(parent)];
}

/** Paths that are known under every name: in other letters, by hard links, and where they are mounted again. */
export interface Places {
  /** True for one of the paths and for everything in it. */
  covers(path: string): boolean;
  /** The same by name alone, which looks at nothing. */
  isNamed(path: string): boolean;
  /** True for a folder that one of the paths lies in. */
  liesBelow(path: string): boolean;
}

/** Makes places of paths without links. They are looked at when they are asked for. */
export function createPlaces(paths: readonly string[]): Places {
  const folded = new Set(paths.map(fold));
  const lengths = [...new Set([...folded].map(({ length }) => length))];
  const above = new Set([...folded].flatMap((path) => [path, ...foldersAbove(path)]));
  let identities: ReadonlySet<string> | undefined;
  const isKnown = (path: string): boolean => {
    identities ??= new Set(paths.flatMap((one) => identityOf(one) ?? []));
    return identitiesOnTheWay(path).some((identity) => identities?.has(identity));
  };
  // A caller may send texts that hold thousands of long paths: none of them may cost much.
  const isNamed = (path: string) => {
    const name = fold(path);
    return lengths.some((length) => isEndOfName(name, length) && folded.has(name.slice(0, length)));
  };
  return {
    isNamed,
    covers: (path) => isNamed(path) || isKnown(path) || isLinkedInto(path, paths),
    liesBelow: (path) => above.has(fold(path)),
  };
}

/** True where the name of a folder, or the path itself, ends behind so many letters. */
function isEndOfName(path: string, length: number): boolean {
  return length === path.length || path[length] === sep || (length < path.length && path[length - 1] === sep);
}

/** The identities of a path and of the folders that it lies in, as far as they are there: below what is missing there is nothing. */
function identitiesOnTheWay(path: string): readonly string[] {
  const found: string[] = [];
  for (let end = 1; end > 0; end = end > path.length ? 0 : path.indexOf(sep, end) + 1 || path.length + 1) {
    const identity = identityOf(path.slice(0, end));
    if (identity === undefined) break;
    found.push(identity);
  }
  return found;
}

/** On some disks letters of either case mean the same file. */
function fold(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** The same for all names of one file or folder; undefined for what is not there. */
function identityOf(path: string): string | undefined {
  const status = statusOf(path, statSync);
  return status === undefined ? undefined : `${status.dev}:${status.ino}`;
}

function statusOf(path: string, look: typeof statSync): BigIntStats | undefined {
  try {
    return look(path, { throwIfNoEntry: false, bigint: true });
  } catch {
    return undefined; // not for us, or below a file
  }
}

/** So many files are looked at; a folder with more of them is not searched to the end. */
const MANY_FILES = 10_000;

/** True for a file of which another name lies in one of the folders; unsure means true. */
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
    return []; // not for us
  }
}
