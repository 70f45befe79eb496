import type { ExtensionRecord, WithClock } from '../config/records.ts';
import { object, whole } from '../config/schema-node.ts';
import type { TimeoutConfig } from '../config/types/guards.ts';
import { startCallTimer } from '../core/begun-runs.ts';
import { isPromise } from '../core/json.ts';
import { type ToolError, toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';
import { readPolicy } from '../define/read-policy.ts';

/** Ends a call when its time is up or it is cancelled, and aborts the work. What the work returns later is dropped. */
export const timeout: ExtensionRecord<TimeoutConfig & WithClock> = {
  name: 'timeout',
  priority: 200,
  reason: 'bounds all attempts together',
  options: object('Ends a call when its time is up.', {
    timeoutMs: whole('How long a call may take where neither call, tool nor profile speaks; default one minute.'),
  }),
  codeOptions: ['clock'],
  make({ timeoutMs: usual = 60_000, clock: own }, ports) {
    readPolicy({ timeoutMs: usual }, 'timeout()');
    const clock = own ?? ports.clock;
    return {
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
          const message = `"${call.spec.name}" did not finish within ${timeoutMs} ms.`;
          const stopTimer = startCallTimer(call, {
            clock,
            timeMs: timeoutMs,
            onEnd: () => end(toolError('timeout', message, { retryable: true })),
          });
          const stopListening = call.onAbort(end);
          result.then((settled) => {
            stop();
            resolve(settled);
          });
        });
      },
    };
  },
};
