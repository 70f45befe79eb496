import { hash } from 'node:crypto';
import { replayOf } from '../core/begun-runs.ts';
import type { JsonObject } from '../core/json.ts';
import { readTraceparent } from '../core/ports/observability.ts';
import type { AuditEntry, AuditOutcome, LostCall, StopChange } from '../core/ports/stored-audit.ts';
import { type CallFacts, FACTS, type ToolCall } from '../core/tool-call.ts';
import { type ToolResult, tokensOf } from '../core/tool-result.ts';
import { argumentsHash } from '../specs/hashes.ts';
import type { Cleaner } from './clean-texts.ts';

/** An entry that gets its number when it is written. Its keys are sorted, so its JSON is canonical. */
export interface DraftEntry extends AuditEntry {
  number: number;
}

/**
 * The members of a call that its row tells. Not the call itself: while a row waits, its call, result and promises would
 * stay in memory, and moving them costs more than writing the row.
 */
interface RecordedCall {
  readonly approval: CallFacts['approval'];
  readonly caller: string | undefined;
  readonly callId: string;
  readonly conversation: string | undefined;
  readonly door: string;
  readonly input: JsonObject;
  readonly intents: number | undefined;
  readonly isReplayed: true | undefined;
  readonly operator: true | undefined;
  readonly parentId: string | undefined;
  readonly profile: string;
  readonly roles: readonly string[] | undefined;
  readonly source: string;
  readonly tool: string;
  readonly traceparent: string | undefined;
  readonly turn: string | undefined;
}

/** The data of an ended call that must be captured at once. The rest of its row is built when it is written. */
export interface EndedCall {
  readonly call: RecordedCall;
  readonly outcome: AuditOutcome;
  readonly at: number;
  readonly durationMs: number;
  readonly resultHash: string | undefined;
  /** Estimated tokens of the result. */
  readonly tokens: number | undefined;
  /** The result, if it can be hashed later. */
  readonly resultText: string | undefined;
}

/** The two clocks of a row. */
export interface EntryTimes {
  /** The monotonic clock of `call[FACTS].startedAt`. */
  steadyNow(): number;
  /** The calendar clock. */
  now(): number;
}

/** Longer results are hashed at once, so that waiting rows do not hold much memory. */
const MAX_KEPT_TEXT = 2000;

/** The outcome of a call, in one word. */
function outcomeOf(result: ToolResult): AuditOutcome {
  return result.status === 'failed' ? result.error.code : result.status;
}

/** Captures an ended call at once, because the receiver may change its result. */
export function toEndedCall(call: ToolCall, result: ToolResult, { steadyNow, now }: EntryTimes): EndedCall {
  const elapsedMs = Math.max(0, steadyNow() - call[FACTS].startedAt);
  const text = resultText(result);
  const isKept = text !== undefined && text.length <= MAX_KEPT_TEXT;
  return {
    call: toRecordedCall(call),
    outcome: outcomeOf(result),
    at: Math.round(now() - elapsedMs),
    durationMs: Math.round(elapsedMs * 1000) / 1000,
    resultHash: text === undefined || isKept ? undefined : hash('sha256', text),
    tokens: tokensOf(result),
    resultText: isKept ? text : undefined,
  };
}

function toRecordedCall(call: ToolCall): RecordedCall {
  const { spec, caller, parent } = call;
  const { approval, input, intents } = call[FACTS];
  return {
    approval,
    caller: caller.id,
    callId: call.id,
    conversation: call.conversation,
    door: call.door,
    input: input ?? call.input,
    intents,
    isReplayed: replayOf(call) === undefined ? undefined : true,
    operator: caller.operator === true ? true : undefined,
    parentId: parent?.id,
    profile: call.profile,
    roles: caller.roles,
    source: spec.source,
    tool: spec.name,
    traceparent: call.traceparent,
    turn: call.turn,
  };
}

/** Builds the row of an ended call. */
export function toCallEntry(ended: EndedCall, cleaner: Cleaner): DraftEntry {
  const { call, outcome, at, durationMs, tokens, resultText: text } = ended;
  const resultHash = text === undefined ? ended.resultHash : hash('sha256', text);
  const { intents } = call;
  return toEntry(call, cleaner, { kind: 'call', outcome, at, durationMs, tokens, resultHash, intents });
}

/** Builds the row that announces a run. */
export function toIntentEntry(call: ToolCall, at: number, cleaner: Cleaner): DraftEntry {
  return toEntry(toRecordedCall(call), cleaner, { kind: 'intent', outcome: 'intent', at });
}

