import { escapePointer } from './json-pointer.ts';
import { isInstance } from './tool-error.ts';
/** Any value that JSON can carry. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}
/** A JSON Schema as plain data; `$schema` names the dialect. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** A value or a promise of one, so that synchronous code need not wait. */
export type MaybePromise<T> = T | Promise<T>;

/** True for a promise or another thenable. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'; // only the shape matters
}

const MAX_DEPTH = 200;

/** Thrown by `copyJson`; `path` is a JSON pointer to what cannot be copied. */
export class NotJsonError extends Error {
  readonly path: string;
  /** The problem of the value at the path, without the path. */
  readonly what: string;
  constructor(path: string, what: string, options?: { readonly cause?: unknown }) {
    super(`${path === '' ? 'the value' : path} ${what}`, options);
    this.name = 'NotJsonError';
    this.path = path;
    this.what = what;
  }
}

interface Trail {
  readonly value: object;
  readonly key: string;
  readonly up: Trail | undefined;
  readonly depth: number;
  /** Applied to each finished object: nothing, or freezing it. */
  readonly finish: <T>(made: T) => T;
}

/** Copies a value deeply. Drops members that are `undefined`, as JSON does; throws for anything else that is not JSON. */
export function copyJson(value: unknown): JsonValue {
  return copyWith(value, (made) => made);
}

/** Copies a value deeply and freezes the copy. */
export function frozenCopy(value: unknown): JsonValue {
  return copyWith(value, Object.freeze);
}

function copyWith(value: unknown, finish: Trail['finish']): JsonValue {
  try {
    return copyAt(value, '', undefined, finish);
  } catch (cause) {
    if (isInstance(cause, NotJsonError)) throw cause;
    throw new NotJsonError('', 'cannot be read: a getter throws', { cause });
  }
}

function copyAt(value: unknown, key: string, up: Trail | undefined, finish: Trail['finish']): JsonValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value;
      throw new NotJsonError(pointerOf(key, up), `is ${value}, which is not JSON`);
    case 'object':
      return value === null ? null : copyObject(value, { value, key, up, finish, depth: (up?.depth ?? 0) + 1 });
    case 'bigint':
      throw new NotJsonError(pointerOf(key, up), whyInexact(value));
    default:
      throw new NotJsonError(pointerOf(key, up), `is ${article(typeof value)}, which is not JSON`);
  }
}

function copyObject(value: object, here: Trail): JsonValue {
  for (let at = here.up; at !== undefined; at = at.up) {
    if (at.value === value) throw new NotJsonError(pointerOf(here.key, here.up), 'contains itself');
  }
  if (here.depth > MAX_DEPTH) throw new NotJsonError('', `is nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return copyItems(value, here);
  const toJson = (value as { toJSON?: unknown }).toJSON; // Date and URL define their own JSON form
  if (typeof toJson === 'function') return copyAt(toJson.call(value, here.key), here.key, here, here.finish);
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  // A Map or a Set would become an empty object, and its contents would be lost silently.
  if (Symbol.iterator in value) {
    throw new NotJsonError(pointerOf(here.key, here.up), 'is a collection other than a list, which is not JSON');
  }
  return copyMembers(value, here);
}

function copyItems(items: readonly unknown[], here: Trail): JsonValue {
  const copy: JsonValue[] = [];
  for (let index = 0; index < items.length; index++) copy.push(copyAt(items[index], String(index), here, here.finish)); // holes included
  return here.finish(copy);
}

function copyMembers(value: object, here: Trail): JsonValue {
  const copy: Record<string, JsonValue> = {};
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name]; // an own enumerable key
    if (member === undefined) continue;
    if (name === '__proto__') throw new NotJsonError(pointerOf(name, here), 'is not allowed as a name');
    copy[name] = copyAt(member, name, here, here.finish);
  }
  return here.finish(copy);
}

function pointerOf(key: string, up: Trail | undefined): string {
  let path = up === undefined ? '' : `/${escapePointer(key)}`;
  for (let at = up; at?.up !== undefined; at = at.up) path = `/${escapePointer(at.key)}${path}`;
  return path;
}

/** The problem of a BigInt where JSON is expected: in arguments, `parseExact` has kept its digits. */
export function whyInexact(value: bigint): string {
  if (Number.isSafeInteger(Number(value))) return 'is a bigint, which is not JSON';
  const digits = String(value);
  const shown = digits.length > MOST_SHOWN ? `${digits.slice(0, MOST_SHOWN)}…` : digits;
  return `is the integer ${shown}, which a number would round to ${Number(value)}; send it as text`;
}

const MOST_SHOWN = 40;

function article(type: string): string {
  return type === 'undefined' ? type : `a ${type}`;
}

/** True if `value` is plain JSON that can be shown, hashed and sent without changes. */
export function isJson(value: unknown, depth = 0): value is JsonValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object': {
      if (value === null) return true;
      if (depth > MAX_DEPTH) return false;
      if (Array.isArray(value)) return Array.from(value).every((item) => isJson(item, depth + 1)); // holes included
      const prototype = Object.getPrototypeOf(value);
      if (prototype !== Object.prototype && prototype !== null) return false;
      for (const key of Object.keys(value)) {
        if (!isJson((value as Record<string, unknown>)[key], depth + 1)) return false; // an own enumerable key
      }
      return true;
    }
    default:
      return false;
  }
}

/** Freezes plain data deeply, in place. */
export function freezeJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  if (Array.isArray(value)) for (const item of value) freezeJson(item);
  else for (const key of Object.keys(value)) freezeJson((value as Record<string, unknown>)[key]); // an own key
  return value;
}

/** JSON text with sorted keys: equal data gives equal text. */
export function canonicalJson(value: unknown): string {
  const sorted = sortKeys(value);
  return sorted === UNUSUAL ? spellOut(value) : (JSON.stringify(sorted) ?? 'null');
}

/** Marks data that `JSON.stringify` would write differently. */
const UNUSUAL: unique symbol = Symbol('unusual');

/** Sorts keys; data that is already sorted is not copied. One native `JSON.stringify` is far faster than one per member. */
function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint' ? UNUSUAL : value;
  if (Array.isArray(value)) return sortItems(value);
  const prototype = Object.getPrototypeOf(value);
  if ((prototype !== Object.prototype && prototype !== null) || 'toJSON' in value) return UNUSUAL;
  const members = value as Readonly<Record<string, unknown>>; // checked above
  const keys = Object.keys(members);
  const isSorted = keys.every((key, index) => index === 0 || (keys[index - 1] ?? '') < key);
  const copy: Record<string, unknown> = {};
  let isSame = isSorted;
  for (const key of isSorted ? keys : keys.sort()) {
    const code = key.charCodeAt(0);
    if ((code >= 48 && code <= 57) || key === '__proto__') return UNUSUAL; // objects list integer keys first
    const sorted = sortKeys(members[key]);
    if (sorted === UNUSUAL) return UNUSUAL;
    if (sorted !== members[key]) isSame = false;
    copy[key] = sorted;
  }
  return isSame ? value : copy;
}

function sortItems(items: readonly unknown[]): unknown {
  let isSame = true;
  const copy: unknown[] = [];
  for (const item of items) {
    const sorted = sortKeys(item);
    if (sorted === UNUSUAL) return UNUSUAL;
    if (sorted !== item) isSame = false;
    copy.push(sorted);
  }
  return isSame ? items : copy;
}

function spellOut(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spellOut).join(',')}]`;
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${spellOut(member)}`).join(',')}}`;
}

/** True for an object that is not a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True if a JSON value is an object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value);
}
