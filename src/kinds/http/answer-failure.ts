import { ToolcribError, type ToolError, toolError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { TokenRefused } from '../../system/fetch/client-token.ts';
import { FetchError, readRetryAfterMs } from '../../system/fetch/fetch-error.ts';
import type { FetchedResponse } from '../../system/fetch/guarded-fetch.ts';
import { BadArgument } from './fill-text.ts';
import { bodyText, readContentType, statusText } from './read-answer.ts';

/** What is known about a request that failed. */
export interface Failing {
  readonly spec: ToolSpec;
  readonly method: string;
  /** The text without the values of secrets. */
  redact(text: string): string;
}

/** What an answer that is no success means for whoever called. */
export function answerFailure(answer: FetchedResponse, failing: Failing): ToolError {
  const { status } = answer;
  const { spec } = failing;
  const said = excerptOf(answer, failing.redact);
  const words = `The server of "${spec.name}" answered ${statusText(status)}${said === '' ? '.' : `: ${said}`}`;
  const retryAfterMs = readRetryAfterMs(answer.headers);
  const later = { retryable: true, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  if (status === 429) return toolError('rate_limited', words, later);
  if (status === 401 || status === 403) return toolError('upstream', `${words} Its owner can check the credential.`);
  if (status === 502 || status === 504)
    return isRepeatable(failing)
      ? toolError('upstream', words, later)
      : toolError('unknown_outcome', `${words} It may have done what was asked: look before you try again.`);
  if (status === 408 || status === 503) return toolError('upstream', words, later);
  if (status >= 500) return toolError('upstream', words, isRepeatable(failing) && status !== 501 ? later : {});
  // The server is well: it is not to be taken for dead because of this.
  return toolError('tool_error', words);
}

const REPEATABLE_METHODS = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'];

/** True if doing it twice does no harm: the tool says so, or its method does. */
function isRepeatable({ spec, method }: Pick<Failing, 'spec' | 'method'>): boolean {
  const { idempotent, readOnly } = spec.effects;
  return idempotent ?? (readOnly === true || REPEATABLE_METHODS.includes(method));
}

const MAX_READ = 20_000;
const MAX_SHOWN = 500;

/** The beginning of what the server said, where it is text. */
function excerptOf({ headers, bytes }: FetchedResponse, redact: (text: string) => string): string {
  const type = readContentType(headers['content-type']);
  if (!['json', 'text', 'unknown'].includes(type.is)) return '';
  const head = bodyText(bytes.subarray(0, MAX_READ), type);
  // Redacted before it is cut: a part of a secret would not be found.
  const safe = redact(bytes.length > MAX_READ ? `${head}…` : head);
  const text = (type.name === 'text/html' ? safe.replaceAll(/<[^>]{0,500}>/g, ' ') : safe)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are taken out
    .replaceAll(/[\s\x00-\x1f\x7f]+/g, ' ')
    .trim();
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text;
}

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
