import type { ApprovalRequest } from './caller.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { quoted, quotedUpTo, type ShownSize, toVisibleJson, visible } from './visible-text.ts';

/** The parts of an approval request that an approver is shown. */
export type ShownRequest = Omit<ApprovalRequest, 'id' | 'expiresAt' | 'signal' | 'door'> & {
  readonly expiresAt?: number;
};

/** A caller may approve its own call only if the complete approval text is at most this long. */
export const MAX_CALLER_TEXT_BYTES = 16_384;

const LONGEST_WORDS = 500;
/** The longest question that a tool may ask during its call. */
export const LONGEST_QUESTION = 2000;

/**
 * The text of an approval request, one fact per line. It names every argument. Long values are cut, with their
 * length. Invisible characters are escaped, so no value can look like another line.
 */
export function approvalText(request: ShownRequest): string {
  const { tool, description, inputResponses } = request;
  const named = `${quoted(tool)}${titleOf(request)}`;
  const lines = [
    ...questionLines(request, named),
    ...(description === '' ? [] : [`Description: ${quotedUpTo(description, LONGEST_WORDS)}`]),
    ...memberLines('Arguments', request.arguments),
    ...(inputResponses === undefined ? [] : memberLines('Answers to its questions', inputResponses)),
    ...SENT_ALONG.flatMap(([label, key]) => (request[key] === undefined ? [] : [`${label}: ${quoted(request[key])}`])),
    ...whereLines(request),
  ];
  return lines.join('\n');
}

function titleOf({ title }: Pick<ShownRequest, 'title'>): string {
  return title === undefined ? '' : ` (${quotedUpTo(title, LONGEST_WORDS)})`;
}

function whereLines({ inside, caller, profile, expiresAt }: Where): readonly string[] {
  return [
    ...(inside === undefined ? [] : [`Called inside: ${inside.map(quoted).join(' inside ')}`]),
    `Caller: ${caller.id === undefined ? 'without an id' : quoted(caller.id)}${rolesOf(caller)}`,
    `Profile: ${quoted(profile)}`,
    ...(expiresAt === undefined ? [] : [`Expires: ${new Date(expiresAt).toISOString()}`]),
  ];
}

interface Where extends Pick<ShownRequest, 'caller' | 'profile'> {
  readonly inside?: readonly string[] | undefined;
  readonly expiresAt?: number | undefined;
}

/** A batch as an approver is shown it: the calls inside one call that wait at the same time. */
export interface ShownBatch extends Pick<ShownRequest, 'tool' | 'inside' | 'caller' | 'profile' | 'expiresAt'> {
  readonly items: readonly ShownItem[];
}

type ShownItem = Pick<ShownRequest, 'tool' | 'title' | 'description' | 'arguments' | 'inputResponses' | 'reason'>;

/** The text of a request, or of a batch: then each call with all of its arguments. */
export function textOfRequest(request: ShownRequest & Partial<Pick<ShownBatch, 'items'>>): string {
  return request.items === undefined ? approvalText(request) : batchText({ ...request, items: request.items });
}

/** The text of a batch, with the calls in their order. */
export function batchText({ tool, items, inside, profile, caller, expiresAt }: ShownBatch): string {
  const calls = items.flatMap((item, index) => {
    const named = `${quoted(item.tool)}${titleOf(item)}`;
    const lines = [
      `${named} requires approval because ${visible(item.reason)}.`,
      ...(item.description === '' ? [] : [`Description: ${quotedUpTo(item.description, LONGEST_WORDS)}`]),
      ...memberLines('Arguments', item.arguments),
      ...(item.inputResponses === undefined ? [] : memberLines('Answers to its questions', item.inputResponses)),
    ];
    return [`Call ${index + 1} of ${items.length}:`, ...lines.map((line) => `  ${line}`)];
  });
  return [
    `May these ${items.length} calls inside ${quoted(tool)} run? The answer counts for all of them.`,
    ...calls,
    ...whereLines({ inside, profile, caller, expiresAt }),
  ].join('\n');
}

/** The decision to make; the question of a running tool is quoted. */
function questionLines({ question, reason }: ShownRequest, named: string): readonly string[] {
  if (question !== undefined) return [`${named} is running and asks: ${quotedUpTo(question, LONGEST_QUESTION)}`];
  return [`May ${named} run?`, `Approval is required because ${visible(reason)}.`];
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

/** The arguments and answers of a call on one line: all names, each value cut on its own. */
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

/** The reason why a caller may not approve its own call although the policy allows it; undefined if it may. */
export function whyNotByCaller(request: ShownRequest): string | undefined {
  const bytes = new TextEncoder().encode(approvalText(request)).length;
  if (bytes <= MAX_CALLER_TEXT_BYTES) return undefined;
  return `The approval text has ${bytes} bytes. A caller may approve its own calls only up to ${MAX_CALLER_TEXT_BYTES} bytes, so the operator must answer.`;
}

/** Arguments as shown in lists. */
export interface CutArguments {
  readonly arguments: JsonObject;
  /** Length of the complete JSON in characters; present if `arguments` is cut. */
  readonly argumentsLength?: number;
}

/** Limit in characters of JSON; longer arguments are cut. */
const LONGEST = 4000;
const LONGEST_TEXT = 200;
const LONGEST_NAME = 100;
/** This many arguments are named, even if the first values are very long. */
const MOST_NAMES = 50;
// Redaction knows this sign: it also hides the first part of a secret that was cut here.
const CUT = '…';

/** Cuts each value on its own if the arguments are too long; `text` is their complete JSON. */
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

/** Builds an object from members. Names that became equal by cutting are numbered, so none hides another. */
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
