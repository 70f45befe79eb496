import type { ExtensionRecord, WithClock } from '../config/records.ts';
import { object, whole } from '../config/schema-node.ts';
import type { TimeoutConfig } from '../config/types/guards.ts';
import { startCallTimer } from '../core/begun-runs.ts';
import { isPromise } from '../core/json.ts';
import { toPending } from '../core/ports/pending-result.ts';
import { type ToolError, toolError } from '../core/tool-error.ts';
import { failed, type ToolResult } from '../core/tool-result.ts';
import { readPolicy } from '../define/read-policy.ts';
import { createDeadlines } from '../system/deadlines.ts';

/** Ends a call when it times out or is cancelled, and aborts the work. A late result is dropped. */
export const timeout: ExtensionRecord<TimeoutConfig & WithClock> = {
  name: 'timeout',
  priority: 200,
  reason: 'limits the time of all attempts together',
  options: object('Ends a call after its timeout.', {
    timeoutMs: whole('Timeout if neither call, tool nor profile sets one; default one minute.'),
  }),
  codeOptions: ['clock'],
  make({ timeoutMs: usual = 60_000, clock = createDeadlines() }) {
    readPolicy({ timeoutMs: usual }, 'timeout()');
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
        const pending = toPending(result);
        const goOn = pending.addEnd((settled) => {
          stopTimer();
          stopListening();
          fork.release();
          return settled;
        });
        const end = (reason: ToolError) => {
          fork.abort(reason);
          goOn(failed(reason));
        };
        const onEnd = () => end(tooLate(call.spec.name, timeoutMs));
        const stopTimer = startCallTimer(call, { clock, timeMs: timeoutMs, onEnd });
        const stopListening = call.onAbort(end);
        return pending as PromiseLike<ToolResult> as Promise<ToolResult>; // the pipeline takes it like one
      },
    };
  },
};

function tooLate(name: string, timeoutMs: number): ToolError {
  return toolError('timeout', `"${name}" did not finish within ${timeoutMs} ms.`, { retryable: true });
}
