import { type ToolError, toolError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { beginningOf } from '../../core/visible-text.ts';
import type { McpFailure } from './mcp-failure.ts';

/** The JSON-RPC code for invalid arguments. */
const INVALID_PARAMS = -32_602;
/** Codes for a protocol mismatch between client and server. "Method not found" is not one of them: for one tool it says nothing about the others. */
const MISUNDERSTOOD: readonly (number | undefined)[] = [
  -32_700, // parse error
  -32_600, // invalid request
  -32_020, // header mismatch
  -32_022, // unsupported protocol version
];

const MAX_MESSAGE = 4000;

/**
 * Translates a failure for the caller. Connection details are for the operator and appear in the source's state. A
 * call whose connection was lost is retryable only if it is idempotent or read-only.
 */
export function callFailure(failure: McpFailure, { name, effects }: ToolSpec): ToolError {
  const { kind, retryAfterMs } = failure;
  const when = retryAfterMs === undefined ? {} : { retryAfterMs };
  const cause = failure;
  switch (kind) {
    case 'unreachable':
      return toolError('unavailable', `The server of "${name}" cannot be reached; try again later.`, {
        retryable: true,
        ...when,
        cause,
      });
    case 'busy':
      return toolError('unavailable', `The server of "${name}" is busy; try again later.`, {
        retryable: true,
        ...when,
        cause,
      });
    case 'lost':
      return effects.idempotent === true || effects.readOnly === true
        ? toolError('upstream', `The connection to the server of "${name}" was lost before it answered.`, {
            retryable: true,
            cause,
          })
        : toolError(
            'unknown_outcome',
            `The connection to the server of "${name}" was lost before it answered. The call may have taken effect: check before you try again.`,
            { cause },
          );
    case 'too_large':
      return toolError('too_large', `The answer of "${name}" is too large; ask for less.`, { cause });
    case 'refused':
      return toolError('upstream', `The server of "${name}" rejected the configured credential.`, {
        cause,
      });
    case 'malformed':
      return toolError('upstream', `The server of "${name}" sent an invalid result.`, { cause });
    case 'cancelled':
      return toolError('cancelled', `The call to "${name}" was cancelled.`, { cause });
    case 'error':
      return toolError(codeOf(failure.code), withoutStack(failure.message), { cause });
  }
}

function codeOf(code: number | undefined): 'invalid_input' | 'upstream' | 'tool_error' {
  if (code === INVALID_PARAMS) return 'invalid_input';
  return MISUNDERSTOOD.includes(code) ? 'upstream' : 'tool_error';
}

/** Removes stack traces, which callers must not see. */
function withoutStack(message: string): string {
  const lines = message.split('\n');
  const stack = lines.findIndex((line) => /^\s+at .*[:)]\d*|^Traceback \(/.test(line));
  const words = (stack === -1 ? message : lines.slice(0, stack).join('\n')).trim();
  return beginningOf(words, MAX_MESSAGE) || 'The tool failed.';
}
