import { lostResult } from '../../approvals/parked-results.ts';
import type { Caller } from '../../core/caller.ts';
import type { AuditTrail, LostCall } from '../../core/ports/audit-trail.ts';
import type { LostClaim, SilentProcess, Store } from '../../core/ports/store.ts';
import type { StoredTask } from '../../core/ports/stored-tasks.ts';
import { defined } from '../../core/read-options.ts';
import { messageOf, ToolcribError, toolError } from '../../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../../core/tool-result.ts';
import { readRepeatKey } from '../../extensions/idempotency.ts';
import { systemClock } from '../../system/clock.ts';

/** Options for finding calls of dead processes. */
export interface LostClaimsOptions {
  /** The audit trail to record them in; undefined without an audit log. */
  trail(): AuditTrail | undefined;
  /** The source of a tool; undefined if the tool no longer exists. */
  sourceOf(tool: string): string | undefined;
  /** Called once for a task whose outcome became unknown. */
  onLostTask(task: StoredTask, result: ToolResult): void;
  /** Polls again soon, until the returned function is called. */
  keepLooking(): () => void;
  warn(message: string): void;
}

type ClaimStore = Pick<Store, 'claims' | 'audit'>;

/** Finds calls whose process is gone and sets their outcome to unknown. Resolves to true if there were some. Never rejects; if the store does not answer, the next poll tries again. */
export type FindLost = () => Promise<boolean>;

/**
 * A silent process gets time for one more heartbeat: after an outage of the store, or after the machine slept,
 * all other processes are silent at first.
 */
const CONFIRM_MS = 2500;

/** Creates the search. Without a store it finds nothing. */
export function createFindLost(store: ClaimStore | undefined, options: LostClaimsOptions): FindLost {
  if (store === undefined) return async () => false;
  const suspects = new Map<string, SilentProcess & { readonly since: number }>();
  let looking: Promise<boolean> | undefined;
  let stopLooking: (() => void) | undefined;

  const judge = async (process: SilentProcess): Promise<number> => {
    const known = suspects.get(process.id);
    if (known?.seenAt !== process.seenAt) suspects.set(process.id, { ...process, since: systemClock.now() });
    else if (systemClock.now() - known.since >= CONFIRM_MS) {
      suspects.delete(process.id);
      const lost = await store.claims.abandon(process, (lost) =>
        'attempts' in lost ? lostTask(lost) : lostResult(lost),
      );
      for (const claim of lost)
        if ('task' in claim && !claim.isQueued)
          options.onLostTask({ ...claim.task, state: 'done', outcome: 'unknown_outcome' }, lostTask(claim.task));
      await record(lost, store, options);
      return lost.length;
    }
    return 0;
  };
  const lookOnce = async (): Promise<boolean> => {
    let found = 0;
    try {
      const silent = await store.claims.silent();
      for (const id of suspects.keys()) if (!silent.some((process) => process.id === id)) suspects.delete(id);
      for (const process of silent) found += await judge(process);
    } catch (cause) {
      if (!(cause instanceof ToolcribError))
        options.warn(`The search for calls of dead processes failed: ${messageOf(cause)}`);
    }
    if (suspects.size > 0) stopLooking ??= options.keepLooking();
    else {
      stopLooking?.();
      stopLooking = undefined;
    }
    return found > 0;
  };
  return () => {
    looking ??= lookOnce().finally(() => {
      looking = undefined;
    });
    return looking;
  };
}

/** Records one row per call. A call with an idempotency key may also have an approval. A task that was queued again is not over. */
async function record(lost: readonly LostClaim[], { audit }: ClaimStore, options: LostClaimsOptions): Promise<void> {
  const byCall = new Map(lost.toReversed().map((claim) => [claim.callId, claim])); // approvals come first and win, as they hold more data
  for (const claim of lost) if ('task' in claim && claim.isQueued) byCall.delete(claim.callId);
  for (const claim of byCall.values()) {
    const intents = await audit.openIntents(claim.callId).catch(() => 0); // the intents stay open
    const call = toLostCall(claim);
    options.trail()?.recordLost({ ...call, source: options.sourceOf(call.tool) ?? '', intents });
  }
}

function toLostCall(claim: LostClaim): Omit<LostCall, 'source' | 'intents'> {
  const { callId, at } = claim;
  if ('key' in claim) return { callId, at, door: '', ...readRepeatKey(claim.key) };
  if ('task' in claim) {
    const { tool, profile, door, call, caller } = claim.task;
    return { callId, at, tool, profile, door, ...defined(call, ['conversation']), ...identityOf(caller) };
  }
  const { id, caller, answer } = claim.approval;
  return {
    callId,
    at,
    ...defined(claim.approval, ['tool', 'profile', 'door', 'argumentsHash', 'conversation']),
    approval: { id, by: answer?.by ?? 'host' },
    ...identityOf(caller),
  };
}

function identityOf(caller: Omit<Caller, 'approve'>): Pick<LostCall, 'caller' | 'roles'> {
  return { ...(caller.id !== undefined && { caller: caller.id }), ...defined(caller, ['roles']) };
}

/** The result of a task whose process is gone and whose tool must not run twice, or has ended too many processes. */
function lostTask({ id, tool, isRepeatable, attempts }: StoredTask): FailedResult {
  const why = isRepeatable
    ? `Its process ended during ${attempts} attempts, so it is not tried again`
    : 'Its process ended before the call did, and the tool must not run twice';
  const message = `The outcome of the task "${id}", a call of "${tool}", is unknown. ${why}. Check whether it took effect before you submit it again.`;
  return failed(toolError('unknown_outcome', message));
}
