import type { Caller } from '../caller.ts';
import type { JsonObject } from '../json.ts';
import type { Approver } from '../policy.ts';
import type { ToolResult } from '../tool-result.ts';
import type { ApprovalState } from './approval-states.ts';
import type { KeepBound, KeepBounds } from './stored-results.ts';

/** For what else a yes counts: this conversation, these arguments, or everything for a time. */
export type Remember = 'conversation' | 'arguments' | { readonly forMs: number };

/** The longest that a yes is remembered. */
export const MAX_REMEMBER_MS = 30 * 86_400_000;

/** What an answer counts for, and nothing else. */
export interface ApprovalSubject {
  /** The caller's id; empty for nobody in particular. */
  readonly callerId: string;
  /** Of the caller's roles, permissions and being an operator: what is remembered counts for these only. */
  readonly callerHash: string;
  readonly profile: string;
  readonly tool: string;
  readonly definitionHash: string;
  readonly argumentsHash: string;
  /** Of the answers that the tool gets with its arguments, and of the state that they belong to; absent for none. */
  readonly answersHash?: string;
  /** Of the calls inside which it was made, and their arguments; absent for none. */
  readonly insideHash?: string;
  readonly conversation?: string;
  readonly timeZone?: string;
  /** What asks; a yes that is remembered counts for nothing else. */
  readonly ground: string;
}

/** A request as a call makes it. */
export interface NewApproval extends ApprovalSubject {
  readonly title?: string;
  /** Why a person is asked, in words. */
  readonly reason: string;
  /** What the tool asks in the middle of its call; absent where the question is whether it may run. */
  readonly question?: string;
  readonly description: string;
  readonly arguments: JsonObject;
  readonly turn?: string;
  readonly idempotencyKey?: string;
  /** The answers that the tool gets with its arguments. */
  readonly inputResponses?: JsonObject;
  /** The tools inside whose calls it was made, the nearest first. */
  readonly inside?: readonly string[];
  readonly caller: { readonly id?: string; readonly roles?: readonly string[] };
  readonly door: string;
  readonly approvers: readonly Approver[];
  /** Why the caller is not among them although policy names it. */
  readonly notByCaller?: string;
  /** Nobody waits for the answer in memory: the same call sent again takes it up. */
  readonly isParked: boolean;
  /** How long there is to answer, and then to take it up. */
  readonly lifetimeMs: number;
  /** There where a server runs it; absent where whoever asked does. */
  readonly parked?: ParkedCall;
  /** What the call runs with besides what is listed. */
  readonly unlisted: UnlistedParts;
}

/** Parts of a request that its call runs with, and that lists leave out. */
interface UnlistedParts {
  readonly caller: Omit<Caller, 'approve'>;
  readonly traceparent?: string;
  /** What its client can be asked for. */
  readonly capabilities?: JsonObject;
  /** What the tool wants back with the answers. */
  readonly inputState?: string;
}

/** What a server needs besides to run a parked call itself when somebody has said yes. */
interface ParkedCall {
  /** The call that was parked; it is run and its result found under this id. */
  readonly callId: string;
}

/** What is kept of a call that was parked for a server. */
export interface ParkedEnd {
  readonly result: ToolResult;
  /** The caller has it already. */
  readonly isHandedOver: boolean;
  /** How many bytes of results may be kept; the defaults if absent. */
  readonly bounds?: KeepBounds;
}

/** What somebody answered. */
export interface ApprovalReply {
  readonly decision: 'approve' | 'deny';
  readonly by: string;
  readonly note?: string;
  readonly remember?: Remember;
}

/** The keys of what is kept apart from what is listed: it is bound, or the call runs with it. */
export const UNLISTED_KEYS = [
  'callerId',
  'callerHash',
  'definitionHash',
  'argumentsHash',
  'answersHash',
  'insideHash',
  'ground',
  'parked',
  'unlisted',
] as const;

/** What only the one who asks needs of a request. */
type Bound = (typeof UNLISTED_KEYS)[number] | 'lifetimeMs';

/** A request and what became of it. */
export interface StoredApproval extends ListedApproval, Pick<NewApproval, Bound> {}

