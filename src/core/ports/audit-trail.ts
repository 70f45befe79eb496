import type { ToolCall } from '../tool-call.ts';
import type { ToolResult } from '../tool-result.ts';

/** The key under which the extension that puts calls on record says for how many days rows are kept; undefined for ever. */
export const KEPT_DAYS: unique symbol = Symbol('toolcrib.keptDays');

/** An extension that puts calls on record. */
export interface Recording {
  readonly [KEPT_DAYS]: number | undefined;
}

/** A call whose process is gone: it ran, or was about to. */
export interface LostCall {
  readonly callId: string;
  /** When it began, in milliseconds since 1970. */
  readonly at: number;
  readonly caller?: string;
  readonly roles?: readonly string[];
  readonly conversation?: string;
  /** Empty where that is not known. */
  readonly door: string;
  readonly profile: string;
  readonly source: string;
  readonly tool: string;
  readonly argumentsHash?: string;
  readonly approval?: { readonly id: string; readonly by: string };
  /** How many rows announced that it was about to run, and no row says how it ended. */
  readonly intents: number;
}

/** Where calls are put on record. */
export interface AuditTrail {
  /** Queues the row of a call that has ended. */
  record(call: ToolCall, result: ToolResult): void;
  /** Queues the row of a call of which only this is known: its process is gone, and its outcome unknown. */
  recordLost(call: LostCall): void;
  /** Resolves once it is on record that the call is about to run; rejects if that cannot be written. */
  intend(call: ToolCall): Promise<void>;
  /** What a call should wait for before it begins; nothing, unless rows come faster than they can be written. */
  room(): Promise<void> | undefined;
  /** Rows older than this are removed from now on; absent means never. */
  keepFor(days: number | undefined): void;
}
