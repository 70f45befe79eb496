import type { Question } from './approval-request.ts';
import type { BegunRuns, CallTime } from './begun-runs.ts';
import type { BundleInfo } from './bundle.ts';
import type { Caller } from './caller.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Scope } from './policy.ts';
import type { CallJournal } from './ports/stored-journals.ts';
import type { TaskRun } from './ports/stored-tasks.ts';
import type { SearchHit, SearchRequest } from './retriever.ts';
import type { ToolError } from './tool-error.ts';
import type { ToolResult } from './tool-result.ts';
import type { ToolSpec } from './tool-spec.ts';

/** Progress of a tool, in its own words or numbers. */
export type Progress = JsonValue;

/** The key of the parsed arguments, for executors only. */
export const PARSED: unique symbol = Symbol('toolcrib.parsed');

/** The key of the method that replaces arguments by validated ones, for validation only. */
export const SETTLE: unique symbol = Symbol('toolcrib.settle');

/** The key of facts that built-in gates collect for extensions that record the call. */
export const FACTS: unique symbol = Symbol('toolcrib.facts');

/** The key of the method that replaces the options of a call by those of a parked call, for approval only. */
export const TAKE_UP: unique symbol = Symbol('toolcrib.takeUp');

/** Facts about a call; all copies of the call share them. */
export interface CallFacts extends BegunRuns {
  /** The arguments before validation, if validation changed them. */
  came?: JsonObject;
  /** The arguments after validation. */
  input?: JsonObject;
  /** Hash of the code of a script. Remembered approvals of its inner calls are bound to it. */
  program?: string;
  /** The approval that rules require for these arguments. */
  asks?: Question;
  /** The approval that the call used, and its approver. */
  approval?: { readonly id: string; readonly by: string; readonly isRemembered?: true };
  /** Answered without running the tool: by an earlier call with the same key, or from the cache. */
  replayed?: 'repeat' | 'cache';
  /** True for a call that an emergency stop refused on entry. */
  isStopped?: true;
  /** Number of audit rows that announced a run of the call. */
  intents?: number;
  /** The trace context of its own span. */
  traceparent?: string;
  /** The slots that the call holds; a call that is nested in it must not wait for them. */
  slots?: readonly unknown[];
  /** The timers of the call. */
  time?: CallTime;
  /** Reports to the door the request by which the tool asks during the call. */
  onQuestion?(id: string): void;
  /** Ends the questions that are open at this moment. */
  questions?: Set<() => void>;
  /** Present if a task makes the call. */
  task?: TaskRun;
  /** The journal of a script. */
  journal?: CallJournal;
  /** The approval that was given to a script before it waited. */
  granted?: { readonly id: string; readonly by: string };
}

/** Answers that the client sent along with a call. */
export interface ClientAnswers {
  readonly approval?: boolean;
  /** For a server that requests more input before it answers. */
  readonly input?: InputAnswers;
}

/** The input that a client can provide to the server behind a tool, and its answers so far. */
export interface InputAnswers {
  /** The client's MCP capabilities. It is asked for nothing else. */
  readonly capabilities?: JsonObject;
  /** Answers by the key of their request. */
  readonly responses?: JsonObject;
  /** State that the server wants back unchanged. */
  readonly state?: string;
}

/** Options of a call besides tool and arguments that its tool can read. */
export interface SaidAlong {
  /** The door of the call; default `library`. */
  readonly door?: string;
  readonly conversation?: string;
  readonly turn?: string;
  readonly timeZone?: string;
  /** Idempotency key: two calls of one caller with the same key are one call, and the second gets the result of the first. */
  readonly idempotencyKey?: string;
  /** W3C trace context; the parent of the call's spans. */
  readonly traceparent?: string;
  readonly answers?: ClientAnswers;
}

/** The options and caller of a parked call. The call that takes it up runs with them. */
export interface TakenUp extends SaidAlong {
  readonly caller: Omit<Caller, 'approve'>;
}

/** Tools for calls that are nested in a call. */
export interface NestedTools {
  /** The active tools. */
  list(): readonly ToolSpec[];
  /** A tool that the caller may use, active or not. */
  get(name: string): ToolSpec | undefined;
  /** The tools to show to a model, by `expose` of the profile. */
  shown(): readonly ToolSpec[];
  /** The instructions of the active bundles and their tools. */
  instructions(): string;
  search(
    request: SearchRequest,
    options?: { readonly limit?: number; readonly expand?: boolean },
  ): Promise<readonly SearchHit[]>;
  /** The bundles, each with those of its tools that the caller may use. */
  bundles(): readonly BundleInfo[];
  call(name: string, input: unknown, options?: NestedOptions): Promise<ToolResult>;
}