/** The same as it is listed: long arguments are cut. */
export interface ListedApproval extends Omit<NewApproval, Bound> {
  /** How many characters of JSON the whole arguments take; present where they are cut. */
  readonly argumentsLength?: number;
  /** Short enough to type, too long to guess. */
  readonly id: string;
  readonly state: ApprovalState;
  /** Milliseconds since 1970, like all times here. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly answer?: ApprovalReply & { readonly at: number };
  /** The call that took it up last; it may have given it back. */
  readonly claim?: { readonly callId: string; readonly at: number };
  /** How that call ended: `done`, or the code of its failure. */
  readonly outcome?: string;
}

/** A request that is in the store now, or the bound that leaves no room for it. */
type AddedApproval =
  | { readonly ok: true; readonly approval: StoredApproval; readonly isNew: boolean }
  | { readonly ok: false; readonly broken: KeepBound };

/** An approved request that a server runs, and its place among the others. */
export interface RunnableApproval {
  readonly id: string;
  readonly createdAt: number;
}

/** Which requests are listed. */
export interface ApprovalListing {
  readonly state?: ApprovalState;
  /** Only these, where they are named. */
  readonly ids?: readonly string[];
  readonly limit: number;
}

/** Requests for approval, their answers, and what is remembered of them. */
export interface StoredApprovals {
  /** Adds a request if the bounds leave room for it. Of a parked one that is there already and counts for the same, that one is returned. */
  add(request: NewApproval, bounds: KeepBounds): Promise<AddedApproval>;
  /** One request. Its arguments are whole while it waits, is approved or runs; afterwards long ones are cut. */
  get(id: string): Promise<StoredApproval | undefined>;
  /** The state of one request, without reading the rest of it. */
  stateOf(id: string): Promise<ApprovalState | undefined>;
  /** The same of several; those that are not there are left out. */
  statesOf(ids: readonly string[]): Promise<ReadonlyMap<string, ApprovalState>>;
  /** The newest ones, oldest first, with long arguments cut. */
  list(options: ApprovalListing): Promise<readonly ListedApproval[]>;
  /** The states of the newest ones, oldest first, without reading the rest of them. */
  states(limit: number): Promise<readonly Pick<ListedApproval, 'id' | 'state'>[]>;
  /** The parked request for the same, while it waits, is approved and not taken up, or is denied and not expired; or a server ran it and nobody has its result. For a call without answers also one with answers, unless it is denied: it is the same call sent again. */
  find(subject: ApprovalSubject): Promise<StoredApproval | undefined>;
  /** The first answer wins: undefined if there is one, or it is too late. With `callId` a yes is taken up in the same step. */
  answer(id: string, reply: ApprovalReply, callId?: string): Promise<StoredApproval | undefined>;
  /** Takes an approved request up, once: undefined if it is not approved, taken, expired, or was for something else. */
  claim(id: string, subject: ApprovalSubject, callId: string): Promise<StoredApproval | undefined>;
  /** The call that took it up has not begun: it is approved again, as long as it was. False if it is not this process that took it up, or its outcome counts as unknown by now. */
  giveBack(id: string): Promise<boolean>;
  /** Those that are approved and parked for a server, oldest first, from the one after `after`. */
  runnable(after: RunnableApproval | undefined, limit: number): Promise<readonly RunnableApproval[]>;
  /** Notes how the call that took it up ended: `done`, or the code of its failure. Also where its process counted as gone. */
  finish(id: string, outcome: string, end?: ParkedEnd): Promise<void>;
  /** The request of a call that was parked for a server, with long arguments cut, and its result while that is kept. */
  ofCall(callId: string): Promise<{ readonly approval: StoredApproval; readonly result?: ToolResult } | undefined>;
  /** The kept result, which counts as handed over from now on. `first`: only if it was not before. */
  takeResult(id: string, which: 'first' | 'any'): Promise<ToolResult | undefined>;
  /** Ends a request that still waits; false if it does not. */
  end(id: string, state: 'expired' | 'withdrawn'): Promise<boolean>;
  /** The answer that is remembered for this, if there is one. */
  remembered(subject: ApprovalSubject): Promise<{ readonly id: string; readonly by: string } | undefined>;
  /** No longer remembers this answer; false if it was not. */
  forget(id: string): Promise<boolean>;
  /** Tells the ids of requests answered or finished through this object; what others do is seen by looking. */
  onAnswer(listener: (id: string) => void): () => void;
}
