import type { JsonValue } from '../../core/json.ts';
import { compileGlob } from '../../core/visible-text.ts';

/** Options for redacting a value. */
export interface ValueRedaction {
  /** Removes the values of secrets from a text. */
  redact(text: string): string;
  /** Globs of further keys whose values are hidden. */
  readonly keys?: readonly string[];
}

/** Keys with confidential values, in lower case without dashes and underscores. */
const USUAL_KEYS = [
  ...['*password*', 'passwd', 'pwd', '*passphrase*', '*secret*', '*token', '*apikey*'],
  ...['*accesskey*', '*privatekey*', '*authorization*', '*cookie*', '*credential*', 'bearer', 'jwt'],
];
const HIDDEN = '[redacted]';
const REST = '…';
/** Longer texts are not shown at all, because searching them for secrets would take too long. */
const HUGE_TEXT = 100_000;
const MAX_TEXT = 500;
const MAX_KEY = 100;
const MAX_DEPTH = 8;
const MAX_MEMBERS = 50;
/** Limit for the whole value. */
const MAX_CHARACTERS = 20_000;

/** The state of redacting one value. */
interface Showing {
  redact(text: string): string;
  isHiddenKey(key: string): boolean;
  readonly ancestors: Set<object>;
  charactersLeft: number;
}

/** Creates a function that converts a value to plain data for display: secrets hidden by key and by value at any depth, long parts cut, cycles broken. It never throws. */
export function createRedactValue({ redact, keys = [] }: ValueRedaction): (value: unknown) => JsonValue {
  const isHiddenKey = keyTest([...USUAL_KEYS, ...keys]);
  return (value) => {
    try {
      return show(value, { redact, isHiddenKey, ancestors: new Set(), charactersLeft: MAX_CHARACTERS });
    } catch {
      return '[unreadable]'; // a value that cannot be read cannot leak
    }
  };
}

function show(value: unknown, showing: Showing): JsonValue {
  if (typeof value === 'string') return showText(value, MAX_TEXT, showing);
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return showNumber(value, showing);
  return typeof value === 'object' ? showObject(value, showing) : showText(`[${typeof value}]`, MAX_TEXT, showing);
}

function showText(text: string, longest: number, showing: Showing): string {
  const shown = text.length > HUGE_TEXT ? `[text of ${text.length} characters]` : cut(showing.redact(text), longest);
  showing.charactersLeft -= shown.length;
  return shown;
}

/** Cuts a text; only after redaction, because a partial secret would not be found. */
function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}${REST}` : text;
}

// A secret may consist of digits.
function showNumber(value: number, showing: Showing): JsonValue {
  const text = String(value);
  const shown = showText(text, MAX_TEXT, showing);
  return shown === text && Number.isFinite(value) ? value + 0 : shown; // JSON has no -0
}

function showObject(object: object, showing: Showing): JsonValue {
  const { ancestors } = showing;
  if (ancestors.has(object)) return '[circular]';
  if (ancestors.size >= MAX_DEPTH) return REST;
  ancestors.add(object);
  const shown = Array.isArray(object) ? showItems(object, showing) : showMembers(Object.entries(object), showing);
  ancestors.delete(object);
  return shown;
}

function showItems(items: readonly unknown[], showing: Showing): JsonValue {
  const shown: JsonValue[] = [];
  for (let index = 0; index < items.length; index++) {
    if (isEnough(index, showing)) return [...shown, `${REST} ${items.length - index} more`];
    shown.push(show(items[index], showing));
  }
  return shown;
}

function showMembers(entries: readonly (readonly [string, unknown])[], showing: Showing): JsonValue {
  const shown: Record<string, JsonValue> = Object.create(null); // a key may be __proto__
  for (const [index, [key, member]] of entries.entries()) {
    if (isEnough(index, showing)) return Object.assign(shown, { [REST]: `${entries.length - index} more` });
    const name = showText(key, MAX_KEY, showing);
    shown[name] = showing.isHiddenKey(key) ? HIDDEN : show(member, showing);
  }
  return shown;
}

function isEnough(count: number, showing: Showing): boolean {
  return count >= MAX_MEMBERS || showing.charactersLeft <= 0;
}

function keyTest(globs: readonly string[]): (key: string) => boolean {
  const spellings = new Set(globs.flatMap((glob) => [glob.toLowerCase(), plainKey(glob)]));
  const tests = [...spellings].map(compileGlob);
  return (key) => {
    if (key.length > HUGE_TEXT) return true;
    const spelt = [key.toLowerCase(), plainKey(key)];
    return tests.some((matches) => spelt.some(matches));
  };
}

/** Normalizes a key: `api_key`, `apiKey` and `API-KEY` are the same. */
function plainKey(key: string): string {
  return key.toLowerCase().replaceAll(/[-_. ]/g, '');
}
