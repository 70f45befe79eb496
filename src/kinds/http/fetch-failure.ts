import { ToolcribError, type ToolError, toolError } from '../../core/tool-error.ts';
import { TokenRefused } from '../../system/fetch/client-token.ts';
import { FetchError } from '../../system/fetch/fetch-error.ts';
import { type Failing, isRepeatable } from './answer-failure.ts';
import { BadArgument } from './fill-text.ts';

/** What a request that brought no answer means for whoever called; undefined for what nobody has thought of. Where it went is its owner's business. */
export function fetchFailure(cause: unknown, failing: Failing): ToolError | undefined {
  const { name } = failing.spec;
  if (cause instanceof BadArgument) return badArgument(cause);
  if (cause instanceof TokenRefused)
    return toolError(
      'upstream',
      `"${name}" is given no token to call its server with; its owner can check the credential.`,
      { cause },
    );
  if (cause instanceof ToolcribError)
    return toolError(
      'unavailable',
      `"${name}" cannot be called: its credential cannot be used; its owner can look at the log.`,
      { cause },
    );
  return cause instanceof FetchError ? lostRequest(cause, failing) : undefined;
}

function badArgument({ argument, message }: BadArgument): ToolError {
  const issues = argument === '' ? [] : [{ path: `/${argument}`, message }];
  return toolError('invalid_input', `${argument === '' ? 'An argument' : `"${argument}"`} ${message}.`, { issues });
}

function lostRequest(cause: FetchError, failing: Failing): ToolError {
  const { name } = failing.spec;
  switch (cause.failure) {
    case 'refused':
      return toolError(
        'denied',
        `"${name}" calls an address that may not be reached from here; its owner can look at the log, and name private hosts under executors.http.allowPrivate.`,
        { cause },
      );
    case 'unreachable':
      return toolError('unavailable', `"${name}" cannot be called while its server cannot be reached.`, {
        retryable: true,
        cause,
      });
    case 'lost':
      return isRepeatable(failing)
        ? toolError('upstream', `The server of "${name}" was lost before it answered.`, { retryable: true, cause })
        : toolError(
            'unknown_outcome',
            `The server of "${name}" was lost before it answered. It may have done what was asked: look before you try again.`,
            { cause },
          );
    case 'timeout':
      return toolError('timeout', `The server of "${name}" did not answer in time.`, { retryable: true, cause });
    case 'too_large':
      return toolError('too_large', `"${name}" answered with more than can be taken; ask for less.`, { cause });
    case 'malformed':
      return toolError('upstream', `What the server of "${name}" sends cannot be read.`, { cause });
    case 'cancelled':
      return toolError('cancelled', `The call of "${name}" was cancelled.`, { cause });
  }
}
