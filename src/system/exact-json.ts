import { whyInexact } from '../core/json.ts';
import { escapePointer } from '../core/json-pointer.ts';
import type { Issue } from '../core/tool-error.ts';

/** JSON from a caller, and the integers in it that a number would round. In the value each is a BigInt, which a call refuses. */
export interface ExactJson {
  readonly value: unknown;
  readonly inexact: readonly Issue[];
}

/** Every shorter integer is exact. */
const LONG_RUN = 16;
const NO_ISSUES: readonly Issue[] = Object.freeze([]);

/** Parses JSON from a caller without rounding integers. Throws like `JSON.parse`. */
export function parseExact(text: string): ExactJson {
  if (!hasLongRun(text)) return { value: JSON.parse(text), inexact: NO_ISSUES };
  try {
    const value: unknown = JSON.parse(text, (_key, read: unknown, { source }: { readonly source?: string } = {}) =>
      typeof read === 'number' && source !== undefined ? exactNumber(source) : read,
    );
    return { value, inexact: inexactIntegers(value) };
  } catch (cause) {
    if (cause instanceof RangeError) throw new SyntaxError('The JSON is nested too deeply.', { cause }); // reading with a function recurses
    throw cause;
  }
}

/** The value of a number in JSON. An integer that would be rounded is a BigInt, except if it was written from a rounded number. */
export function exactNumber(source: string): number | bigint {
  const value = Number(source);
  const isInteger = /^-?\d+$/.test(source);
  if (!isInteger || !Number.isFinite(value) || Number.isSafeInteger(value) || String(value) === source) return value;
  const exact = BigInt(source);
  return BigInt(value) === exact ? value : exact;
}

/** The problems of a value that has BigInts, as `parseExact` makes them. */
export function inexactIntegers(value: unknown, path = ''): readonly Issue[] {
  if (typeof value === 'bigint') return [{ path, message: whyInexact(value) }];
  if (typeof value !== 'object' || value === null) return NO_ISSUES;
  return Object.entries(value).flatMap(([key, member]) => inexactIntegers(member, `${path}/${escapePointer(key)}`));
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
