import type { JsonObject, JsonValue } from '../json.ts';

/** Arguments as they are shown among many requests. */
export interface CutArguments {
  readonly arguments: JsonObject;
  /** How many characters of JSON the whole takes; present where `arguments` is cut. */
  readonly argumentsLength?: number;
}

/** Longer arguments are cut. */
const LONGEST = 4000;
const LONGEST_TEXT = 200;
const LONGEST_NAME = 100;
/** So many arguments are named, however long the values of the first ones are. */
const MOST_NAMES = 50;
// Redaction knows this sign: it also hides the beginning of a secret that was cut here.
const CUT = '…';

/** The arguments, each value cut on its own where the whole is long; `text` is the whole as JSON. */
export function cutArguments(given: JsonObject, text = JSON.stringify(given)): CutArguments {
  if (text.length <= LONGEST) return { arguments: given };
  const room: Room = { left: LONGEST };
  const entries = Object.entries(given);
  const shown = entries
    .slice(0, MOST_NAMES)
    .map(([name, value]) => [cutText(name, LONGEST_NAME, room), cutValue(value, room)] as const);
  const rest = entries.length - shown.length;
  const more = rest > 0 ? [[CUT, `${rest} more`] as const] : [];
  return { arguments: toMembers([...shown, ...more]), argumentsLength: text.length };
}

interface Room {
  left: number;
}

function cutValue(value: JsonValue, room: Room): JsonValue {
  if (room.left <= 0) return CUT;
  if (typeof value === 'string') return cutText(value, LONGEST_TEXT, room);
  if (typeof value !== 'object' || value === null) {
    room.left -= String(value).length + 1;
    return value;
  }
  return Array.isArray(value) ? cutItems(value, room) : cutMembers(Object.entries(value), room);
}

function cutItems(items: readonly JsonValue[], room: Room): JsonValue {
  const shown: JsonValue[] = [];
  for (const item of items) {
    if (room.left <= 0) return [...shown, `${CUT} ${items.length - shown.length} more`];
    room.left -= 2;
    shown.push(cutValue(item, room));
  }
  return shown;
}

function cutMembers(entries: readonly (readonly [string, JsonValue])[], room: Room): JsonValue {
  const shown: [string, JsonValue][] = [];
  for (const [name, value] of entries) {
    if (room.left <= 0) return toMembers([...shown, [CUT, `${entries.length - shown.length} more`]]);
    shown.push([cutText(name, LONGEST_NAME, room), cutValue(value, room)]);
  }
  return toMembers(shown);
}

/** An object of members whose names may have become the same by cutting: none hides another. */
function toMembers(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  const names = new Map<string, number>();
  const members = new Map<string, JsonValue>();
  for (const [name, value] of entries) {
    let count = (names.get(name) ?? 0) + 1;
    while (members.has(numbered(name, count))) count++;
    names.set(name, count);
    members.set(numbered(name, count), value);
  }
  return Object.fromEntries(members);
}

function numbered(name: string, count: number): string {
  return count === 1 ? name : `${name} (${count})`;
}

function cutText(text: string, longest: number, room: Room): string {
  const shown =
    text.length > longest ? `${text.slice(0, longest).toWellFormed()}${CUT} (${text.length} characters)` : text;
  room.left -= JSON.stringify(shown).length + 1;
  return shown;
}
