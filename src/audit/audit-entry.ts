import { hash } from 'node:crypto';
import { replayOf } from '../core/begun-runs.ts';
import { canonicalJson, type JsonObject } from '../core/json.ts';
import type { LostCall, StopChange } from '../core/ports/audit-trail.ts';
import { readTraceparent } from '../core/ports/observability.ts';
import type { AuditOutcome, DraftRow } from '../core/ports/stored-audit.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import { type ToolResult, tokensOf } from '../core/tool-result.ts';
import type { Cleaner } from './clean-texts.ts';

/** The two clocks of a row. */
export interface EntryTimes {
  /** The monotonic clock of `call[FACTS].startedAt`. */
  steadyNow(): number;
  /** The calendar clock. */
  now(): number;
}

/** Dependencies for building the row of an ended call. */
export interface CallRowOptions {
  readonly times: EntryTimes;
  readonly cleaner: Cleaner;
  /** Longer texts are hashed at once, so that waiting rows do not hold much memory. */
  readonly maxText: number;
}

/** Builds the row of an ended call at once, because the receiver may change its result. */
export function toCallRow(call: ToolCall, result: ToolResult, options: CallRowOptions): DraftRow {
  try {
    return buildCallRow(call, result, options);
  } catch {
    const at = Math.round(options.times.now());
    return toGapRow(1, at, at); // a tool may have broken the members of its call; it must not cost others their rows
  }
}

function buildCallRow(call: ToolCall, result: ToolResult, { times, cleaner, maxText }: CallRowOptions): DraftRow {
  const facts = call[FACTS];
  const elapsedMs = Math.max(0, times.steadyNow() - facts.startedAt);
  const text = resultText(result);
  return toRow(call, cleaner, {
    kind: 'call',
    outcome: outcomeOf(result),
    at: Math.round(times.now() - elapsedMs),
    durationMs: Math.round(elapsedMs * 1000) / 1000,
    intents: facts.intents === undefined ? undefined : Number(facts.intents),
    resultText: text,
    tokens: tokensOf(result),
    maxText,
  });
}

/** The outcome of a call, in one word. */
function outcomeOf(result: ToolResult): AuditOutcome {
  return result.status === 'failed' ? result.error.code : result.status;
}

/** Builds the row that announces a run. */
export function toIntentRow(call: ToolCall, at: number, cleaner: Cleaner): DraftRow {
  return toRow(call, cleaner, { kind: 'intent', outcome: 'intent', at, maxText: 0 });
}

/** Builds the row for `count` refusals, starting with this one. */
export function toManyRow(first: DraftRow, counted: { readonly count: number; readonly until: number }): DraftRow {
  const rare = { ...first.rare, argumentsHash: undefined, intents: undefined, resultHash: undefined, ...counted };
  return { ...first, ...NOT_OF_MANY, kind: 'many', rare };
}

/** Members that differ from refusal to refusal. */
const NOT_OF_MANY = { argumentsText: undefined, durationMs: undefined, resultText: undefined, tokens: undefined };

/** Builds the row of a call whose process is gone. */
export function toLostRow(call: LostCall, foundAt: number, { clean, cleanList }: Cleaner): DraftRow {
  const { approval, caller, conversation, roles } = call;
  return {
    at: call.at,
    callId: clean(call.callId),
    caller: caller === undefined ? undefined : clean(caller),
    conversation: conversation === undefined ? undefined : clean(conversation),
    door: clean(call.door),
    durationMs: Math.max(0, foundAt - call.at),
    kind: 'call',
    outcome: 'unknown_outcome',
    profile: call.profile,
    rare: {
      approval: approval === undefined ? undefined : { by: clean(approval.by), id: clean(approval.id) },
      argumentsHash: call.argumentsHash,
      intents: call.intents > 0 ? call.intents : undefined,
    },
    roles: roles === undefined ? undefined : cleanList(roles),
    source: call.source,
    tool: clean(call.tool),
  };
}

