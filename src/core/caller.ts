import { isRecord, type JsonObject } from './json.ts';
import type { Remember } from './ports/stored-approvals.ts';
import { describe, readOptions } from './read-options.ts';
import { ToolcribError, type ToolError } from './tool-error.ts';

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
  /** What the tool asks in the middle of its call; absent where the question is whether it may run. */
  readonly question?: string;
  /** Where the call came in: `library`, `rest`, `mcp`, `cli`. */
  readonly door: string;
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

const KEYS = ['id', 'roles', 'permissions', 'profiles', 'operator', 'credential', 'approve'] as const;
const NOBODY: Caller = Object.freeze({});

/** A frozen copy of who asks. A role that is not a list would match by its letters, so types are checked. */
export function readCaller(caller: Caller | undefined): Caller {
  if (caller === undefined) return NOBODY;
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
  const { kind, id } = isRecord(value) ? value : {};
  if (kind === 'token' || kind === 'none') return Object.freeze({ kind });
  if (kind === 'key' && typeof id === 'string') return Object.freeze({ kind, id });
  throw wrong('credential', 'one that crib.identify() gave', value);
}

function namesOf(key: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return Object.freeze([...value]);
  throw wrong(key, 'a list of names', value);
}

function wrong(key: string, expected: string, value: unknown): ToolcribError {
  return new ToolcribError('invalid_option', `"${key}" of a caller must be ${expected}, got ${describe(value)}.`);
}

/** What a credential turned out to be. */
export type Identity =
  | { readonly ok: true; readonly caller: Caller; readonly profiles: readonly string[]; readonly operator: boolean }
  | { readonly ok: false; readonly error: ToolError };

/** Why a caller may not call in a profile any more; undefined if it may. */
export type Recheck = (caller: Caller, profile: string) => Promise<string | undefined>;
