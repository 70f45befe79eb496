import type { Caller } from '../core/caller.ts';
import type { JsonObject } from '../core/json.ts';
import type { RunnableApproval, StoredApproval, StoredApprovals } from '../core/ports/stored-approvals.ts';
import type { SaidAlong } from '../core/tool-call.ts';
import { messageOf, ToolcribError, type ToolErrorCode, toolError } from '../core/tool-error.ts';
import { failed, type ToolResult } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { definitionHash } from '../specs/hashes.ts';
import { systemClock } from '../system/clock.ts';
import { LIBRARY_DOOR } from './ask-callback.ts';
import type { ApprovalPoller } from './poller.ts';
import { saidWith } from './settle-request.ts';

/** Where a parked call is made again. */
interface CallingChest {
  get(tool: string): ToolSpec | undefined;
  call(
    tool: string,
    input: JsonObject,
    said: SaidAlong & { readonly id: string; readonly approvalId: string },
  ): Promise<ToolResult>;
}

/** What running parked calls needs. */
export interface ParkedCallsOptions {
  readonly approvals: StoredApprovals;
  /** Calls that came in elsewhere are left to others. */
  readonly doors: readonly string[];
  /** The chest that the call was made in. */
  openAgain(made: { readonly profile: string; readonly caller: Caller }): Promise<CallingChest>;
  /** True while a source is not there: a tool that is unknown now may be one of its. */
  mayBeListedLater(): boolean;
  /** True where servers with other configurations may run calls of the same store. */
  isShared(): Promise<boolean>;
  readonly poller: ApprovalPoller;
  warn(message: string): void;
}

/** How many are begun by one look; the others follow. */
const MOST = 100;
const PAGE = 500;
/** The first pause before a call is tried again, and the longest: a tool that can be called again is called within that. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 5000;

/** A pause before the next attempt. */
interface Pause {
  readonly untilMs: number;
  readonly lengthMs: number;
}

/** Runs calls that came in at these doors, waited for a yes and have it: each at most once, since only who claims the yes may run. Returns how to stop; what is under way goes on. */
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
      warn(`The call that was approved as ${id} could not be run: ${messageOf(cause)}`);
    } finally {
      underWay.delete(id);
    }
  };

  const mayTake = ({ id }: RunnableApproval): boolean => !underWay.has(id) && (pauses.get(id)?.untilMs ?? 0) <= now();

  /**
   * The oldest first, past those that wait for their next attempt. Where there are more than one look may take, the next
   * look goes on behind them: those that cannot run, and come up again and again, do not keep the others waiting.
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
  /** Behind the newest come the oldest; what was not listed this time is over. */
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

/** Refusals in front of the approval that the next attempt would meet as well. */
const FINAL: readonly ToolErrorCode[] = ['invalid_input', 'unauthenticated', 'denied'];

/** Runs the call under an approval; returns after how long it may be tried again, where that helps. */
async function runOnce(id: string, options: ParkedCallsOptions): Promise<number | undefined> {
  const { approvals, mayBeListedLater } = options;
  const approval = await approvals.get(id);
  if (approval?.parked === undefined) return undefined;
  if (!options.doors.includes(approval.door)) return 0;
  const { callId } = approval.parked;
  const chest = await chestOf(approval, options);
  // Who has the tool as it was approved may run it; where there is none, the yes expires.
  if (!hasAsApproved(chest, approval) && (approval.door === LIBRARY_DOOR || (await options.isShared()))) return 0;
  const result = await call(approval, callId, chest);
  const after = await approvals.get(id);
  if (after?.state !== 'approved') return undefined; // it was claimed: by this call, or by the same one sent again
  const { code, retryAfterMs } = result.status === 'failed' ? result.error : {};
  const isFinal = code === 'unknown_tool' ? !mayBeListedLater() : code === undefined || FINAL.includes(code);
  const wasGivenBack = after.claim !== undefined && after.claim.at !== approval.claim?.at;
  if (!isFinal || wasGivenBack) return retryAfterMs ?? 0;
  // Refused before it could run, and it would be again: that is how it ended.
  if ((await approvals.claim(id, approval, callId)) === undefined) return undefined;
  await approvals.finish(id, code ?? result.status, { result, isHandedOver: false });
  return undefined;
}

/** The chest that the call was made in; undefined where the profile is not there, or not for the caller. */
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
  const message = `"${tool}" cannot be run any more: the profile "${profile}" is not there, or not for the caller.`;
  return failed(toolError('denied', message));
}
