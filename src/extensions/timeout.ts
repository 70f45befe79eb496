import type { ExtensionRecord, WithClock } from '../config/records.ts';
import { object, whole } from '../config/schema-node.ts';
import type { TimeoutConfig } from '../config/types/guards.ts';
import { startCallTimer } from '../core/begun-runs.ts';
import { isPromise } from '../core/json.ts';
import { type ToolError, toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';
import { readPolicy } from '../define/read-policy.ts';

/** Ends a call when it times out or is cancelled, and aborts the work. A late result is dropped. */
export const timeout: ExtensionRecord<TimeoutConfig & WithClock> = {
  name: 'timeout',
  priority: 200,
  reason: 'limits the time of all attempts together',
  options: object('Ends a call after its timeout.', {
    timeoutMs: whole('Timeout if neither call, tool nor profile sets one; default one minute.'),
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
          return result; // finished synchronously, so no timer is needed
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
          const stopTimer = startCallTimer(call, {
            clock,
            timeMs: timeoutMs,
            onEnd: () => end(tooLate(call.spec.name, timeoutMs)),
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

function tooLate(name: string, timeoutMs: number): ToolError {
  return toolError('timeout', `"${name}" did not finish within ${timeoutMs} ms.`, { retryable: true });
}
