import type { Extension } from '../core/extension.ts';
import { isPromise } from '../core/json.ts';
import type { Clock } from '../core/ports/ports.ts';
import { type ToolError, toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';

export interface TimeoutOptions {
  /** Where neither call, tool nor profile speaks; one minute if absent. */
  readonly timeoutMs?: number;
}

/** Ends a call when its time is up or it is cancelled, and aborts the work. What the work returns later is dropped. */
export function timeout(options: TimeoutOptions & { readonly clock: Clock }): Extension {
  const { clock, timeoutMs: usual = 60_000 } = options;
  return {
    name: 'timeout',
    priority: 200,
    unsafeOrder: true,
    defaults: { timeoutMs: usual },
    wrap(call, next) {
      const fork = call.fork();
      const result = next(fork.call);
      if (!isPromise(result)) {
        fork.release();
        return result; // done before any timer could fire: none is made
      }
      const timeoutMs = call.spec.policy.timeoutMs ?? usual;
      return new Promise((resolve) => {
        const end = (reason: ToolError) => {
          fork.abort(reason);
          stop();
          resolve(failed(reason));
        };
        const stop = () => {
          stopTimer();
          stopListening();
          fork.release();
        };
        const stopTimer = clock.setTimer(timeoutMs, () =>
          end(toolError('timeout', `"${call.spec.name}" did not finish within ${timeoutMs} ms.`, { retryable: true })),
        );
        const stopListening = call.onAbort(end);
        result.then((settled) => {
          stop();
          resolve(settled);
        });
      });
    },
  };
}
