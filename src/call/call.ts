import type { Confirm } from '../core/approval-request.ts';
import { openQuestion } from '../core/begun-runs.ts';
import type { Caller } from '../core/caller.ts';
import { isPromise, type JsonObject } from '../core/json.ts';
import { inTraceOf, readTraceparent, toTraceparent } from '../core/ports/observability.ts';
import type { Submission } from '../core/ports/stored-tasks.ts';
import {
  type CallFacts,
  FACTS,
  PARSED,
  type Progress,
  type SaidAlong,
  SETTLE,
  TAKE_UP,
  type TakenUp,
  type ToolCall,
} from '../core/tool-call.ts';
import { messageOf, type ToolError } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { RUN, type ToolSpec } from '../core/tool-spec.ts';
import { type CallOptions, createCallId, readQuestion } from './call-input.ts';
import { Cancellation, explainEnd, Fork, type InFlight } from './cancellation.ts';

/** The parts that all copies of a call share. */
export interface CallOrigin {
  readonly options: CallOptions;
  readonly caller: Caller;
  readonly profile: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly parent: Call | undefined;
  readonly host: CallHost;
  /** Generated at first use. */
  id: string | undefined;
  readonly facts: CallFacts;
}

/** The services of the crib for a running call. */
export interface CallHost {
  /** Aborts when the crib closes, which waits for the calls in flight. */
  readonly lifetime: Cancellation;
  readonly inFlight: Pick<InFlight, 'enter' | 'leave'>;
  servicesFor(needs: readonly string[] | undefined): Readonly<Record<string, unknown>>;
  stateFor(tool: string): unknown;
  toolsFor(call: Call): ToolCall['tools'];
  delegate(call: Call, profile: string): ReturnType<ToolCall['delegate']>;
  /** Asks an approver during a call. */
  readonly confirm: Confirm;
  /** Stores a background call. */
  keepTask(call: ToolCall, submission: Submission): Promise<ToolResult>;
  warn(message: string): void;
}

const NO_CONTEXT: Readonly<Record<string, unknown>> = Object.freeze({});

interface CopiedParts {
  readonly parsed: unknown;
  readonly context: Readonly<Record<string, unknown>>;
  readonly cancellation: Cancellation;
  readonly takenUp: TakenUp | undefined;
  readonly facts: CallFacts;
}

/** A running call. A class for speed: id, signal, services and tools are created lazily, because most calls do not use them. */
export class Call implements ToolCall {
  readonly spec: ToolSpec;
  readonly origin: CallOrigin;
  readonly cancellation: Cancellation;
  /** The options of the parked call that this one continues, if any. */
  readonly takenUp: TakenUp | undefined;
  // Private, so that an extension cannot replace the arguments.
  readonly #input: JsonObject;
  readonly #parsed: unknown;
  readonly #context: Readonly<Record<string, unknown>>;
  // Private, so that a tool cannot replace them by facts saying that it did not run.
  readonly #facts: CallFacts;

  constructor(spec: ToolSpec, input: JsonObject, origin: CallOrigin, copied?: CopiedParts) {
    this.spec = spec;
    this.origin = origin;
    this.cancellation =
      copied?.cancellation ??
      new Cancellation(origin.parent?.cancellation ?? origin.host.lifetime, origin.options.signal, this);
    this.takenUp = copied?.takenUp;
    this.#input = input;
    this.#parsed = copied === undefined ? input : copied.parsed;
    this.#context = copied?.context ?? origin.options.context ?? NO_CONTEXT;
    this.#facts = copied?.facts ?? origin.facts;
  }

  /** True if `other` was derived from `call` by its own methods. */
  static isCopyOf(call: Call, other: object): other is Call {
    return #input in other && other.origin === call.origin;
  }

