import type { Caller } from '../caller.ts';
import type { JsonObject } from '../json.ts';
import type { Approver } from '../policy.ts';
import type { ToolResult } from '../tool-result.ts';
import type { ApprovalState } from './approval-states.ts';
import type { GrantFit, Remember } from './remember.ts';
import type { KeepBound, KeepBounds } from './stored-results.ts';

/** Everything that an answer is bound to. */
export interface ApprovalSubject {
  /** The caller's id; empty for an anonymous caller. */
  readonly callerId: string;
  /** Hash of the caller's roles, permissions and operator flag. A remembered approval is bound to it. */
  readonly callerHash: string;
  readonly profile: string;
  readonly tool: string;
  readonly definitionHash: string;
  readonly argumentsHash: string;
  /** Hash of the answers that the tool gets with its arguments, and of their state; absent without answers. */
  readonly answersHash?: string;
  /** Hash of the enclosing calls and their arguments; absent without any. */
  readonly insideHash?: string;
  /** Hash of the programs that the call is nested in, without their arguments: of a script, its code. Absent without any. */
  readonly programHash?: string;
  readonly conversation?: string;
  readonly timeZone?: string;
  /** The reason for the request; a remembered approval is bound to it. */
  readonly ground: string;
}

/** A new request. */
export interface NewApproval extends ApprovalSubject {
  readonly title?: string;
  /** The reason, as text. */
  readonly reason: string;
  /** The question of a running tool; absent if the request is to run the tool. */
  readonly question?: string;
  readonly description: string;
  readonly arguments: JsonObject;
  readonly turn?: string;
  readonly idempotencyKey?: string;
  /** The answers that the tool gets with its arguments. */
  readonly inputResponses?: JsonObject;
  /** The tools that the call is nested in, innermost first. */
  readonly inside?: readonly string[];
  readonly caller: { readonly id?: string; readonly roles?: readonly string[] };
  readonly door: string;
  readonly approvers: readonly Approver[];
  /** The reason why the caller may not approve although the policy allows it. */
  readonly notByCaller?: string;
  /** True if no call waits for the answer in memory: the same call sent again uses it. */
  readonly isParked: boolean;
  /** Inner calls of one script that wait at the same time share a batch. Such a request is parked, and neither listed nor answerable until its batch is sealed. */
  readonly batch?: string;
  /** Time to answer, and then to use the answer. */
  readonly lifetimeMs: number;
  /** Present if a server runs the call; absent if its caller must send it again. */
  readonly parked?: ParkedCall;
  /** Unlisted data that the call runs with. */
  readonly unlisted: UnlistedParts;
}

/** Data that the call runs with and that lists leave out. */
interface UnlistedParts {
  readonly caller: Omit<Caller, 'approve'>;
  readonly traceparent?: string;
  /** The input that its client can provide. */
  readonly capabilities?: JsonObject;
  /** State that the tool wants back with the answers. */
  readonly inputState?: string;
}

/** Data for a server to run a parked call after approval. */
interface ParkedCall {
  /** The id under which the parked call runs and its result is stored. */
  readonly callId: string;
}

/** The stored end of a parked call. */
export interface ParkedEnd {
  readonly result: ToolResult;
  /** True if the caller already has the result. */
  readonly isHandedOver: boolean;
  /** Bounds on stored result bytes; defaults if absent. */
  readonly bounds?: KeepBounds;
}

/** An approver's answer. */
export interface ApprovalReply {
  readonly decision: 'approve' | 'deny';
  readonly by: string;
  readonly note?: string;
  readonly remember?: Remember;
}

/** Keys that lists leave out: hashes, and data that the call runs with. */
export const UNLISTED_KEYS = [
  'callerId',
  'callerHash',
  'definitionHash',
  'argumentsHash',
  'answersHash',
  'insideHash',
  'programHash',
  'ground',
  'parked',
  'unlisted',
] as const;

/** Fields that only the requesting call needs. */
type Bound = (typeof UNLISTED_KEYS)[number] | 'lifetimeMs';

/** A request with its state and answer. */
export interface StoredApproval extends ListedApproval, Pick<NewApproval, Bound> {}

/** A request as listed: long arguments are cut. */
export interface ListedApproval extends Omit<NewApproval, Bound> {
  /** Length of the complete JSON in characters; present if the arguments are cut. */
  readonly argumentsLength?: number;
  /** Short enough to type, too long to guess. */
  readonly id: string;
  readonly state: ApprovalState;
  /** Milliseconds since 1970, like all times here. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly answer?: ApprovalReply & { readonly at: number };
  /** The call that claimed it last; it may have given it back. */
  readonly claim?: { readonly callId: string; readonly at: number };
  /** Outcome of that call: `done`, or an error code. */
  readonly outcome?: string;
  /** Present while its batch is not sealed. */
  readonly isSealed?: false;
}

/** The stored request, or the bound that leaves no room for it. */
type AddedApproval =
  | { readonly ok: true; readonly approval: StoredApproval; readonly isNew: boolean }
  | { readonly ok: false; readonly broken: KeepBound };

/** An approved request that a server runs, with its sort key. */
export interface RunnableApproval {
  readonly id: string;
  readonly createdAt: number;
}

