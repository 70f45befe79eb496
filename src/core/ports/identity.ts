import type { Caller } from '../caller.ts';
import type { ToolError } from '../tool-error.ts';

/** What a credential turned out to be. */
export type Identity =
  | { readonly ok: true; readonly caller: Caller; readonly profiles: readonly string[]; readonly operator: boolean }
  | { readonly ok: false; readonly error: ToolError };

/** Why a caller may not call in a profile any more; undefined if it may. */
export type Recheck = (caller: Caller, profile: string) => Promise<string | undefined>;
