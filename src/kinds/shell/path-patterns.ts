import { readdirSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { isInside, tracePath } from './trace-path.ts';

/** True for a text that shells and libraries expand to file names, such as `*.txt`, `{a,b}` or `@(a|b)`. */
export function isPattern(text: string): boolean {
  return /[*?[{]|[+@!]\(/.test(text);
}

/** False for a pattern in this folder without a letter or digit, such as `*` and `.*`: texts and expressions contain them. */
export function mayLead(path: string): boolean {
  return path.includes('/') || /[\p{L}\p{N}]/u.test(widened(path));
}

const LISTS = /[?*+@!]\([^()]*\)|\{[^{}]*\}/g;

/** A pattern in this folder with `*` and `?` only, which matches at least the same names. What is not closed, as in texts, is a character. */
function widened(pattern: string): string {
  const classes = pattern.replaceAll('\\', '').replaceAll(/\[[^[\]]+\]/g, '?');
  return classes
    .replaceAll(LISTS, '*')
    .replaceAll(LISTS, '*') // lists in lists
    .replaceAll(/[[{(]/g, '?')
    .replaceAll(/\*+/g, '*');
}

/** True if one of the names fits a pattern in their folder. */
export function fitsOne(pattern: string, names: ReadonlySet<string>): boolean {
  const wide = widened(pattern);
  return [...names].some((name) => fits(name, wide));
}

/** The cost of reading a name, following a match, and comparing it with a place, compared to inspecting a name. */
const [READ, FOLLOW, COMPARE] = [1 / 20, 5, 1 / 100];

/** True for a path with a pattern that may expand to one of the places, to a path inside it or to a folder around it. `spend` limits the patterns of a call: each reads a folder. */
export function mayMatch(
  path: string,
  { cwd, spend }: { readonly cwd: string; spend(names: number): void },
  places: readonly string[],
): boolean {
  if (!isPattern(path) || !mayLead(path)) return false;
  const parts = (path.includes('/') ? path : widened(path)).split('/');
  const first = parts.findIndex(isPattern);
  const base = realOf(parts.slice(0, first).join('/') || (isAbsolute(path) ? '/' : '.'), cwd);
  if (base === undefined) return false;
  const [pattern = '', ...rest] = parts.slice(first).filter((name) => name !== '' && name !== '.');
  // A match may be a link.
  const names = namesAt(base);
  spend(1 + names.length * READ + places.length * COMPARE);
  const matching = names.filter((name) => fits(name, pattern));
  spend(matching.length * (FOLLOW + places.length * COMPARE));
  const found = matching.flatMap((name) => realOf(join(base, name), cwd) ?? []);
  return reaches(base, [pattern, ...rest], places) || found.some((place) => reaches(place, rest, places));
}

function reaches(from: string, patterns: readonly string[], places: readonly string[]): boolean {
  return places.some((place) => {
    if (isInside(from, place)) return true;
    if (!isInside(place, from)) return false;
    const names = relative(from, place).split('/');
    const odd = patterns.findIndex(isOdd);
    return patterns.every((one, at) => at >= names.length || (odd !== -1 && at >= odd) || fits(names[at] ?? '', one));
  });
}

/** True for a pattern that can match several names or leads elsewhere; it is assumed to match. */
function isOdd(pattern: string): boolean {
  return /\*\*|[[{\\]|[?*+@!]\(/.test(pattern) || pattern === '..';
}

/** Matches a name against `*` and `?`, in bounded time for every pattern. */
function fits(name: string, pattern: string): boolean {
  if (isOdd(pattern)) return true;
  let [at, star, retry] = [0, -1, 0];
  for (let index = 0; index < name.length; ) {
    const wanted = pattern[at];
    if (wanted === '*') {
      [star, retry] = [at, index];
      at++;
    } else if (wanted === '?' || wanted?.toLowerCase() === name[index]?.toLowerCase()) {
      at++;
      index++;
    } else if (star === -1) return false;
    else {
      at = star + 1;
      index = ++retry;
    }
  }
  return /^\**$/.test(pattern.slice(at));
}

/** The names in a folder; empty if it cannot be read. */
export function namesAt(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function realOf(path: string, cwd: string): string | undefined {
  try {
    return tracePath(path, cwd).real;
  } catch {
    return undefined; // a program cannot follow it either
  }
}
