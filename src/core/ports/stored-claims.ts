import type { ToolResult } from '../tool-result.ts';
import type { StoredApproval } from './stored-approvals.ts';

/** Claims of processes that share the store: an approval that was taken up, and an idempotency key whose call runs. */
export interface StoredClaims {
  /** Processes with claims that have not given a sign of life for longer than a living one takes between two. */
  silent(): Promise<readonly SilentProcess[]>;
  /**
   * Ends the claims of a process that is still as silent as it was: how their calls ended counts as unknown. Returns those
   * that this very call has ended. A process that was only frozen can still note the true end of each.
   */
  abandon(process: SilentProcess, resultOf: (approval: StoredApproval) => ToolResult): Promise<readonly LostClaim[]>;
}

/** A process and when it was last heard of, by the clock of the store. */
export interface SilentProcess {
  readonly id: string;
  readonly seenAt: number;
}

/** What is known of a call whose process is gone. */
export type LostClaim = LostApproval | LostRepeat;

interface LostApproval {
  readonly callId: string;
  /** When it was claimed, in milliseconds since 1970. */
  readonly at: number;
  readonly approval: StoredApproval;
}

interface LostRepeat {
  readonly callId: string;
  readonly at: number;
  /** The key that its call had taken. */
  readonly key: string;
}
