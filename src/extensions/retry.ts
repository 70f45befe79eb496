import type { ExtensionRecord, WithClock } from '../config/records.ts';
import { object, whole } from '../config/schema-node.ts';
import type { RetryConfig } from '../config/types/guards.ts';
import { hasBegun, hasHadItsRun, mayBeRepeated } from '../core/begun-runs.ts';
import { IS_PROBE } from '../core/extension.ts';
import { isPromise, type MaybePromise } from '../core/json.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import { afterwards } from '../core/ports/pending-result.ts';
import type { ToolCall } from '../core/tool-call.ts';
import type { ToolError } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { readPolicy, requireNumber } from '../define/read-policy.ts';

const LONGEST_DELAY_MS = 30_000;
/** Maximum total pause per call because of retry hints. Beyond it, the failure is returned with its hint. */
const LONGEST_HINTED_MS = 2000;
/** After this time a call whose upstream is down is not retried. With one more connection attempt, a caller waits less than 3 s. */
const LONGEST_OUTAGE_MS = 1250;

interface Attempt {
  readonly result: ToolResult;
  readonly begunAt: number;
}

/** Retries transient failures if the tool may be repeated or never began. An approved call runs once. */
export const retry: ExtensionRecord<RetryConfig & WithClock & { readonly random?: () => number }> = {
  name: 'retry',
  priority: 180,
  reason: 'repeats the tool, not the guards',
  options: object('Retries transient failures.', {
    retries: whole('Number of retries if neither call, tool nor profile sets it; default 2.', 0),
    firstDelayMs: whole('Maximum of the first pause; it doubles with each retry. Default 100 ms.', 0),
  }),
  codeOptions: ['clock', 'random'],
  make(options, ports) {
    const { retries: usual = 2, firstDelayMs = 100, random = Math.random, clock = ports.clock } = options;
    readPolicy({ retries: usual }, 'retry()');
    requireNumber(firstDelayMs, 0, 'retry(): firstDelayMs');

    const delayOf = (error: ToolError, attempt: number): number => {
      const longest = Math.min(firstDelayMs * 2 ** attempt, LONGEST_DELAY_MS);
      return Math.max(error.retryAfterMs ?? 0, longest * random()); // full jitter: clients that failed together retry at different times
    };

    async function again(call: ToolCall, next: () => MaybePromise<ToolResult>, first: Attempt): Promise<ToolResult> {
      const { retries = usual, timeoutMs = Number.POSITIVE_INFINITY } = call.spec.policy;
      const begun = first.begunAt;
      let last = first;
      let hintedMs = 0;
      let downAt: number | undefined;
      for (let retry = 0; retry < retries && isWorthRetrying(last.result, call); retry++) {
        const { code, retryAfterMs } = last.result.error;
        const delayMs = delayOf(last.result.error, retry);
        const nextAt = clock.now() + delayMs;
        hintedMs += retryAfterMs === undefined ? 0 : delayMs;
        downAt = code === 'unavailable' ? (downAt ?? last.begunAt) : undefined;
        if (hintedMs > LONGEST_HINTED_MS || nextAt - (downAt ?? nextAt) > LONGEST_OUTAGE_MS) break;
        // A call that would time out during the pause returns its failure at once.
        if (nextAt - begun >= timeoutMs || (await isAborted(call, clock, delayMs)) || hasHadItsRun(call)) break;
        const begunAt = clock.now();
        last = { result: await next(), begunAt };
      }
      return last.result;
    }

    return {
      defaults: { retries: usual },
      applies: (spec) => (spec.policy.retries ?? usual) > 0,
      wrap(call, next) {
        const result = next(call);
        const judge = (settled: ToolResult, begunAt: number): MaybePromise<ToolResult> =>
          isWorthRetrying(settled, call) ? again(call, () => next(call), { result: settled, begunAt }) : settled;
        if (!isPromise(result)) return judge(result, clock.now());
        const begunAt = clock.now();
        return afterwards(result, (settled) => judge(settled, begunAt));
      },
    };
  },
};

function isWorthRetrying(result: ToolResult, call: ToolCall): result is Extract<ToolResult, { status: 'failed' }> {
  if (result.status !== 'failed' || !result.error.retryable) return false;
  if (IS_PROBE in call.context) return false; // other calls wait for the result of the probe
  return !hasHadItsRun(call) && (!hasBegun(call) || mayBeRepeated(call.spec));
}

/** Waits; true if the call was aborted meanwhile. */
function isAborted(call: ToolCall, clock: Clock, delayMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const stopTimer = clock.setTimer(delayMs, () => {
      stopListening();
      resolve(false);
    });
    const stopListening = call.onAbort(() => {
      stopTimer();
      resolve(true);
    });
  });
}
