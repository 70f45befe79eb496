import type { JsonValue } from '../json.ts';
import type { ToolResult } from '../tool-result.ts';
import type { KeepBound, Keeping } from './keep-bounds.ts';

/** A result that is too large to hand over at once. */
export interface KeptResult {
  readonly id: string;
  /** The id of the caller it belongs to; '' for callers without one. */
  readonly owner: string;
  readonly tool: string;
  readonly text: string;
  /** What the tool answered as data, where its text does not say the same. */
  readonly data?: JsonValue;
  readonly expiresAt: number;
}

/** Large results, until they expire. */
export interface StoredResults {
  /** False if the quota does not hold it any more. */
  put(result: KeptResult, quotaBytes: number): Promise<boolean>;
  get(id: string): Promise<KeptResult | undefined>;
}

/** Whose call it is: two calls with the same caller, profile, tool and key are one. */
type RepeatKey = string;

/** What became of the first call with a key. */
export type FirstCall =
  | { readonly state: 'new' }
  | { readonly state: 'running'; readonly argumentsHash: string }
  /** Its process is gone, and with it how it ended. */
  | { readonly state: 'lost'; readonly argumentsHash: string }
  | { readonly state: 'ended'; readonly argumentsHash: string; readonly result: ToolResult }
  | { readonly state: 'refused'; readonly broken: KeepBound };

/** Calls that must not be made twice, by their idempotency keys. */
export interface StoredRepeats {
  /** Takes the key for this call, tells of the call that has it, or refuses it where a bound leaves no room. */
  begin(key: RepeatKey, call: RepeatingCall): Promise<FirstCall>;
  /** Keeps the result for later calls with the same key. */
  end(key: RepeatKey, callId: string, ending: RepeatEnding): Promise<void>;
  /** Lets the key go: the tool did not run. */
  forget(key: RepeatKey, callId: string): Promise<void>;
}

/** A call that comes with a key. */
export interface RepeatingCall {
  readonly id: string;
  readonly argumentsHash: string;
  readonly keepMs: number;
  /** Absent for keys of the crib itself, which count for no caller. */
  readonly keeping?: Keeping;
}

/** How a call with a key ended. */
export interface RepeatEnding extends Keeping {
  readonly result: ToolResult;
  /** Kept where the bounds in bytes leave no room for the result: at most `RESERVED_BYTES` of JSON. */
  readonly instead: ToolResult;
}

/** What every key takes from the beginning on, so that there is room for the end of its call. */
export const RESERVED_BYTES = 1000;
