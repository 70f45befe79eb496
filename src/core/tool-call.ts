import type { Question } from './approval-request.ts';
import type { BegunRuns, CallTime } from './begun-runs.ts';
import type { BundleInfo } from './bundle.ts';
import type { Caller } from './caller.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Scope } from './policy.ts';
import type { SearchHit } from './retriever.ts';
import type { ToolError } from './tool-error.ts';
import type { ToolResult } from './tool-result.ts';
import type { ToolSpec } from './tool-spec.ts';

/** How far a tool has come, in its own words or numbers. */
export type Progress = JsonValue;

/** The key of what only executors may read. */
export const PARSED: unique symbol = Symbol('toolcrib.parsed');

/** The key of what only validation may do: put checked arguments in the place of those that came. */
export const SETTLE: unique symbol = Symbol('toolcrib.settle');

/** The key of what built-in gates leave for those who record the call. */
export const FACTS: unique symbol = Symbol('toolcrib.facts');

/** The key of what only approval may do: put what was said along with a parked call in the place of what came with this one. */
export const TAKE_UP: unique symbol = Symbol('toolcrib.takeUp');

/** What became known about a call on its way; all copies of the call share it. */
export interface CallFacts extends BegunRuns {
  /** The arguments before validation, where it made others of them. */
  came?: JsonObject;
  /** The arguments after validation. */
  input?: JsonObject;
  /** What the rules want a person to be asked about these arguments. */
  asks?: Question;
  /** The approval it ran under and who gave it. */
  approval?: { readonly id: string; readonly by: string };
  /** Answered without running the tool: by the run of the same call that was sent before, or by what is cached. */
  replayed?: 'repeat' | 'cache';
  /** How often it was put on record that it is about to run. */
  intents?: number;
  /** The trace context of its own span. */
  traceparent?: string;
  /** What times it. */
  time?: CallTime;
  /** It has answered. */
  isOver?: boolean;
  /** Tells the door which request waits, by which the tool asks in the middle of the call. */
  onQuestion?(id: string): void;
}

/** What the asking client sent along with a call. */
export interface ClientAnswers {
  readonly approval?: boolean;
  /** For a server that asks for more before it answers. */
  readonly input?: InputAnswers;
}

/** What a client can be asked for by the server behind a tool, and what it answered. */
export interface InputAnswers {
  /** As the client declared it to MCP; it is asked for nothing else. */
  readonly capabilities?: JsonObject;
  /** By the keys under which it was asked. */
  readonly responses?: JsonObject;
  /** What the server wants back with them, as it was. */
  readonly state?: string;
}

/** Everything that a caller says about a call besides tool and arguments, and that its tool can read. */
export interface SaidAlong {
  /** Where the call came in; `library` if absent. */
  readonly door?: string;
  readonly conversation?: string;
  readonly turn?: string;
  readonly timeZone?: string;
  /** Two calls of one caller with the same key are one: the second gets the result of the first. */
  readonly idempotencyKey?: string;
  /** W3C trace context; spans of the call belong under it. */
  readonly traceparent?: string;
  readonly answers?: ClientAnswers;
}

/** The options and caller of a parked call. The call that takes it up runs with them. */
export interface TakenUp extends SaidAlong {
  readonly caller: Omit<Caller, 'approve'>;
}

/** Who asks for what: the one argument of every gate, observer and executor. */
export interface ToolCall {
  readonly id: string;
  readonly spec: ToolSpec;
  /** The arguments, copied and frozen on entry; valid once validation has passed. */
  readonly input: JsonObject;
  /** What the author's own schema made of `input` (a Date, say); else the same object. For the executor alone: it can be changed. */
  readonly [PARSED]: unknown;
  readonly caller: Caller;
  /** The profile's name. */
  readonly profile: string;
  readonly conversation?: string | undefined;
  readonly turn?: string | undefined;
  /** Where the call came in: `library`, `rest`, `mcp`, `cli`. */
  readonly door: string;
  readonly timeZone?: string | undefined;
  /** The services this tool asked for by `needs`, and no others. */
  readonly services: Readonly<Record<string, unknown>>;
  readonly settings: Readonly<Record<string, unknown>>;
  /** What the setup of the tool's bundle returned. */
  readonly state: unknown;
  /** What the host gave with this call, and what outer extensions left for inner ones. */
  readonly context: Readonly<Record<string, unknown>>;
  /** Aborts when the call is cancelled or its time is up. */
  readonly signal: AbortSignal;
  /** Answers the asking client sent along with the call. */
  readonly answers?: ClientAnswers | undefined;
  /** The id of a parked call that this one takes up. */
  readonly approvalId?: string | undefined;
  /** True if whoever calls can show that the call waits for somebody; else it is refused where nobody can be asked. */
  readonly mayPark: boolean;
  /** True if the host gave objects with the call: they cannot be kept, so it is not parked and takes up no parked call. */
  readonly hasOwnContext: boolean;
  /** Two calls with the same key are one. */
  readonly idempotencyKey?: string | undefined;
  /** True if whoever calls takes the whole result, however large. */
  readonly takesWhole: boolean;
  /** The W3C trace context for what the call sends out: that of its own span, else the one it came with. Always well-formed. */
  readonly traceparent?: string | undefined;
  /** The call inside which this one was made. */
  readonly parent?: ToolCall | undefined;
  /** The caller's own tools, never more. */
  readonly tools: {
    /** The active ones. */
    list(): readonly ToolSpec[];
    search(
      query: string,
      options?: { readonly limit?: number; readonly expand?: boolean },
    ): Promise<readonly SearchHit[]>;
    /** What they belong to, each with those of its tools that the caller may use. */
    bundles(): readonly BundleInfo[];
    call(name: string, input: unknown): Promise<ToolResult>;
  };
  report(progress: Progress): void;
  /**
   * Asks a person in the middle of the call, by the same ways as an approval. The call waits in memory, and its time
   * stands still. Whatever is not a clear yes is false: no answer in time, nobody to ask, a call that has ended.
   */
  confirm(question: string): Promise<boolean>;
  delegate(
    profile: string,
  ): Promise<{ readonly ok: true; readonly chest: unknown } | { readonly ok: false; readonly error: ToolError }>;
  /** The same call with more context, to hand to `next`. Arguments cannot be changed: they may have been approved. */
  with(context: Readonly<Record<string, unknown>>): ToolCall;
  /** The same call under a signal of its own, which also aborts with this one. `release` when the work has ended. */
  fork(): { readonly call: ToolCall; abort(reason: ToolError): void; release(): void };
  readonly [FACTS]: CallFacts;
  [SETTLE](input: JsonObject, parsed: unknown): ToolCall;
  [TAKE_UP](parked: TakenUp): ToolCall;
  /** Runs `listener` once when the call is aborted, at once if it has been; returns how to stop listening. */
  onAbort(listener: (reason: ToolError) => void): () => void;
}

/** One call as a vendor's message asks for it. `input` is what came, object or not; the pipeline judges it. */
export interface CallRequest {
  readonly id?: string;
  readonly name: string;
  readonly input: unknown;
}

/** Whose count a limit of this scope goes to. Unknown names share one count, so that a flood of them costs no memory. */
export function subjectOf(scope: Scope, call: ToolCall): string {
  switch (scope) {
    case 'caller':
      return call.caller.id ?? '';
    case 'tool':
      return call.spec.source === '' ? '' : call.spec.name;
    case 'profile':
      return call.profile;
    case 'source':
      return call.spec.source;
    case 'all':
      return '';
  }
}
