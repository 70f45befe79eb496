import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, isAbsolute, parse, relative, sep } from 'node:path';
import { ToolcribError } from '../../../core/tool-error.ts';

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
