/** Any value that JSON can carry. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
export type JsonMembers = { readonly [name: string]: Json };

/** Scope of a remembered approval. */
export type Remember = 'conversation' | 'arguments' | { readonly forMs: number } | GrantTerms;

/** A number of further calls until an end. Their arguments are the approved ones, except those that may vary. */
export interface GrantTerms {
  readonly uses: number;
  readonly forMs?: number;
  readonly until?: string;
  /** JSON Schemas of the arguments that may vary, by name. */
  readonly vary?: Readonly<Record<string, JsonMembers>>;
}

/** A request for approval, as REST answers it. */
export interface Approval {
  readonly id: string;
  readonly state: 'waiting' | 'approved' | 'denied' | 'expired' | 'withdrawn' | 'claimed' | 'done';
  readonly tool: string;
  readonly title?: string;
  readonly description: string;
  readonly arguments: JsonMembers;
  readonly argumentsLength?: number;
  readonly caller: { readonly id?: string; readonly roles?: readonly string[] };
  readonly profile: string;
  readonly conversation?: string;
  readonly turn?: string;
  readonly timeZone?: string;
  readonly idempotencyKey?: string;
  readonly inputResponses?: JsonMembers;
  readonly inside?: readonly string[];
  readonly door: string;
  readonly reason: string;
  readonly question?: string;
  readonly approvers: readonly string[];
  readonly notByCaller?: string;
  readonly isParked: boolean;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly answer?: ApprovalAnswer;
  readonly claim?: { readonly callId: string; readonly at: string };
  readonly outcome?: string;
  /** Requests of one script that wait together share a batch. */
  readonly batch?: string;
  /** The calls of a batch; the id of the request is then that of the batch. */
  readonly items?: readonly ApprovalItem[];
}

/** One call of a batch. It can be answered by its own id. */
export type ApprovalItem = Pick<
  Approval,
  | 'id'
  | 'state'
  | 'tool'
  | 'title'
  | 'description'
  | 'arguments'
  | 'argumentsLength'
  | 'inputResponses'
  | 'reason'
  | 'approvers'
  | 'expiresAt'
  | 'answer'
  | 'claim'
  | 'outcome'
>;

interface ApprovalAnswer {
  readonly decision: 'approve' | 'deny';
  readonly by: string;
  readonly at: string;
  readonly note?: string;
  readonly remember?: Remember;
}

/** What an answer is bound to, the danger of the tool, and the last approved call of the same tool and caller. */
export interface ApprovalBinding {
  readonly argumentsHash: string;
  readonly definitionHash: string;
  /** What the tool can do to the world. Absent if the tool is gone. */
  readonly danger?: string;
  readonly previous?: PreviousCall;
}

export interface PreviousCall {
  readonly id: string;
  readonly arguments: JsonMembers;
  readonly argumentsLength?: number;
  readonly by?: string;
  readonly at: string;
  readonly sameArguments: boolean;
  readonly sameDefinition: boolean;
}

/** What the approver decides. */
export interface Decision {
  readonly decision: 'approve' | 'deny';
  readonly note?: string;
  readonly remember?: Remember;
}
