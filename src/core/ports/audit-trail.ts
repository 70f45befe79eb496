import type { ToolCall } from '../tool-call.ts';
import type { ToolResult } from '../tool-result.ts';

/** A call whose process is gone. It ran or was about to run. */
export interface LostCall {
  readonly callId: string;
  /** Start time in milliseconds since 1970. */
  readonly at: number;
  readonly caller?: string;
  readonly roles?: readonly string[];
  readonly conversation?: string;
  /** Empty if unknown. */
  readonly door: string;
  readonly profile: string;
  readonly source: string;
  readonly tool: string;
  readonly argumentsHash?: string;
  readonly approval?: { readonly id: string; readonly by: string };
  /** Number of rows that announced a run, without a row for its end. */
  readonly intents: number;
}

/** A change that an operator made to the emergency stops. */
export interface StopChange {
  readonly outcome: 'stopped' | 'resumed';
  readonly target: string;
  readonly by: string;
  readonly door: string;
  readonly note: string | undefined;
  readonly isCancelling: boolean;
}

/** Rows that are not in the store yet. */
export interface Backlog {
  readonly rows: number;
  /** Age of the oldest of them; 0 without rows. */
  readonly oldestMs: number;
  readonly lost: number; // and not yet recorded as lost
}

/** The audit log of a crib. */
export interface AuditTrail {
  /** Queues the row of a call that has ended. */
  record(call: ToolCall, result: ToolResult): void;
  /** Queues the row of a call whose process is gone and whose outcome is unknown. */
  recordLost(call: LostCall): void;
  /** Queues the row of a stop or of its end. */
  recordStop(change: StopChange): void;
  /** Resolves when the announcement of the run is stored; rejects if that fails. */
  intend(call: ToolCall): Promise<void>;
  /** Backpressure: a promise to wait for before a call begins; undefined unless rows come faster than they can be written. */
  room(): Promise<void> | undefined;
  /** Sets after how many days rows are removed; undefined means never. */
  keepFor(days: number | undefined): void;
  /** Rows that are recorded but not written yet. */
  backlog(): Backlog;
}
