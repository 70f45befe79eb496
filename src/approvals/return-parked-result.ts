import type { StoredApproval } from '../core/ports/stored-approvals.ts';
import { FACTS } from '../core/tool-call.ts';
import { type ToolError, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed } from '../core/tool-result.ts';
import type { Asking, Step } from './settle-request.ts';

/** How often it is seen whether another process has finished the call. */
const LOOK_EVERY_MS = 500;
/** How much longer than its time the end of a call is waited for. */
const GRACE_MS = 60_000;
const ASK_AGAIN_MS = 1000;

/** The result of a parked call that was taken up, for the same call sent again; waits until it is there. Without an approval named, it is handed over once: a later call is another one. */
export async function returnParkedResult(asking: Asking, approval: StoredApproval): Promise<Step> {
  const { call, context } = asking;
  const { id } = approval;
  // A server that came second to run it takes nothing: the result is for whoever asked.
  if (approval.parked?.callId === call.id) return usedUp(call.spec.name, approval);
  const ending = approval.state === 'done' ? 'ended' : await untilEnded(asking, approval);
  if (typeof ending === 'object') return failed(ending);
  if (ending === 'late') return stillRunning(call.spec.name, id);
  if (ending === 'given back') return 'again';
  const result = await context.approvals.takeResult(id, call.approvalId === undefined ? 'first' : 'any');
  if (result !== undefined) {
    call[FACTS].isReplayed = true;
    return result;
  }
  return call.approvalId === undefined
    ? 'again'
    : usedUp(call.spec.name, (await context.approvals.get(id)) ?? approval);
}

type Ended = 'ended' | 'given back' | 'late' | ToolError;

/** Waits for the end of a call, as long as it can take; where its process is gone, for that being noticed. */
function untilEnded({ call, context }: Asking, { id, claim }: StoredApproval): Promise<Ended> {
  const { approvals, clock } = context;
  const { timeoutMs = 0 } = call.spec.policy;
  const leftMs = Math.max(0, (claim?.at ?? clock.now()) + timeoutMs + GRACE_MS - clock.now());
  return new Promise((resolve) => {
    let isOver = false;
    let stopTimer = () => {};
    const look = async (): Promise<void> => {
      await context.findLost();
      const state = await approvals.stateOf(id).catch(() => 'claimed'); // a store that fails now is asked again
      if (isOver) return;
      if (state === 'done') end('ended');
      else if (state !== 'claimed') end('given back');
      else stopTimer = clock.setTimer(LOOK_EVERY_MS, () => void look());
    };
    const stops = [
      clock.setTimer(leftMs, () => end('late')),
      approvals.onAnswer((told) => {
        if (told !== id) return;
        stopTimer();
        void look();
      }),
    ];
    const end = (ending: Ended): void => {
      isOver = true;
      stopTimer();
      for (const stop of stops) stop();
      resolve(ending);
    };
    stops.push(call.onAbort((reason) => end(reason)));
    if (isOver)
      for (const stop of stops) stop(); // called off before it began
    else void look();
  });
}

function stillRunning(tool: string, id: string): FailedResult {
  const message = `The call of "${tool}" under the approval "${id}" is still running; ask again for its result.`;
  return failed(toolError('conflict', message, { retryable: true, retryAfterMs: ASK_AGAIN_MS }));
}

/** What is known of a call under an approval whose process is gone. */
export function lostResult({ tool, id }: StoredApproval): FailedResult {
  const message = `A call of "${tool}" took up the approval "${id}", and its process ended before it did; see whether it was done before you ask for another.`;
  return failed(toolError('unknown_outcome', message));
}

/** What is said to who comes with an approval that was taken up. */
export function usedUp(tool: string, { id, outcome }: StoredApproval): FailedResult {
  if (outcome !== undefined && outcome !== 'unknown_outcome') {
    const message = `The approval "${id}" has been used: that call of "${tool}" ended as ${outcome}.`;
    return failed(toolError('conflict', message));
  }
  const message = `A call of "${tool}" took up the approval "${id}" and has not reported back; see whether it was done before you ask for another.`;
  return failed(toolError('unknown_outcome', message));
}