  get input(): JsonObject {
    return this.#input;
  }
  get [PARSED](): unknown {
    return this.#parsed;
  }
  get context(): Readonly<Record<string, unknown>> {
    return this.#context;
  }
  get id(): string {
    this.origin.id ??= createCallId();
    return this.origin.id;
  }
  get caller(): Caller {
    return this.takenUp?.caller ?? this.origin.caller;
  }
  get profile(): string {
    return this.origin.profile;
  }
  /** The options that the tool can read. */
  get said(): SaidAlong {
    return this.takenUp ?? this.origin.options;
  }
  get conversation(): string | undefined {
    return this.said.conversation;
  }
  get turn(): string | undefined {
    return this.said.turn;
  }
  get door(): string {
    return this.said.door ?? 'library';
  }
  get timeZone(): string | undefined {
    return this.said.timeZone;
  }
  get answers(): SaidAlong['answers'] {
    return this.said.answers;
  }
  get approvalId(): string | undefined {
    return this.origin.options.approvalId;
  }
  get mayPark(): boolean {
    return this.origin.options.park === true;
  }
  get batch(): string | undefined {
    return this.origin.options.batch;
  }
  get hasOwnContext(): boolean {
    return this.origin.options.context !== undefined;
  }
  get idempotencyKey(): string | undefined {
    return this.said.idempotencyKey;
  }
  get takesWhole(): boolean {
    return this.origin.options.wholeResult === true;
  }
  get traceparent(): string | undefined {
    const [{ options, parent }, { traceparent }] = [this.origin, this.#facts];
    if (this.takenUp !== undefined) return inTraceOf(this.takenUp.traceparent, traceparent);
    if (traceparent !== undefined) return traceparent;
    const came = readTraceparent(options.traceparent); // from the client, and sent on in headers
    return came === undefined ? parent?.traceparent : toTraceparent(came);
  }
  get [FACTS](): CallFacts {
    return this.#facts;
  }
  get settings(): Readonly<Record<string, unknown>> {
    const { settings } = this.spec[RUN];
    return settings === undefined ? this.origin.settings : { ...settings, ...this.origin.settings };
  }
  get parent(): Call | undefined {
    return this.origin.parent;
  }
  get services(): Readonly<Record<string, unknown>> {
    return this.origin.host.servicesFor(this.spec[RUN].needs);
  }
  get state(): unknown {
    return this.origin.host.stateFor(this.spec.name);
  }
  get tools(): ToolCall['tools'] {
    return this.origin.host.toolsFor(this);
  }
  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  /** Explains the end of the crib for this call: it depends on whether the tool may have run. */
  explain(reason: ToolError): ToolError {
    return explainEnd(reason, this.spec, this.#facts);
  }

  onAbort(listener: (reason: ToolError) => void): () => void {
    return this.cancellation.onAbort(listener);
  }

  report(progress: Progress): void {
    if (this.cancellation.reason !== undefined) return; // the call has ended
    try {
      const pending: unknown = this.origin.options.onProgress?.(progress);
      if (isPromise(pending)) pending.catch((cause) => this.#complain(cause));
    } catch (cause) {
      this.#complain(cause); // a progress listener must not break the tool
    }
  }

  #complain(cause: unknown): void {
    this.origin.host.warn(`The progress listener of a call of "${this.spec.name}" failed: ${messageOf(cause)}`);
  }

  async confirm(question: string): Promise<boolean> {
    const asked = readQuestion(question);
    if (this.#facts.isOver || this.cancellation.reason !== undefined) return false; // the call has ended
    const { call, close } = openQuestion(this);
    try {
      return await this.origin.host.confirm(call, asked, this.origin.caller.approve); // a parked call has no callback of its own
    } finally {
      close();
    }
  }

  delegate(profile: string): ReturnType<ToolCall['delegate']> {
    return this.origin.host.delegate(this, profile);
  }

  with(context: Readonly<Record<string, unknown>>): Call {
    return this.#copy({ context: Object.freeze({ ...this.context, ...context }) });
  }

  fork(): Fork<Call> {
    const cancellation = new Cancellation(this.cancellation);
    return new Fork(this.#copy({ cancellation }), cancellation);
  }

  [SETTLE](input: JsonObject, parsed: unknown): Call {
    this.#facts.came = this.#input;
    this.#facts.input = input;
    return this.withInput(input, parsed);
  }

  [TAKE_UP](parked: TakenUp): Call {
    return this.#copy({ takenUp: parked });
  }

  /** A copy with other arguments, for validation and the executor. */
  withInput(input: JsonObject, parsed: unknown): Call {
    const { context, cancellation, takenUp } = this;
    return new Call(this.spec, input, this.origin, { parsed, context, cancellation, takenUp, facts: this.#facts });
  }

  #copy(changes: Partial<CopiedParts>): Call {
    const { context = this.#context, cancellation = this.cancellation, takenUp = this.takenUp } = changes;
    const parts = { parsed: this.#parsed, context, cancellation, takenUp, facts: this.#facts };
    return new Call(this.spec, this.#input, this.origin, parts);
  }
}
