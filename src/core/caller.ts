import type { JsonObject } from './json.ts';
import type { Remember } from './ports/stored-approvals.ts';

/** Who asks. Without an id the caller is nobody in particular, and every policy that needs an identity refuses. */
export interface Caller {
  readonly id?: string;
  readonly roles?: readonly string[];
  readonly permissions?: readonly string[];
  /** Profiles the caller may open, as globs; absent means all. */
  readonly profiles?: readonly string[];
  /** Sees every tool, whatever its access clauses say; limits and approval hold all the same. */
  readonly operator?: boolean;
  /** What it showed at a door; an approved call is judged by it once more before it runs. Absent for callers of the host. */
  readonly credential?: Credential;
  /** The host's way to ask a person. It belongs to whoever embeds the crib, so its answer counts. */
  readonly approve?: Approve;
}

/** By what a server knew a caller: an API key of this id, a token of the issuer, or nothing. */
export type Credential = { readonly kind: 'key'; readonly id: string } | { readonly kind: 'token' | 'none' };

/** Asks a person; only `true` or `{ approved: true }` is a yes. */
export type Approve = (request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>;
export type ApprovalAnswer =
  | boolean
  | {
      readonly approved: boolean;
      readonly note?: string;
      /** Who answered; `host` if absent. */
      readonly by?: string;
      /** For what else a yes counts; a crib with a store remembers it. */
      readonly remember?: Remember;
    };

/** What a person is shown before saying yes or no. */
export interface ApprovalRequest {
  readonly id: string;
  readonly tool: string;
  readonly title?: string;
  readonly description: string;
  readonly arguments: JsonObject;
  readonly caller: { readonly id?: string; readonly roles?: readonly string[] };
  readonly profile: string;
  readonly reason: string;
  readonly conversation?: string;
  readonly turn?: string;
  readonly timeZone?: string;
  readonly idempotencyKey?: string;
  /** Answers to questions of the tool, which it gets with the arguments. */
  readonly inputResponses?: JsonObject;
  /** The tools inside whose calls it was called, the nearest first. */
  readonly inside?: readonly string[];
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}
