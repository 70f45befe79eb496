import { ToolcribError } from './tool-error.ts';
import { hideLogin } from './visible-text.ts';

/** Returns a shallow copy of an options object; throws for unknown keys. */
export function readOptions<T extends object>(value: unknown, known: readonly (keyof T & string)[], what: string): T {
  if (typeof value !== 'object' || value === null || isList(value)) {
    throw new ToolcribError('invalid_option', `${what} must be an object, got ${describe(value)}.`);
  }
  const copy: Record<string, unknown> = {};
  for (const key of keysOf(value, what)) {
    if (!known.some((name) => name === key)) {
      throw new ToolcribError('unknown_option', `${what} has no "${key}".${didYouMean(key, known)}`);
    }
    const member = readMember(value, key, what);
    if (member !== undefined) copy[key] = member;
  }
  return copy as T; // the keys are checked here, the values by the caller of this function
}

/** `Array.isArray`, which itself throws for a revoked proxy. */
function isList(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** The names of the members; throws a `ToolcribError` if a proxy does not tell them. */
export function keysOf(value: object, what: string): readonly string[] {
  try {
    return Object.keys(value);
  } catch (cause) {
    throw new ToolcribError('invalid_option', `${what} cannot be read.`, { cause });
  }
}

/** Reads one member; throws a `ToolcribError` if a getter throws. */
export function readMember(value: object, key: string, what: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]; // an own key
  } catch (cause) {
    throw new ToolcribError('invalid_option', `"${key}" of ${what} cannot be read: its getter throws.`, { cause });
  }
}

/** Reads one name or a list of names, without duplicates; throws for anything else. */
export function readNameList(value: unknown, what: string): readonly string[] {
  const names: unknown = typeof value === 'string' ? [value] : value;
  if (Array.isArray(names) && Array.from(names).every((name) => typeof name === 'string'))
    return [...new Set<string>(names)];
  throw new ToolcribError('invalid_option', `${what} takes a name or a list of names, got ${describe(value)}.`);
}

/** Describes a value in few words, for error messages. */
export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (isList(value)) return 'a list';
  if (typeof value === 'string') return JSON.stringify(hideLogin(value.length > 40 ? `${value.slice(0, 40)}…` : value));
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'undefined' ? 'nothing' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

/** The known name closest to `name`, if it is close enough to be a typo. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** ` Did you mean "x"?`, or an empty text. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const guess = nearest(name, known);
  return guess === undefined ? '' : ` Did you mean "${guess}"?`;
}

// Restricted Damerau-Levenshtein: two swapped letters count as one mistake.
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = at(previous, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(change, at(previous, j) + 1, at(current, j - 1) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, at(before, j - 2) + 1);
      current.push(cost);
    }
    before = previous;
    previous = current;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

/** The type without `undefined` members: those become optional. */
type Defined<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** Picks these members, or all, without those that are undefined, in the order of the keys. */
export function defined<T extends object, Key extends keyof T = keyof T>(
  from: T,
  keys?: readonly Key[],
): Defined<Pick<T, Key>> {
  const named = keys ?? (Object.keys(from) as Key[]); // all keys
  const kept = named.map((key) => [key, from[key]] as const).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as Defined<Pick<T, Key>>; // only undefined members were removed
}
