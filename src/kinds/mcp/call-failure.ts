import { type ToolError, toolError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { beginningOf } from '../../core/visible-text.ts';
import type { McpFailure } from './mcp-failure.ts';

/** The codes of JSON-RPC and MCP that say something about what was asked. */
const INVALID_PARAMS = -32_602;
/** Those that say that the server and we do not understand each other. Not that there is no such method: of one tool that says nothing about the others. */
const MISUNDERSTOOD: readonly (number | undefined)[] = [
  -32_700, // no JSON
  -32_600, // no request
  -32_020, // headers that do not fit
  -32_022, // another revision
];

const MAX_MESSAGE = 4000;

/**
 * What a failure means for whoever called. How the server is reached is its owner's business and stands in the state of
 * the source. A call whose connection was lost may be tried again only if doing it twice does no harm.
 */
export function callFailure(failure: McpFailure, { name, effects }: ToolSpec): ToolError {
  const { kind, retryAfterMs } = failure;
  const when = retryAfterMs === undefined ? {} : { retryAfterMs };
  const cause = failure;
  switch (kind) {
    case 'unreachable':
      return toolError('unavailable', `"${name}" cannot be called while its server cannot be reached.`, {
        retryable: true,
        ...when,
        cause,
      });
    case 'busy':
      return toolError('unavailable', `The server of "${name}" has no time; try again later.`, {
        retryable: true,
        ...when,
        cause,
      });
    case 'lost':
      return effects.idempotent === true || effects.readOnly === true
        ? toolError('upstream', `The server of "${name}" was lost before it answered.`, { retryable: true, cause })
        : toolError(
            'unknown_outcome',
            `The server of "${name}" was lost before it answered. It may have done what was asked: look before you try again.`,
            { cause },
          );
    case 'too_large':
      return toolError('too_large', `"${name}" answered with more than can be taken; ask for less.`, { cause });
    case 'refused':
      return toolError('upstream', `The server of "${name}" does not accept the credential that it is given.`, {
        cause,
      });
    case 'malformed':
      return toolError('upstream', `The server of "${name}" answered with something that is no result.`, { cause });
    case 'cancelled':
      return toolError('cancelled', `The call of "${name}" was cancelled.`, { cause });
    case 'error':
      return toolError(codeOf(failure.code), withoutStack(failure.message), { cause });
  }
}

function codeOf(code: number | undefined): 'invalid_input' | 'upstream' | 'tool_error' {
  if (code === INVALID_PARAMS) return 'invalid_input';
  return MISUNDERSTOOD.includes(code) ? 'upstream' : 'tool_error';
}

/** Where in a program something went wrong is nobody's business but its author's. */
function withoutStack(message: string): string {
  const lines = message.split('\n');
  const stack = lines.findIndex((line) => /^\s+at .*[:)]\d*|^Traceback \(/.test(line));
  const words = (stack === -1 ? message : lines.slice(0, stack).join('\n')).trim();
  return beginningOf(words, MAX_MESSAGE) || 'The tool failed.';
}