/** Builds the row for `count` refusals, starting with this one. */
export function toManyEntry(first: EndedCall, cleaner: Cleaner, counted: { count: number; until: number }): DraftEntry {
  const { call, outcome, at } = first;
  return toEntry(call, cleaner, { kind: 'many', outcome, at, ...counted });
}

/** Builds the row of a call whose process is gone. The members have the same order as in all rows. */
export function toLostEntry(call: LostCall, foundAt: number, { clean, cleanList }: Cleaner): DraftEntry {
  const { approval, caller, conversation, roles } = call;
  return {
    approval: approval === undefined ? undefined : { by: clean(approval.by), id: clean(approval.id) },
    argumentsHash: call.argumentsHash,
    at: call.at,
    callId: clean(call.callId),
    caller: caller === undefined ? undefined : clean(caller),
    conversation: conversation === undefined ? undefined : clean(conversation),
    door: clean(call.door),
    durationMs: Math.max(0, foundAt - call.at),
    intents: call.intents > 0 ? call.intents : undefined,
    kind: 'call',
    number: 0,
    outcome: 'unknown_outcome',
    profile: call.profile,
    roles: roles === undefined ? undefined : cleanList(roles),
    source: call.source,
    tool: clean(call.tool),
  };
}

/** Builds the row that records how many rows are missing. */
export function toGapEntry(count: number, at: number, until: number): DraftEntry {
  return sorted({ ...NO_CALL, kind: 'gap', outcome: 'lost', count, at, until });
}

/** Builds the row of an emergency stop or of its end. */
export function toStopEntry(change: StopChange, at: number, { clean }: Cleaner): DraftEntry {
  const { outcome, target, by, door, note, isCancelling } = change;
  const said = { caller: clean(by), door: clean(door), target: clean(target), ...(note && { note: clean(note) }) };
  const entry: DraftEntry = { ...NO_CALL, kind: 'stop', outcome, at, ...said, operator: true };
  return sorted(isCancelling ? { ...entry, cancels: true } : entry);
}

/** The members of rows that are not about a call. */
const NO_CALL = { callId: '', door: '', profile: '', source: '', tool: '', number: 0 };

function sorted(entry: DraftEntry): DraftEntry {
  return Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1))) as unknown as DraftEntry; // the same members
}

type About = Pick<AuditEntry, 'kind' | 'outcome' | 'at'> &
  Partial<Pick<AuditEntry, 'durationMs' | 'intents' | 'resultHash' | 'tokens' | 'count' | 'until'>>;

function toEntry(call: RecordedCall, { clean, cleanList }: Cleaner, about: About): DraftEntry {
  const { approval, caller, conversation, parentId, roles, source, tool, turn } = call;
  const remembered = approval?.isRemembered === true ? { isRemembered: true as const } : {};
  return {
    approval: approval === undefined ? undefined : { by: clean(approval.by), id: clean(approval.id), ...remembered },
    argumentsHash: about.kind === 'many' ? undefined : hashOrNothing(call.input),
    at: about.at,
    callId: clean(call.callId),
    caller: caller === undefined ? undefined : clean(caller),
    conversation: conversation === undefined ? undefined : clean(conversation),
    count: about.count,
    door: clean(call.door),
    durationMs: about.durationMs,
    intents: about.intents,
    isReplayed: call.isReplayed,
    kind: about.kind,
    number: 0,
    operator: call.operator,
    outcome: about.outcome,
    parentId: parentId === undefined ? undefined : clean(parentId),
    profile: call.profile,
    resultHash: about.resultHash,
    roles: roles === undefined ? undefined : cleanList(roles),
    source,
    tokens: about.tokens,
    tool: source === '' ? clean(tool) : tool,
    traceId: readTraceparent(call.traceparent)?.traceId,
    turn: turn === undefined ? undefined : clean(turn),
    until: about.until,
  };
}

/** Arguments that are not JSON must not cost a call its row. They never reached a tool or an approver. */
function hashOrNothing(input: JsonObject): string | undefined {
  try {
    return argumentsHash(input);
  } catch {
    return undefined;
  }
}

/** The result as text; undefined while waiting, or if it cannot be serialized. */
function resultText(result: ToolResult): string | undefined {
  if (result.status === 'waiting') return undefined;
  const { content, data } = result;
  try {
    return JSON.stringify({ content, data, error: result.ok ? undefined : result.error });
  } catch {
    return undefined; // it must not cost the call its row
  }
}
