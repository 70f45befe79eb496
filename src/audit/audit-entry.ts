import { hash } from 'node:crypto';
import type { JsonObject } from '../core/json.ts';
import type { AuditEntry, AuditOutcome, LostCall } from '../core/ports/stored-audit.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { argumentsHash } from '../specs/hashes.ts';

/** An entry that gets its number when it is written. Its keys are sorted, so that its JSON is the canonical one. */
export interface DraftEntry extends AuditEntry {
  number: number;
}

/** A call that has ended, as far as it must be known at once; the rest of its row is made when it is written. */
export interface EndedCall {
  readonly call: ToolCall;
  readonly outcome: AuditOutcome;
  readonly at: number;
  readonly durationMs: number;
  readonly resultHash: string | undefined;
  /** The result, where hashing it can wait. */
  readonly resultText: string | undefined;
}

/** The two times of a row. */
export interface EntryTimes {
  /** That of `call[FACTS].startedAt`, which never runs backwards. */
  steadyNow(): number;
  /** The one that people read. */
  now(): number;
}

/** Larger ones are hashed at once: a row that waits must not keep much alive. */
const MAX_KEPT_TEXT = 2000;

/** How a call ended, in one word. */
function outcomeOf(result: ToolResult): AuditOutcome {
  return result.status === 'failed' ? result.error.code : result.status;
}

/** What must be known of a call at once: its result may be changed by whoever gets it. */
export function toEndedCall(call: ToolCall, result: ToolResult, { steadyNow, now }: EntryTimes): EndedCall {
  const elapsedMs = Math.max(0, steadyNow() - call[FACTS].startedAt);
  const text = resultText(result);
  const isKept = text !== undefined && text.length <= MAX_KEPT_TEXT;
  return {
    call,
    outcome: outcomeOf(result),
    at: Math.round(now() - elapsedMs),
    durationMs: Math.round(elapsedMs * 1000) / 1000,
    resultHash: text === undefined || isKept ? undefined : hash('sha256', text),
    resultText: isKept ? text : undefined,
  };
}

/** The row of a call that has ended. */
export function toCallEntry(ended: EndedCall, cleaner: Cleaner): DraftEntry {
  const { call, outcome, at, durationMs, resultText: text } = ended;
  const resultHash = text === undefined ? ended.resultHash : hash('sha256', text);
  return toEntry(call, cleaner, { kind: 'call', outcome, at, durationMs, resultHash, intents: call[FACTS].intents });
}

/** The row that says that a call is about to run. */
export function toIntentEntry(call: ToolCall, at: number, cleaner: Cleaner): DraftEntry {
  return toEntry(call, cleaner, { kind: 'intent', outcome: 'intent', at });
}

/** The row that stands for `count` refusals, of which this was the first. */
export function toManyEntry(first: EndedCall, cleaner: Cleaner, counted: { count: number; until: number }): DraftEntry {
  const { call, outcome, at } = first;
  return toEntry(call, cleaner, { kind: 'many', outcome, at, ...counted });
}

/** The row of a call whose process is gone. The same members in the same order as all others. */
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

/** The row that says how many others are missing. */
export function toGapEntry(count: number, at: number, until: number): DraftEntry {
  const empty = { callId: '', door: '', profile: '', source: '', tool: '', number: 0 };
  const entry: DraftEntry = { ...empty, kind: 'gap', outcome: 'lost', count, at, until };
  return Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1))) as unknown as DraftEntry; // the same members
}

type About = Pick<AuditEntry, 'kind' | 'outcome' | 'at'> &
  Partial<Pick<AuditEntry, 'durationMs' | 'intents' | 'resultHash' | 'count' | 'until'>>;

function toEntry(call: ToolCall, { clean, cleanList }: Cleaner, about: About): DraftEntry {
  const { spec, caller, conversation, parent } = call;
  const { approval, input, replayed } = call[FACTS];
  return {
    approval: approval === undefined ? undefined : { by: clean(approval.by), id: clean(approval.id) },
    argumentsHash: about.kind === 'many' ? undefined : hashOrNothing(input ?? call.input),
    at: about.at,
    callId: clean(call.id),
    caller: caller.id === undefined ? undefined : clean(caller.id),
    conversation: conversation === undefined ? undefined : clean(conversation),
    count: about.count,
    door: clean(call.door),
    durationMs: about.durationMs,
    intents: about.intents,
    isReplayed: replayed === undefined ? undefined : true,
    kind: about.kind,
    number: 0,
    operator: caller.operator === true ? true : undefined,
    outcome: about.outcome,
    parentId: parent === undefined ? undefined : clean(parent.id),
    profile: call.profile,
    resultHash: about.resultHash,
    roles: caller.roles === undefined ? undefined : cleanList(caller.roles),
    source: spec.source,
    tool: spec.source === '' ? clean(spec.name) : spec.name,
    until: about.until,
  };
}

/** Arguments that are no JSON must not cost a call its row either; nobody has seen such. */
function hashOrNothing(input: JsonObject): string | undefined {
  try {
    return argumentsHash(input);
  } catch {
    return undefined;
  }
}

/** What the caller got; undefined where nothing was answered yet, or nothing that can be written down. */
function resultText(result: ToolResult): string | undefined {
  if (result.status === 'waiting') return undefined;
  const { content, data } = result;
  try {
    return JSON.stringify({ content, data, error: result.ok ? undefined : result.error });
  } catch {
    return undefined; // it must not cost the call its row
  }
}

/** Makes texts from outside fit for a row: no secret, no more than 200 characters, nothing but text. */
export interface Cleaner {
  clean(text: unknown): string;
  cleanList(texts: readonly string[]): readonly string[];
  /** Another secret may be known by now. */
  forget(): void;
}

const MAX_LENGTH = 200;
const KEPT_LENGTH = 160;
const HASH_LENGTH = 16;
const MAX_LIST = 20;
/** That of a call's id, which comes once. Other texts come again and again. */
const ID_LENGTH = 36;
const MAX_KNOWN = 1000;

export function createCleaner(redact: (text: string) => string): Cleaner {
  const known = new Map<string, string>();
  let lists = new WeakMap<readonly string[], readonly string[]>();
  const clean = (text: unknown): string => {
    if (typeof text !== 'string') return '';
    if (text.length === ID_LENGTH) return redact(text);
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= MAX_KNOWN) known.clear();
    const cleaned = cut(redact(text));
    if (text.length <= MAX_LENGTH) known.set(text, cleaned);
    return cleaned;
  };
  return {
    clean,
    cleanList(texts) {
      const found = lists.get(texts);
      if (found !== undefined) return found;
      const cleaned = texts.slice(0, MAX_LIST).map(clean);
      lists.set(texts, cleaned);
      return cleaned;
    },
    forget() {
      known.clear();
      lists = new WeakMap();
    },
  };
}

/** What is cut off stays told apart by its hash. */
function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  return `${text.slice(0, KEPT_LENGTH)}…${hash('sha256', text).slice(0, HASH_LENGTH)}`;
}
