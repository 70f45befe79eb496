import type { ApprovalRequest } from '../caller.ts';
import type { JsonObject } from '../json.ts';
import { quoted, quotedUpTo, type ShownSize, toVisibleJson, visible } from './visible-text.ts';

/** The parts of a request for approval that a person is shown. */
export type ShownRequest = Omit<ApprovalRequest, 'id' | 'expiresAt' | 'signal'> & { readonly expiresAt?: number };

/** A caller may approve its own call only where the whole text that it is asked with is at most this long. */
export const MAX_CALLER_TEXT_BYTES = 16_384;

const LONGEST_WORDS = 500;

/**
 * The text that a person is asked with, one fact a line. Every name of an argument stands in it; each value is cut by
 * itself and says its length; nothing in it is invisible, and no value can be taken for another line.
 */
export function approvalText(request: ShownRequest): string {
  const { tool, title, description, reason, inputResponses, inside, profile, caller, expiresAt } = request;
  const lines = [
    `May ${quoted(tool)}${title === undefined ? '' : ` (${quotedUpTo(title, LONGEST_WORDS)})`} run?`,
    `It asks first because ${visible(reason)}.`,
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
