import type { Caller } from '../core/caller.ts';
import type { Clock } from '../core/ports.ts';
import type { ListedApproval, StoredApproval, StoredApprovals } from '../core/stored-approvals.ts';
import { messageOf, ToolcribError, toolError } from '../core/tool-error.ts';
import { failed, type ToolResult } from '../core/tool-result.ts';
import { SERVED_DOORS } from './ask-in-store.ts';
import { saidWith } from './attend-approval.ts';
import type { Chest } from './chest.ts';

/** What running parked calls needs. */
export interface ParkedCallsOptions {
  readonly approvals: StoredApprovals;
  readonly clock: Clock;
  /** The chest that the call was made in. */
  openAgain(made: { readonly profile: string; readonly caller: Caller }): Promise<Chest>;
  warn(message: string): void;
}

/** How often it is seen whether somebody said yes in another process. */
const LOOK_EVERY_MS = 1000;
/** How many are run at once; the others follow. */
const MOST = 100;
const LONGEST_PAUSE_MS = 30_000;

/** Runs calls that came to a server, waited for a yes and have it: each at most once, since only who claims the yes may run. Returns how to stop; what is under way goes on. */
export function runParkedCalls(options: ParkedCallsOptions): () => void {
  const { approvals, clock, warn } = options;
  const underWay = new Set<string>();
  const pauses = new Map<string, { readonly untilMs: number; readonly lengthMs: number }>();
  let isStopped = false;
  let stopTimer = () => {};

  const take = async ({ id }: ListedApproval): Promise<void> => {
    underWay.add(id);
    try {
      const retryAfterMs = await runOnce(id, options);
      const { lengthMs = LOOK_EVERY_MS } = pauses.get(id) ?? {};
      const pauseMs = Math.max(retryAfterMs ?? 0, Math.min(lengthMs * 2, LONGEST_PAUSE_MS));
      if (retryAfterMs === undefined) pauses.delete(id);
      else pauses.set(id, { untilMs: clock.now() + pauseMs, lengthMs: pauseMs });
    } catch (cause) {
      warn(`The call that was approved as ${id} could not be run: ${messageOf(cause)}`);
    } finally {
      underWay.delete(id);
    }
  };

  const mayTake = ({ id, isParked, door }: ListedApproval): boolean =>
    isParked && SERVED_DOORS.includes(door) && !underWay.has(id) && (pauses.get(id)?.untilMs ?? 0) <= clock.now();

  const look = async (): Promise<void> => {
    stopTimer();
    try {
      const approved = await approvals.list({ state: 'approved', limit: MOST });
      if (isStopped) return;
      for (const id of pauses.keys()) if (!approved.some((approval) => approval.id === id)) pauses.delete(id);
      for (const approval of approved) if (mayTake(approval)) void take(approval);
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause; // a store that does not answer now is asked again
    } finally {
      stopTimer();
      if (!isStopped) stopTimer = clock.setTimer(LOOK_EVERY_MS, () => void look());
    }
  };

  const stopListening = approvals.onAnswer(() => void (isStopped || look()));
  void look();
  return () => {
    isStopped = true;
    stopTimer();
    stopListening();
  };
}

/** Runs the call under an approval; returns after how long it may be tried again, where that helps. */
async function runOnce(id: string, options: ParkedCallsOptions): Promise<number | undefined> {
  const { approvals } = options;
  const approval = await approvals.get(id);
  if (approval?.parked === undefined) return undefined;
  const result = await call(approval, options);
  if ((await approvals.stateOf(id)) !== 'approved') return undefined; // it was claimed: by this call, or by the same one sent again
  if (result.status === 'failed' && result.error.retryable) return result.error.retryAfterMs ?? 0;
  // Refused before it could run, and it would be again: that is how it ended.
  const { callId } = approval.parked;
  if ((await approvals.claim(id, approval, callId)) === undefined) return undefined;
  const outcome = result.status === 'failed' ? result.error.code : result.status;
  await approvals.finish(id, outcome, { result, isHandedOver: false });
  return undefined;
}

async function call(approval: StoredApproval, { openAgain }: ParkedCallsOptions): Promise<ToolResult> {
  const { id, parked, profile, tool, unlisted } = approval;
  if (parked === undefined) return failed(toolError('internal', 'The call was not parked for a server.'));
  try {
    const chest = await openAgain({ profile, caller: unlisted.caller });
    const said = { ...saidWith(approval), id: parked.callId, approvalId: id };
    return await chest.call(tool, approval.arguments, said);
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    const message = `"${tool}" cannot be run any more: the profile "${profile}" is not there, or not for the caller.`;
    return failed(toolError('denied', message, { cause }));
  }
}