/** Filter for listing requests. */
export interface ApprovalListing {
  readonly state?: ApprovalState;
  /** Only requests with these ids. */
  readonly ids?: readonly string[];
  /** Only requests of these batches. */
  readonly batches?: readonly string[];
  /** Only requests of this caller. */
  readonly callerId?: string;
  /** Only requests that are older than this one. */
  readonly before?: Pick<ListedApproval, 'id' | 'createdAt'>;
  /** Lists one request of each batch. */
  readonly isOncePerBatch?: true;
  readonly limit: number;
}

/** A remembered approval that may cover a call. */
export interface RememberedApproval {
  /** The id of the request that was approved. */
  readonly id: string;
  readonly by: string;
  /** Present if it counts its uses: the arguments of a call must fit. */
  readonly terms?: GrantFit;
}

/** A remembered approval as listed. */
export interface ListedGrant {
  readonly id: string;
  readonly by: string;
  readonly at: number;
  readonly expiresAt: number;
  /** Number of further calls; absent if they are not counted. */
  readonly usesLeft?: number;
  /** The request that was approved, with long arguments cut. Absent if it was purged. */
  readonly approval?: ListedApproval;
}

/** Storage for approval requests, answers and remembered approvals. */
export interface StoredApprovals {
  /** Adds a request if the bounds leave room. If an equal parked request exists, returns that one. */
  add(request: NewApproval, bounds: KeepBounds): Promise<AddedApproval>;
  /** Returns one request. Its arguments are complete while it is waiting, approved or running; later, long ones are cut. */
  get(id: string): Promise<StoredApproval | undefined>;
  /** The state of one request. Reads nothing else. */
  stateOf(id: string): Promise<ApprovalState | undefined>;
  /** The states of several requests. Unknown ids are left out. */
  statesOf(ids: readonly string[]): Promise<ReadonlyMap<string, ApprovalState>>;
  /** The newest ones, oldest first, with long arguments cut. */
  list(options: ApprovalListing): Promise<readonly ListedApproval[]>;
  /** The states of the newest requests, oldest first. Reads nothing else. */
  states(limit: number): Promise<readonly Pick<ListedApproval, 'id' | 'state'>[]>;
  /** Finds the parked request for the same call while it is waiting, approved and unclaimed, or denied and not expired; or after a server ran it and its result was not fetched. A call without answers also finds a request with answers, unless that is denied: it is the same call sent again. */
  find(subject: ApprovalSubject): Promise<StoredApproval | undefined>;
  /** All requests of a batch, sealed or not, oldest first, with their complete arguments while they are needed. */
  ofBatch(batch: string): Promise<readonly StoredApproval[]>;
  /** Seals a batch: its waiting requests are listed and can be answered from now on, with their whole lifetime. Returns all of its requests. Can be called twice. */
  sealBatch(batch: string): Promise<readonly StoredApproval[]>;
  /** Answers a request; the first answer wins. Undefined if it was answered, has expired or is not sealed. With `callId`, an approval is claimed in the same step. */
  answer(id: string, reply: ApprovalReply, callId?: string): Promise<StoredApproval | undefined>;
  /** Answers all waiting requests of a sealed batch in one step; returns those that this answer was the first for. */
  answerBatch(batch: string, reply: ApprovalReply): Promise<readonly StoredApproval[]>;
  /** Claims an approved request, once. Undefined if it is not approved, already claimed, expired, or bound to something else. */
  claim(id: string, subject: ApprovalSubject, callId: string): Promise<StoredApproval | undefined>;
  /** Releases a claim because the call has not begun: the request is approved again, with its old expiry. False if another process claimed it, or its outcome already counts as unknown. */
  giveBack(id: string): Promise<boolean>;
  /** Approved requests that a server must run, oldest first, starting after `after`. */
  runnable(after: RunnableApproval | undefined, limit: number): Promise<readonly RunnableApproval[]>;
  /** Stores the outcome of the call that claimed it: `done`, or an error code. Works even if its process counted as gone. */
  finish(id: string, outcome: string, end?: ParkedEnd): Promise<void>;
  /** The request of a parked call, with long arguments cut, and its result while that is stored. */
  ofCall(callId: string): Promise<{ readonly approval: StoredApproval; readonly result?: ToolResult } | undefined>;
  /** Returns the stored result and marks it as handed over. `first`: only if it was not handed over before. */
  takeResult(id: string, which: 'first' | 'any'): Promise<ToolResult | undefined>;
  /** Ends a waiting request; false if it is not waiting. */
  end(id: string, state: 'expired' | 'withdrawn'): Promise<boolean>;
  /** The newest earlier request of the same caller for the same tool that was approved, with long arguments cut. */
  lastApproved(request: StoredApproval): Promise<StoredApproval | undefined>;
  /** The remembered approvals that may cover this subject: those without a count first, then the newest. */
  remembered(subject: ApprovalSubject): Promise<readonly RememberedApproval[]>;
  /** Counts one use of a remembered approval. False if none is left, it has ended or was forgotten. */
  useGrant(id: string): Promise<boolean>;
  /** Returns a use, because the call has not begun. */
  returnUse(id: string): Promise<void>;
  /** The remembered approvals that count now, newest first. */
  grants(limit: number): Promise<readonly ListedGrant[]>;
  /** Forgets a remembered approval; false if there is none. */
  forget(id: string): Promise<boolean>;
  /** Reports batches sealed through this object. */
  onSeal(listener: (batch: string) => void): () => void;
  /** Reports the ids of requests answered or finished through this object. Changes by other processes must be polled. */
  onAnswer(listener: (id: string) => void): () => void;
}
