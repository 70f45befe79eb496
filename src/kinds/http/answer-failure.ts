import { ToolcribError, type ToolError, toolError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { TokenRefused } from '../../system/fetch/client-token.ts';
import { FetchError, readRetryAfterMs } from '../../system/fetch/fetch-error.ts';
import type { FetchedResponse } from '../../system/fetch/guarded-fetch.ts';
import { BadArgument } from './fill-text.ts';
import { bodyText, readContentType, statusText } from './read-answer.ts';

/** Facts about a failed request. */
export interface Failing {
  readonly spec: ToolSpec;
  readonly method: string;
  /** Removes the values of secrets from a text. */
  redact(text: string): string;
}

/** Translates an error response for the caller. */
export function answerFailure(answer: FetchedResponse, failing: Failing): ToolError {
  const { status } = answer;
  const { spec } = failing;
  const said = excerptOf(answer, failing.redact);
  const words = `The server of "${spec.name}" answered ${statusText(status)}${said === '' ? '.' : `: ${said}`}`;
  const retryAfterMs = readRetryAfterMs(answer.headers);
  const later = { retryable: true, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  if (status === 429) return toolError('rate_limited', words, later);
  if (status === 401 || status === 403) return toolError('upstream', `${words} The operator can check the credential.`);
  if (status === 502 || status === 504)
    return isRepeatable(failing)
      ? toolError('upstream', words, later)
      : toolError('unknown_outcome', `${words} The call may have taken effect: check before you try again.`);
  if (status === 408 || status === 503) return toolError('upstream', words, later);
  if (status >= 500) return toolError('upstream', words, isRepeatable(failing) && status !== 501 ? later : {});
  // Not an upstream error: the server works, so the circuit breaker must not count this.
  return toolError('tool_error', words);
}

const REPEATABLE_METHODS = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'];

/** True if the request may be repeated: the tool's effects or the HTTP method say that it is idempotent. */
function isRepeatable({ spec, method }: Pick<Failing, 'spec' | 'method'>): boolean {
  const { idempotent, readOnly } = spec.effects;
  return idempotent ?? (readOnly === true || REPEATABLE_METHODS.includes(method));
}

const MAX_READ = 20_000;
const MAX_SHOWN = 500;

/** The beginning of the response body, if it is text. */
function excerptOf({ headers, bytes }: FetchedResponse, redact: (text: string) => string): string {
  const type = readContentType(headers['content-type']);
  if (!['json', 'text', 'unknown'].includes(type.is)) return '';
  const head = bodyText(bytes.subarray(0, MAX_READ), type);
  // Redact before cutting: a part of a secret would not be recognized.
  const safe = redact(bytes.length > MAX_READ ? `${head}…` : head);
  const text = (type.name === 'text/html' ? safe.replaceAll(/<[^>]{0,500}>/g, ' ') : safe)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are taken out
    .replaceAll(/[\s\x00-\x1f\x7f]+/g, ' ')
    .trim();
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text;
}

/** Translates a request without a response for the caller; undefined for unexpected errors. The address is for the operator only. */
export function fetchFailure(cause: unknown, failing: Failing): ToolError | undefined {
  const { name } = failing.spec;
  if (cause instanceof BadArgument) return badArgument(cause);
  if (cause instanceof TokenRefused)
    return toolError(
      'upstream',
      `The token endpoint of "${name}" refused to issue a token; the operator can check the credential.`,
      { cause },
    );
  if (cause instanceof ToolcribError)
    return toolError(
      'unavailable',
      `"${name}" cannot be called because its credential cannot be used; the operator finds the reason in the log.`,
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
        `"${name}" calls an address that is not allowed. The operator finds it in the log, and can allow private hosts in executors.http.allowPrivate.`,
        { cause },
      );
    case 'unreachable':
      return toolError('unavailable', `The server of "${name}" cannot be reached; try again later.`, {
        retryable: true,
        cause,
      });
    case 'lost':
      return isRepeatable(failing)
        ? toolError('upstream', `The connection to the server of "${name}" was lost before it answered.`, {
            retryable: true,
            cause,
          })
        : toolError(
            'unknown_outcome',
            `The connection to the server of "${name}" was lost before it answered. The call may have taken effect: check before you try again.`,
            { cause },
          );
    case 'timeout':
      return toolError('timeout', `The server of "${name}" did not answer in time.`, { retryable: true, cause });
    case 'too_large':
      return toolError('too_large', `The answer of "${name}" is too large; ask for less.`, { cause });
    case 'malformed':
      return toolError('upstream', `The server of "${name}" sent an answer that cannot be read.`, { cause });
    case 'cancelled':
      return toolError('cancelled', `The call to "${name}" was cancelled.`, { cause });
  }
}
