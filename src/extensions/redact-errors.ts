import type { Extension } from '../core/extension.ts';
import { isPromise } from '../core/json.ts';
import { type Redact, redactFailure } from '../core/text/redact-result.ts';
import type { ToolResult } from '../core/tool-result.ts';

export interface RedactErrorsOptions {
  /** The text without the values of secrets; absent where there can be none. */
  readonly redact: Redact | undefined;
}

/** Takes the values of secrets out of what a failure says. What a tool answers when it succeeds is its own. */
export function redactErrors({ redact }: RedactErrorsOptions): Extension {
  const settle = (result: ToolResult): ToolResult =>
    result.status === 'failed' && redact !== undefined ? redactFailure(result, redact) : result;
  return {
    name: 'redactErrors',
    priority: 1000,
    unsafeOrder: true,
    applies: () => redact !== undefined,
    wrap(call, next) {
      const result = next(call);
      return isPromise(result) ? result.then(settle) : settle(result);
    },
  };
}