/** Options of a nested call; the others are those of the call around it. */
interface NestedOptions {
  /** False: the nested call is refused instead of parked, even if this call may be parked. */
  readonly park?: boolean;
  /** The batch in which the nested call waits. Its request is listed after the batch was sealed. */
  readonly batch?: string;
  /** Uses an approval of an earlier nested call that is the same. */
  readonly approvalId?: string;
  readonly id?: string;
  /** Aborts the nested call alone. */
  readonly signal?: AbortSignal;
}

/** The tools of another profile, opened for the same caller, or the reason why not. */
export type Delegation =
  | { readonly ok: true; readonly chest: NestedTools & { readonly profile: string } }
  | { readonly ok: false; readonly error: ToolError };

/** A call of a tool: the argument of every gate, observer and executor. */
export interface ToolCall {
  readonly id: string;
  readonly spec: ToolSpec;
  /** The arguments, copied and frozen on entry; valid after validation. */
  readonly input: JsonObject;
  /** The value that the author's own schema parsed from `input` (a Date, say), or `input` itself. Mutable, so for the executor only. */
  readonly [PARSED]: unknown;
  readonly caller: Caller;
  /** The profile's name. */
  readonly profile: string;
  readonly conversation?: string | undefined;
  readonly turn?: string | undefined;
  /** The door of the call: `library`, `rest`, `mcp`, `cli`. */
  readonly door: string;
  readonly timeZone?: string | undefined;
  /** The services that the tool named in `needs`; no others. */
  readonly services: Readonly<Record<string, unknown>>;
  readonly settings: Readonly<Record<string, unknown>>;
  /** The state returned by the setup of the tool's bundle. */
  readonly state: unknown;
  /** Context passed by the host with this call, and values that outer extensions set for inner ones. */
  readonly context: Readonly<Record<string, unknown>>;
  /** Aborts when the call is cancelled or times out. */
  readonly signal: AbortSignal;
  /** Answers that the client sent along with the call. */
  readonly answers?: ClientAnswers | undefined;
  /** The approval of a parked call that this call continues. */
  readonly approvalId?: string | undefined;
  /** True if the caller accepts a `waiting` result. Otherwise a call that needs approval is refused if no approver is available. */
  readonly mayPark: boolean;
  /** The batch in which an inner call of a script waits for approval. */
  readonly batch?: string | undefined;
  /** True if the host passed context objects. They cannot be stored, so the call is neither parked nor does it continue a parked call. */
  readonly hasOwnContext: boolean;
  /** Idempotency key: two calls with the same key are one. */
  readonly idempotencyKey?: string | undefined;
  /** True if the caller accepts a result of any size. */
  readonly takesWhole: boolean;
  /** The W3C trace context for outgoing requests: the call's own span, or else the incoming context. Always well-formed. */
  readonly traceparent?: string | undefined;
  /** The call that this call is nested in. */
  readonly parent?: ToolCall | undefined;
  /** The caller's own tools, never more. */
  readonly tools: NestedTools;
  report(progress: Progress): void;
  /**
   * Asks an approver during the call, in the same ways as an approval. The call waits in memory, and its timers pause.
   * Returns false unless the answer is a clear yes: on timeout, without an approver, or after the call has ended.
   */
  confirm(question: string): Promise<boolean>;
  /** Opens another profile for the same caller, if the profile of this call may delegate to it. Its calls are nested in this call. */
  delegate(profile: string): Promise<Delegation>;
  /** A copy of the call with more context, for `next`. Arguments cannot be changed, because they may have been approved. */
  with(context: Readonly<Record<string, unknown>>): ToolCall;
  /** A copy of the call with its own signal, which also aborts with this one. Call `release` when the work has ended. */
  fork(): { readonly call: ToolCall; abort(reason: ToolError): void; release(): void };
  readonly [FACTS]: CallFacts;
  [SETTLE](input: JsonObject, parsed: unknown): ToolCall;
  [TAKE_UP](parked: TakenUp): ToolCall;
  /** Runs `listener` once when the call is aborted, at once if it already is; returns a function that stops listening. */
  onAbort(listener: (reason: ToolError) => void): () => void;
}

/** One call as requested in a vendor's message. `input` is not validated yet. */
export interface CallRequest {
  readonly id?: string;
  readonly name: string;
  readonly input: unknown;
}

/** The counter that a limit of this scope uses. All unknown names share one counter, to bound memory. */
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
