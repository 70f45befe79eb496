import { isRecord, type JsonObject } from './json.ts';
import type { Remember } from './ports/remember.ts';
import { describe, readOptions } from './read-options.ts';
import { ToolcribError, type ToolError } from './tool-error.ts';

/** The person or program that calls a tool. Without an id, every policy that needs an identity refuses the call. */
export interface Caller {
  readonly id?: string;
  readonly roles?: readonly string[];
  readonly permissions?: readonly string[];
  /** Profiles the caller may open, as globs; absent means all. */
  readonly profiles?: readonly string[];
  /** Sees every tool regardless of access clauses. Limits and approval still apply. */
  readonly operator?: boolean;
  /** The credential shown at a door. It is checked again before an approved call runs. Absent for callers created by the host. */
  readonly credential?: Credential;
  /** The host's approval callback. The host's own code provides it, so its answer counts. */
  readonly approve?: Approve;
}

/** The credential by which a server identified a caller: the API key with this id, a token of this issuer, or none. */
export type Credential =
  | { readonly kind: 'key'; readonly id: string }
  | { readonly kind: 'token'; readonly issuer?: string }
  | { readonly kind: 'none' };

/** Asks for approval. Only `true` or `{ approved: true }` approves. */
export type Approve = (request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>;
export type ApprovalAnswer =
  | boolean
  | {
      readonly approved: boolean;
      readonly note?: string;
      /** The name of the approver; default `host`. */
      readonly by?: string;
      /** Scope of a remembered approval. It needs a store. */
      readonly remember?: Remember;
    };

/** The approval request that the host's callback gets. */
export interface ApprovalRequest {
  readonly id: string;
  readonly tool: string;
  readonly title?: string;
  readonly description: string;
  readonly arguments: JsonObject;
  readonly caller: { readonly id?: string; readonly roles?: readonly string[] };
  readonly profile: string;
  readonly reason: string;
  /** The question of a running tool; absent if the request is to run the tool. */
  readonly question?: string;
  /** The door of the call: `library`, `rest`, `mcp`, `cli`. */
  readonly door: string;
  readonly conversation?: string;
  readonly turn?: string;
  readonly timeZone?: string;
  readonly idempotencyKey?: string;
  /** Answers to questions of the tool. The tool gets them with the arguments. */
  readonly inputResponses?: JsonObject;
  /** The tools that the call is nested in, innermost first. */
  readonly inside?: readonly string[];
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

const KEYS = ['id', 'roles', 'permissions', 'profiles', 'operator', 'credential', 'approve'] as const;
const ANONYMOUS: Caller = Object.freeze({});

/** Returns a frozen, checked copy of a caller. */
export function readCaller(caller: Caller | undefined): Caller {
  if (caller === undefined) return ANONYMOUS;
  const { id, roles, permissions, profiles, operator, credential, approve } = readOptions<Caller>(
    caller,
    KEYS,
    'A caller',
  );
  if (id !== undefined && (typeof id !== 'string' || id === '')) throw wrong('id', 'a text that is not empty', id);
  if (approve !== undefined && typeof approve !== 'function') throw wrong('approve', 'a function', approve);
  if (operator !== undefined && typeof operator !== 'boolean') throw wrong('operator', 'true or false', operator);
  return Object.freeze({
    ...(id !== undefined && { id }),
    ...(roles !== undefined && { roles: namesOf('roles', roles) }),
    ...(permissions !== undefined && { permissions: namesOf('permissions', permissions) }),
    ...(profiles !== undefined && { profiles: namesOf('profiles', profiles) }),
    ...(operator !== undefined && { operator }),
    ...(credential !== undefined && { credential: readCredential(credential) }),
    ...(approve !== undefined && { approve }),
  });
}

function readCredential(value: unknown): Credential {
  const { kind, id, issuer } = isRecord(value) ? value : {};
  if (kind === 'none') return Object.freeze({ kind });
  if (kind === 'token') return Object.freeze({ kind, ...(typeof issuer === 'string' && { issuer }) });
  if (kind === 'key' && typeof id === 'string') return Object.freeze({ kind, id });
  throw wrong('credential', 'one returned by crib.identify()', value);
}

function namesOf(key: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return Object.freeze([...value]);
  throw wrong(key, 'a list of names', value);
}

function wrong(key: string, expected: string, value: unknown): ToolcribError {
  return new ToolcribError('invalid_option', `"${key}" of a caller must be ${expected}, got ${describe(value)}.`);
}

/** The result of identifying a credential. */
export type Identity =
  | {
      readonly ok: true;
      readonly caller: Caller;
      readonly profiles: readonly string[];
      readonly operator: boolean;
      /** The highest priority that the caller may give a background call; no limit if absent. */
      readonly maxPriority?: number;
    }
  | { readonly ok: false; readonly error: ToolError };

/** The reason why a caller may no longer call in a profile; undefined if it may. */
export type Recheck = (caller: Caller, profile: string) => Promise<string | undefined>;
