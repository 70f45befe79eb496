import { randomUUID } from 'node:crypto';
import { whyInexact } from '../core/json.ts';
import { escapePointer } from '../core/json-pointer.ts';
import type { Issue } from '../core/tool-error.ts';

/** JSON from a caller, and the first integers in it that a number would round. In the value each is a BigInt, which a call refuses. */
export interface ExactJson {
  readonly value: unknown;
  readonly inexact: readonly Issue[];
}

/** A caller can write any number of them, below names of any length. */
const MOST_ISSUES = 20;
const LONGEST_PATH = 300;

/** Every shorter integer is exact. */
const LONG_RUN = 16;
const NO_ISSUES: readonly Issue[] = Object.freeze([]);

/** Parses JSON from a caller without rounding integers; those inside of the member `except` are not listed. Throws like `JSON.parse`. */
export function parseExact(text: string, except: readonly string[] = []): ExactJson {
  const value: unknown = JSON.parse(text);
  if (!hasLongRun(text)) return { value, inexact: NO_ISSUES };
  const mark = randomUUID();
  const marked = withMarks(text, mark);
  if (marked === undefined) return { value, inexact: NO_ISSUES };
  const found: Issue[] = [];
  try {
    return { value: restore(JSON.parse(marked), { mark, except, found, keys: [] }), inexact: found };
  } catch (cause) {
    if (cause instanceof RangeError) throw new SyntaxError('The JSON is nested too deeply.', { cause });
    throw cause;
  }
}

/**
 * The text of valid JSON with a marked text in the place of each integer that would be rounded; undefined if there is
 * none. Reading every value by a function, as `JSON.parse` allows, would take fifty times as long for large bodies.
 */
function withMarks(text: string, mark: string): string | undefined {
  const parts: string[] = [];
  let taken = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    if (code !== MINUS && !isDigit(code)) continue;
    const begin = at;
    while (isOfNumber(text.charCodeAt(at + 1))) at++;
    const source = at + 1 - begin < LONG_RUN ? '' : text.slice(begin, at + 1);
    if (source === '' || typeof exactNumber(source) !== 'bigint') continue;
    parts.push(text.slice(taken, begin), `"${mark}${source}"`);
    taken = at + 1;
  }
  return parts.length === 0 ? undefined : parts.join('') + text.slice(taken);
}

const QUOTE = 34;
const BACKSLASH = 92;
const MINUS = 45;

/** The place of the quote that ends the text which begins here. */
function endOfText(text: string, begin: number): number {
  let end = text.indexOf('"', begin + 1);
  for (; end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

/** True for a digit, a sign, a point or the letter of an exponent. */
function isOfNumber(code: number): boolean {
  return isDigit(code) || code === MINUS || code === 43 || code === 46 || code === 69 || code === 101;
}

interface Restoring {
  readonly mark: string;
  /** The member whose integers are not listed, seen from here; undefined if it is elsewhere. */
  readonly except: readonly string[] | undefined;
  readonly found: Issue[] | undefined;
  /** The keys that lead here. */
  readonly keys: string[];
}

/** Puts BigInts in the place of marked texts, and lists the first of them. */
function restore(value: unknown, restoring: Restoring): unknown {
  const { mark, except, found, keys } = restoring;
  if (typeof value === 'string' && value.startsWith(mark)) {
    const exact = BigInt(value.slice(mark.length));
    if (found !== undefined && found.length < MOST_ISSUES)
      found.push({ path: toPath(keys), message: whyInexact(exact) });
    return exact;
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  const [left, ...inside] = except ?? [];
  for (const key of Object.keys(members)) {
    const member = members[key];
    if (typeof member !== 'object' && typeof member !== 'string') continue;
    const isOnWay = key === left;
    const isLeft = isOnWay && inside.length === 0 && typeof member === 'object';
    keys.push(key);
    const restored = restore(member, {
      mark,
      keys,
      except: isOnWay ? inside : undefined,
      found: isLeft ? undefined : found,
    });
    if (restored !== member) members[key] = restored;
    keys.pop();
  }
  return value;
}

/** The value of a number in JSON. An integer that would be rounded is a BigInt, except if it was written from a rounded number. */
export function exactNumber(source: string): number | bigint {
  const value = Number(source);
  const isInteger = /^-?\d+$/.test(source);
  if (!isInteger || !Number.isFinite(value) || Number.isSafeInteger(value) || String(value) === source) return value;
  const exact = BigInt(source);
  return BigInt(value) === exact ? value : exact;
}

/** A JSON pointer; a long one is cut. */
function toPath(keys: readonly string[]): string {
  let path = '';
  for (const key of keys) {
    if (path.length > LONGEST_PATH) break;
    path += `/${escapePointer(key.slice(0, LONGEST_PATH))}`;
  }
  return path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH)}…` : path;
}

/** Writes BigInts with their digits; for `JSON.stringify`. */
export function keepDigits(_key: string, value: unknown): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }; // newer than the types
  return typeof value === 'bigint' ? rawJSON(String(value)) : value;
}

/** True if 16 digits stand together. Such a run covers a place that is looked at, so most characters are skipped. */
function hasLongRun(text: string): boolean {
  for (let at = LONG_RUN - 1; at < text.length; at += LONG_RUN) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let first = at;
    while (first > 0 && isDigit(text.charCodeAt(first - 1))) first--;
    let next = at + 1;
    while (isDigit(text.charCodeAt(next))) next++;
    if (next - first >= LONG_RUN) return true;
  }
  return false;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
