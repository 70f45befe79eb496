import type { Caller } from '../core/caller.ts';
import type { JsonObject } from '../core/json.ts';
import type { RunnableApproval, StoredApproval, StoredApprovals } from '../core/ports/stored-approvals.ts';
import type { StopsInForce } from '../core/ports/stored-stops.ts';
import type { SaidAlong } from '../core/tool-call.ts';
import { messageOf, ToolcribError, type ToolErrorCode, toolError } from '../core/tool-error.ts';
import { failed, type ToolResult } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { definitionHash } from '../specs/hashes.ts';
import { systemClock } from '../system/clock.ts';
import { LIBRARY_DOOR } from './ask-callback.ts';
import type { ApprovalPoller } from './poller.ts';
import { saidWith } from './settle-request.ts';

/** The chest in which a parked call runs. */
interface CallingChest {
  get(tool: string): ToolSpec | undefined;
  call(
    tool: string,
    input: JsonObject,
    said: SaidAlong & { readonly id: string; readonly approvalId: string },
  ): Promise<ToolResult>;
}

/** Options for running parked calls. */
export interface ParkedCallsOptions {
  readonly approvals: StoredApprovals;
  /** Doors whose parked calls this process runs. */
  readonly doors: readonly string[];
  /** Opens the chest that the call was made in. */
  openAgain(made: { readonly profile: string; readonly caller: Caller }): Promise<CallingChest>;
  /** True while a source is unavailable: an unknown tool may belong to it. */
  mayBeListedLater(): boolean;
  /** True if servers with other configurations may run calls of the same store. */
  isShared(): Promise<boolean>;
  readonly poller: ApprovalPoller;
  readonly stops: StopsInForce;
  warn(message: string): void;
}

/** The most calls started per poll. */
const MOST = 100;
const PAGE = 500;
/** The first and the longest pause between attempts. A tool that becomes available again is called within the longest. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 5000;

/** A pause before the next attempt. */
interface Pause {
  readonly untilMs: number;
  readonly lengthMs: number;
}

/** Runs approved parked calls of these doors. Each runs at most once, because a run must first claim the approval. Returns a function that stops; running calls finish. */
export function runParkedCalls(options: ParkedCallsOptions): () => void {
  const { approvals, poller, warn } = options;
  const { now } = systemClock;
  const underWay = new Set<string>();
  const pauses = new Map<string, Pause>();
  const seen = new Set<string>();
  let last: RunnableApproval | undefined;
  let isStopped = false;

  const take = async (id: string): Promise<void> => {
    underWay.add(id);
    try {
      const retryAfterMs = await runOnce(id, options);
      const { lengthMs = FIRST_PAUSE_MS / 2 } = pauses.get(id) ?? {};
      const pauseMs = Math.min(Math.max(retryAfterMs ?? 0, lengthMs * 2), LONGEST_PAUSE_MS);
      if (retryAfterMs === undefined) pauses.delete(id);
      else pauses.set(id, { untilMs: now() + pauseMs, lengthMs: pauseMs });
    } catch (cause) {
      warn(`The call with the approval ${id} could not be run: ${messageOf(cause)}`);
    } finally {
      underWay.delete(id);
    }
  };

  const mayTake = ({ id }: RunnableApproval): boolean => !underWay.has(id) && (pauses.get(id)?.untilMs ?? 0) <= now();

  /**
   * Takes the oldest calls first and skips those that wait for their next attempt. If there are more than one poll may
   * start, the next poll continues after them, so calls that can never run do not block the others.
   */
  const takeNext = async (): Promise<void> => {
    let taken = 0;
    let page: readonly RunnableApproval[] = [];
    do {
      page = await approvals.runnable(last, PAGE);
      if (isStopped) return;
      for (const { id } of page) seen.add(id);
      const next = page.filter(mayTake).slice(0, MOST - taken);
      for (const { id } of next) void take(id);
      taken += next.length;
      last = (taken < MOST ? page : next).at(-1) ?? last;
    } while (page.length === PAGE && taken < MOST);
    if (taken < MOST) beginAgain();
  };
  /** Starts over with the oldest. Calls that were not listed in this pass have ended. */
  const beginAgain = (): void => {
    for (const id of pauses.keys()) if (!seen.has(id) && !underWay.has(id)) pauses.delete(id);
    seen.clear();
    last = undefined;
  };

  const { look, stop } = poller.subscribe(takeNext);
  void look();
  return () => {
    isStopped = true;
    stop();
  };
}

/** Refusals that the next attempt would get, too. */
const FINAL: readonly ToolErrorCode[] = ['invalid_input', 'unauthenticated', 'denied'];

/** Runs the call of an approval once; returns the pause before the next attempt, or undefined if none is needed. */
async function runOnce(id: string, options: ParkedCallsOptions): Promise<number | undefined> {
  const { approvals, mayBeListedLater } = options;
  const approval = await approvals.get(id);
  if (approval?.parked === undefined) return undefined;
  if (!options.doors.includes(approval.door)) return 0;
  const { callId } = approval.parked;
  const chest = await chestOf(approval, options);
  // Only a crib that has the tool as it was approved runs it. If there is none, the approval expires.
  if (!hasAsApproved(chest, approval) && (approval.door === LIBRARY_DOOR || (await options.isShared()))) return 0;
  if (await isStopped(approval, chest, options)) return 0; // it stays approved until it is resumed or expires
  const result = await call(approval, callId, chest);
  const after = await approvals.get(id);
  if (after?.state !== 'approved') return undefined; // claimed: by this call, or by the same call sent again
  const { code, retryAfterMs } = result.status === 'failed' ? result.error : {};
  const isFinal = code === 'unknown_tool' ? !mayBeListedLater() : code === undefined || FINAL.includes(code);
  const wasGivenBack = after.claim !== undefined && after.claim.at !== approval.claim?.at;
  if (!isFinal || wasGivenBack) return retryAfterMs ?? 0;
  // The call was refused before it ran and would be refused again, so the refusal is its result.
  if ((await approvals.claim(id, approval, callId)) === undefined) return undefined;
  await approvals.finish(id, code ?? result.status, { result, isHandedOver: false });
  return undefined;
}

async function isStopped(
  { tool, profile, unlisted }: StoredApproval,
  chest: CallingChest | undefined,
  { stops }: ParkedCallsOptions,
): Promise<boolean> {
  if ((await stops.known()) !== undefined) return true;
  const source = chest?.get(tool)?.source;
  return stops.covering({ tool, source, caller: unlisted.caller.id, profile }).length > 0;
}

/** The chest that the call was made in; undefined if the profile is gone or the caller may not open it. */
async function chestOf(
  { profile, unlisted }: StoredApproval,
  { openAgain }: ParkedCallsOptions,
): Promise<CallingChest | undefined> {
  try {
    return await openAgain({ profile, caller: unlisted.caller });
  } catch (cause) {
    if (cause instanceof ToolcribError) return undefined;
    throw cause;
  }
}

function hasAsApproved(chest: CallingChest | undefined, { tool, definitionHash: approved }: StoredApproval): boolean {
  const spec = chest?.get(tool);
  return spec !== undefined && definitionHash(spec) === approved;
}

async function call(approval: StoredApproval, callId: string, chest: CallingChest | undefined): Promise<ToolResult> {
  const { id, profile, tool } = approval;
  if (chest !== undefined)
    return chest.call(tool, approval.arguments, { ...saidWith(approval), id: callId, approvalId: id });
  const message = `"${tool}" cannot be run: the profile "${profile}" was removed, or the caller may no longer open it.`;
  return failed(toolError('denied', message));
}
