import type { ApprovalRequest } from './caller.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { quoted, quotedUpTo, type ShownSize, toVisibleJson, visible } from './visible-text.ts';

/** The parts of a request for approval that a person is shown. */
export type ShownRequest = Omit<ApprovalRequest, 'id' | 'expiresAt' | 'signal' | 'door'> & {
  readonly expiresAt?: number;
};

/** A caller may approve its own call only where the whole text that it is asked with is at most this long. */
export const MAX_CALLER_TEXT_BYTES = 16_384;

const LONGEST_WORDS = 500;
/** The longest question that a tool may ask in the middle of its call. */
export const LONGEST_QUESTION = 2000;

/**
 * The text that a person is asked with, one fact a line. Every name of an argument stands in it; each value is cut by
 * itself and says its length; nothing in it is invisible, and no value can be taken for another line.
 */
export function approvalText(request: ShownRequest): string {
  const { tool, title, description, inputResponses, inside, profile, caller, expiresAt } = request;
  const named = `${quoted(tool)}${title === undefined ? '' : ` (${quotedUpTo(title, LONGEST_WORDS)})`}`;
  const lines = [
    ...questionLines(request, named),
    ...(description === '' ? [] : [`Description: ${quotedUpTo(description, LONGEST_WORDS)}`]),
    ...memberLines('Arguments', request.arguments),
    ...(inputResponses === undefined ? [] : memberLines('Answers to its questions', inputResponses)),
    ...SENT_ALONG.flatMap(([label, key]) => (request[key] === undefined ? [] : [`${label}: ${quoted(request[key])}`])),
    ...(inside === undefined ? [] : [`Called inside: ${inside.map(quoted).join(' inside ')}`]),
    `Caller: ${caller.id === undefined ? 'without an id' : quoted(caller.id)}${rolesOf(caller)}`,
    `Profile: ${quoted(profile)}`,
    ...(expiresAt === undefined ? [] : [`Expires: ${new Date(expiresAt).toISOString()}`]),
  ];
  return lines.join('\n');
}

/** What is to be decided; a tool that asks in the middle of its call is quoted. */
function questionLines({ question, reason }: ShownRequest, named: string): readonly string[] {
  if (question !== undefined) return [`${named} is running and asks: ${quotedUpTo(question, LONGEST_QUESTION)}`];
  return [`May ${named} run?`, `It asks first because ${visible(reason)}.`];
}

const SENT_ALONG = [
  ['Conversation', 'conversation'],
  ['Turn', 'turn'],
  ['Time zone', 'timeZone'],
  ['Idempotency key', 'idempotencyKey'],
] as const;

function memberLines(label: string, members: JsonObject): readonly string[] {
  const entries = Object.entries(members);
  if (entries.length === 0) return [`${label}: none`];
  return [`${label}:`, ...entries.map(([name, value]) => `  ${quoted(name)}: ${toVisibleJson(value)}`)];
}

function rolesOf({ roles = [] }: ShownRequest['caller']): string {
  return roles.length === 0 ? '' : `, roles ${roles.map(quoted).join(', ')}`;
}

const SHORT: ShownSize = { texts: [60, 20], whole: 200 };

/** Arguments on one line of a list, and the answers that go with them: every name, each value cut by itself. */
export function argumentsLine({
  arguments: given,
  inputResponses = {},
}: Pick<ShownRequest, 'arguments' | 'inputResponses'>): string {
  const toText = (members: JsonObject): string => {
    const parts = Object.entries(members).map(([name, value]) => `${quoted(name)}: ${toVisibleJson(value, SHORT)}`);
    return `{${parts.join(', ')}}`;
  };
  const hasAnswers = Object.keys(inputResponses).length > 0;
  return hasAnswers ? `${toText(given)} answers ${toText(inputResponses)}` : toText(given);
}

/** Why a caller may not approve its own call although policy lets it; undefined if it may. */
export function whyNotByCaller(request: ShownRequest): string | undefined {
  const bytes = new TextEncoder().encode(approvalText(request)).length;
  if (bytes <= MAX_CALLER_TEXT_BYTES) return undefined;
  return `What has to be shown takes ${bytes} bytes, and a caller approves its own calls only up to ${MAX_CALLER_TEXT_BYTES}: an operator has to answer.`;
}

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