/** Builds the row that records how many rows are missing. */
export function toGapRow(count: number, at: number, until: number): DraftRow {
  return { ...NO_CALL, kind: 'gap', outcome: 'lost', at, rare: { count, until } };
}

/** Builds the row of an emergency stop or of its end. */
export function toStopRow(change: StopChange, at: number, { clean }: Cleaner): DraftRow {
  const { outcome, target, by, door, note, isCancelling } = change;
  const rare = {
    cancels: isCancelling ? (true as const) : undefined,
    note: note ? clean(note) : undefined,
    operator: true as const,
    target: clean(target),
  };
  return { ...NO_CALL, kind: 'stop', outcome, at, caller: clean(by), door: clean(door), rare };
}

/** The members of rows that are not about a call. */
const NO_CALL = { callId: '', door: '', profile: '', source: '', tool: '' };

type About = Pick<DraftRow, 'kind' | 'outcome' | 'at' | 'durationMs' | 'resultText' | 'tokens'> &
  Pick<CallRowOptions, 'maxText'> & { readonly intents?: number | undefined };

function toRow(call: ToolCall, cleaner: Cleaner, about: About): DraftRow {
  const { clean, cleanList } = cleaner;
  const { spec, caller, conversation, turn } = call;
  const { resultText, maxText } = about;
  const argumentsText = argumentsJson(call[FACTS].input ?? call.input);
  return {
    argumentsText: isLong(argumentsText, maxText) ? undefined : argumentsText,
    at: about.at,
    callId: clean(call.id),
    caller: caller.id === undefined ? undefined : clean(caller.id),
    conversation: conversation === undefined ? undefined : clean(conversation),
    door: clean(call.door),
    durationMs: about.durationMs,
    kind: about.kind,
    outcome: requireText(about.outcome),
    profile: requireText(call.profile),
    rare: rareMembers(call, cleaner, {
      intents: about.intents,
      argumentsHash: isLong(argumentsText, maxText) ? hash('sha256', argumentsText) : undefined,
      resultHash: isLong(resultText, maxText) ? hash('sha256', resultText) : undefined,
    }),
    resultText: isLong(resultText, maxText) ? undefined : resultText,
    roles: caller.roles === undefined ? undefined : cleanList(caller.roles),
    source: requireText(spec.source),
    tokens: about.tokens,
    tool: spec.source === '' ? clean(spec.name) : requireText(spec.name),
    turn: turn === undefined ? undefined : clean(turn),
  };
}

function isLong(text: string | undefined, maxText: number): text is string {
  return text !== undefined && text.length > maxText;
}

/** The members that few rows have; undefined if there are none. */
function rareMembers(
  call: ToolCall,
  { clean }: Cleaner,
  { intents, argumentsHash, resultHash }: NonNullable<DraftRow['rare']>,
): DraftRow['rare'] {
  const { caller, parent, traceparent } = call;
  const { approval } = call[FACTS];
  const isReplayed = replayOf(call) === undefined ? undefined : true;
  const operator = caller.operator === true ? true : undefined;
  const some = approval ?? argumentsHash ?? intents ?? isReplayed ?? operator ?? parent ?? resultHash ?? traceparent;
  if (some === undefined) return undefined;
  const remembered = approval?.isRemembered === true ? { isRemembered: true as const } : {};
  return {
    approval: approval === undefined ? undefined : { by: clean(approval.by), id: clean(approval.id), ...remembered },
    argumentsHash,
    intents,
    isReplayed,
    operator,
    parentId: parent === undefined ? undefined : clean(parent.id),
    resultHash,
    traceId: readTraceparent(traceparent)?.traceId,
  };
}

/** A row must hold nothing that cannot be packed and written as JSON. */
function requireText<T extends string>(value: T): T {
  if (typeof value === 'string') return value;
  throw new TypeError('A member of the call is not a text.');
}

/** Arguments that are not JSON must not cost a call its row. They never reached a tool or an approver. */
function argumentsJson(input: JsonObject): string | undefined {
  try {
    return canonicalJson(input);
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
