import type { ExtensionRecord } from '../config/records.ts';
import { NO_CONTEXT } from '../core/ports/crib-context.ts';
import { afterwards } from '../core/ports/pending-result.ts';
import { redactFailure } from '../core/redact-result.ts';
import type { ToolResult } from '../core/tool-result.ts';

/** Removes the values of secrets from failures. Successful results are not changed. */
export const redactErrors: ExtensionRecord = {
  name: 'redactErrors',
  priority: 1000,
  reason: 'removes secrets from all errors that occur further in',
  make(_options, { redact }) {
    const settle = (result: ToolResult): ToolResult =>
      result.status === 'failed' ? redactFailure(result, redact) : result;
    return {
      applies: () => redact !== NO_CONTEXT.redact, // only then can there be secrets
      wrap(call, next) {
        return afterwards(next(call), settle);
      },
    };
  },
};
