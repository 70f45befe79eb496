import type { ExtensionRecord } from '../config/records.ts';
import { isPromise } from '../core/json.ts';
import { NO_CONTEXT } from '../core/ports/crib-context.ts';
import { redactFailure } from '../core/redact-result.ts';
import type { ToolResult } from '../core/tool-result.ts';

/** Takes the values of secrets out of what a failure says. What a tool answers when it succeeds is its own. */
export const redactErrors: ExtensionRecord = {
  name: 'redactErrors',
  priority: 1000,
  reason: 'whatever fails further in, its error leaves without secrets',
  make(_options, { redact }) {
    const settle = (result: ToolResult): ToolResult =>
      result.status === 'failed' ? redactFailure(result, redact) : result;
    return {
      applies: () => redact !== NO_CONTEXT.redact, // there can be secrets
      wrap(call, next) {
        const result = next(call);
        return isPromise(result) ? result.then(settle) : settle(result);
      },
    };
  },
};
