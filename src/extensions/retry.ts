import type { Extension } from '../core/extension.ts';
import { isPromise } from '../core/json.ts';
import type { Clock } from '../core/ports.ts';
import type { ToolCall } from '../core/tool-call.ts';
import type { ToolError } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';

export interface RetryOptions {
  /** Where neither call, tool nor profile speaks; 2 if absent. */
  readonly retries?: number;
  /** The longest first pause; each further one may be twice as long. 100 ms if absent. */
  readonly firstDelayMs?: number;
}

const LONGEST_DELAY_MS = 30_000;

/** Tries again what failed for a passing reason, if doing it twice does no harm or it never began. */
export function retry(options: RetryOptions & { readonly clock: Clock; readonly random?: () => number }): Extension {
  const { clock, retries: usual = 2, firstDelayMs = 100, random = Math.random } = options;

  const delayOf = (error: ToolError, attempt: number): number => {
    const longest = Math.min(firstDelayMs * 2 ** attempt, LONGEST_DELAY_MS);
    return Math.max(error.retryAfterMs ?? 0, longest * random()); // full jitter: clients that failed together come back apart
  };

  async function again(
    call: ToolCall,
    next: () => ToolResult | Promise<ToolResult>,
    first: ToolResult,
  ): Promise<ToolResult> {
    const { retries = usual, timeoutMs = Number.POSITIVE_INFINITY } = call.spec.policy;
    const begun = clock.now();
    let result = first;
    for (let attempt = 0; attempt < retries && isWorthRetrying(result, call.spec); attempt++) {
      const delayMs = delayOf(result.error, attempt);
      // Who would only be timed out while waiting is told at once what failed.
      if (clock.now() - begun + delayMs >= timeoutMs || (await isAborted(call, clock, delayMs))) return result;
      result = await next();
    }
    return result;
  }

  return {
    name: 'retry',
    priority: 180,
    unsafeOrder: true,
    defaults: { retries: usual },
    applies: (spec) => (spec.policy.retries ?? usual) > 0,
    wrap(call, next) {
      const result = next(call);
      if (isPromise(result))
        return result.then((settled) =>
          isWorthRetrying(settled, call.spec) ? again(call, () => next(call), settled) : settled,
        );
      return isWorthRetrying(result, call.spec) ? again(call, () => next(call), result) : result;
    },
  };
}

function isWorthRetrying(result: ToolResult, spec: ToolSpec): result is Extract<ToolResult, { status: 'failed' }> {
  if (result.status !== 'failed' || !result.error.retryable) return false;
  const neverBegan = result.error.code === 'unavailable' || result.error.code === 'rate_limited';
  return neverBegan || spec.effects.idempotent === true || spec.effects.readOnly === true;
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
