import type { Confirm } from '../core/approval-request.ts';
import { holdCallTime } from '../core/begun-runs.ts';
import type { Caller } from '../core/caller.ts';
import { isPromise, type JsonObject } from '../core/json.ts';
import { readTraceparent, toTraceparent } from '../core/ports/observability.ts';
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
import { messageOf, notAvailable, type ToolError } from '../core/tool-error.ts';
import { RUN, type ToolSpec } from '../core/tool-spec.ts';
import { type CallOptions, createCallId, readQuestion } from './call-input.ts';
import { Cancellation, explainEnd } from './cancellation.ts';

/** What all copies of one call share. */
export interface CallOrigin {
  readonly options: CallOptions;
  readonly caller: Caller;
  readonly profile: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly parent: Call | undefined;
  readonly host: CallHost;
  /** Made when first asked for. */
  id: string | undefined;
  readonly facts: CallFacts;
}

/** What the crib gives to a running call. */
export interface CallHost {
  /** Ends with the crib. */
  readonly lifetime: Cancellation;
  servicesFor(needs: readonly string[] | undefined): Readonly<Record<string, unknown>>;
  stateFor(tool: string): unknown;
  toolsFor(call: Call): ToolCall['tools'];
  /** Asks a person in the middle of a call. */
  readonly confirm: Confirm;
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

/** A running call. A class for speed: what most calls never ask for (id, signal, services, tools) is made at first look. */
export class Call implements ToolCall {
  readonly spec: ToolSpec;
  readonly origin: CallOrigin;
  readonly cancellation: Cancellation;
  /** What the parked call was made with that this one takes up; undefined where it takes up none. */
  readonly takenUp: TakenUp | undefined;
  // Private: an extension must not be able to put other arguments in their place.
  readonly #input: JsonObject;
  readonly #parsed: unknown;
  readonly #context: Readonly<Record<string, unknown>>;
  // Likewise: a tool must not be able to put others in their place, which say that it did not run.
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

  /** True if `other` was made from `call` by its own methods. */
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
  /** What its tool can read of what was said about it. */
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
    const { options, parent } = this.origin;
    const facts = this.#facts;
    if (this.takenUp !== undefined) return inTraceOf(this.takenUp.traceparent, facts.traceparent);
    if (facts.traceparent !== undefined) return facts.traceparent;
    const came = readTraceparent(options.traceparent); // from outside, and on its way into headers
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

  /** What it means for this call that it is called off: the end of a server says nothing about what the tool has done. */
  explain(reason: ToolError): ToolError {
    return explainEnd(reason, this.spec, this.#facts);
  }

  onAbort(listener: (reason: ToolError) => void): () => void {
    return this.cancellation.onAbort(listener);
  }

  report(progress: Progress): void {
    if (this.cancellation.reason !== undefined) return; // nobody listens any more
    try {
      const pending: unknown = this.origin.options.onProgress?.(progress);
      if (isPromise(pending)) pending.catch((cause) => this.#complain(cause));
    } catch (cause) {
      // Who listens to progress must not be able to break the tool that makes it.
      this.#complain(cause);
    }
  }

  #complain(cause: unknown): void {
    this.origin.host.warn(`The progress listener of a call of "${this.spec.name}" failed: ${messageOf(cause)}`);
  }

  async confirm(question: string): Promise<boolean> {
    const asked = readQuestion(question);
    if (this.#facts.isOver === true || this.cancellation.reason !== undefined) return false; // nothing hears the answer
    const goOn = holdCallTime(this);
    try {
      return await this.origin.host.confirm(this, asked, this.origin.caller.approve); // that of a taken-up call is gone
    } finally {
      goOn();
    }
  }

  async delegate(_profile: string): Promise<never> {
    throw notAvailable('Delegation to another profile', 'use call.tools, which are the tools of this profile');
  }

  with(context: Readonly<Record<string, unknown>>): Call {
    return this.#copy({ context: Object.freeze({ ...this.context, ...context }) });
  }

  fork(): { readonly call: Call; abort(reason: ToolError): void; release(): void } {
    const cancellation = new Cancellation(this.cancellation);
    const call = this.#copy({ cancellation });
    return { call, abort: (reason) => cancellation.abort(reason), release: () => cancellation.release() };
  }

  [SETTLE](input: JsonObject, parsed: unknown): Call {
    this.#facts.came = this.#input;
    this.#facts.input = input;
    return this.withInput(input, parsed);
  }

  [TAKE_UP](parked: TakenUp): Call {
    return this.#copy({ takenUp: parked });
  }

  /** The same call with other arguments, for validation and for the executor. */
  withInput(input: JsonObject, parsed: unknown): Call {
    const { context, cancellation, takenUp } = this;
    return new Call(this.spec, input, this.origin, { parsed, context, cancellation, takenUp, facts: this.#facts });
  }

  #copy(changes: Partial<CopiedParts>): Call {
    const { context, cancellation, takenUp } = this;
    const parts = { parsed: this.#parsed, context, cancellation, takenUp, facts: this.#facts, ...changes };
    return new Call(this.spec, this.input, this.origin, parts);
  }
}

/** The own span of a call, if it belongs to the trace of the parked call; else what that one came with. */
function inTraceOf(parked: string | undefined, own: string | undefined): string | undefined {
  const traceId = readTraceparent(parked)?.traceId;
  return traceId !== undefined && readTraceparent(own)?.traceId === traceId ? own : parked;
}
