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
  const isLong = text !== undefined && text.length > maxText;
  return toRow(call, cleaner, {
    kind: 'call',
    outcome: outcomeOf(result),
    at: Math.round(times.now() - elapsedMs),
    durationMs: Math.round(elapsedMs * 1000) / 1000,
    intents: facts.intents,
    resultHash: isLong ? hash('sha256', text) : undefined,
    resultText: isLong ? undefined : text,
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
  return { ...first, ...NOT_OF_MANY, kind: 'many', ...counted };
}

/** Members that differ from refusal to refusal. */
const NOT_OF_MANY = {
  argumentsHash: undefined,
  argumentsText: undefined,
  durationMs: undefined,
  intents: undefined,
  resultHash: undefined,
  resultText: undefined,
  tokens: undefined,
} as const satisfies Partial<DraftRow>;

/** Builds the row of a call whose process is gone. */
export function toLostRow(call: LostCall, foundAt: number, { clean, cleanList }: Cleaner): DraftRow {
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
    outcome: 'unknown_outcome',
    profile: call.profile,
    roles: roles === undefined ? undefined : cleanList(roles),
    source: call.source,
    tool: clean(call.tool),
  };
}

/** Builds the row that records how many rows are missing. */
export function toGapRow(count: number, at: number, until: number): DraftRow {
  return { ...NO_CALL, kind: 'gap', outcome: 'lost', count, at, until };
}

/** Builds the row of an emergency stop or of its end. */
export function toStopRow(change: StopChange, at: number, { clean }: Cleaner): DraftRow {
  const { outcome, target, by, door, note, isCancelling } = change;
  const said = { caller: clean(by), door: clean(door), target: clean(target), ...(note && { note: clean(note) }) };
  return {
    ...NO_CALL,
    kind: 'stop',
    outcome,
    at,
    ...said,
    operator: true,
    cancels: isCancelling ? true : undefined,
  };
}

/** The members of rows that are not about a call. */
const NO_CALL = { callId: '', door: '', profile: '', source: '', tool: '' };

type About = Pick<DraftRow, 'kind' | 'outcome' | 'at'> &
  Partial<Pick<DraftRow, 'durationMs' | 'intents' | 'resultHash' | 'resultText' | 'tokens'>> &
  Pick<CallRowOptions, 'maxText'>;

function toRow(call: ToolCall, { clean, cleanList }: Cleaner, about: About): DraftRow {
  const { spec, caller, parent, conversation, turn } = call;
  const { approval, input } = call[FACTS];
  const argumentsText = argumentsJson(input ?? call.input);
  const isLong = argumentsText !== undefined && argumentsText.length > about.maxText;
  const remembered = approval?.isRemembered === true ? { isRemembered: true as const } : {};
  return {
    approval: approval === undefined ? undefined : { by: clean(approval.by), id: clean(approval.id), ...remembered },
    argumentsHash: isLong ? hash('sha256', argumentsText) : undefined,
    argumentsText: isLong ? undefined : argumentsText,
    at: about.at,
    callId: clean(call.id),
    caller: caller.id === undefined ? undefined : clean(caller.id),
    conversation: conversation === undefined ? undefined : clean(conversation),
    door: clean(call.door),
    durationMs: about.durationMs,
    intents: about.intents,
    isReplayed: replayOf(call) === undefined ? undefined : true,
    kind: about.kind,
    operator: caller.operator === true ? true : undefined,
    outcome: about.outcome,
    parentId: parent === undefined ? undefined : clean(parent.id),
    profile: requireText(call.profile),
    resultHash: about.resultHash,
    resultText: about.resultText,
    roles: caller.roles === undefined ? undefined : cleanList(caller.roles),
    source: requireText(spec.source),
    tokens: about.tokens,
    tool: spec.source === '' ? clean(spec.name) : requireText(spec.name),
    traceId: readTraceparent(call.traceparent)?.traceId,
    turn: turn === undefined ? undefined : clean(turn),
  };
}

/** A row must hold nothing that cannot be packed and written as JSON. */
function requireText(value: unknown): string {
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
