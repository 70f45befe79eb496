import type { JsonValue } from './json.ts';
import type { ToolResult } from './tool-result.ts';

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
  | { readonly state: 'running'; readonly argumentsHash: string; readonly since: number }
  | { readonly state: 'ended'; readonly argumentsHash: string; readonly result: ToolResult };

/** Calls that must not be made twice, by their idempotency keys. */
export interface StoredRepeats {
  /** Takes the key for this call, or tells of the call that has it. */
  begin(key: RepeatKey, call: RepeatingCall): Promise<FirstCall>;
  /** Keeps the result for whoever comes with the same key. */
  end(key: RepeatKey, callId: string, result: ToolResult): Promise<void>;
  /** Lets the key go: the tool did not run. */
  forget(key: RepeatKey, callId: string): Promise<void>;
}

/** A call that comes with a key. */
interface RepeatingCall {
  readonly id: string;
  readonly argumentsHash: string;
  readonly keepMs: number;
}
