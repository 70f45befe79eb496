import { type ToolError, toolError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import type { FetchedResponse } from '../../system/fetch/guarded-fetch.ts';
import { readRetryAfterMs } from '../../system/fetch/retry-after.ts';
import { bodyText, readContentType } from './content-type.ts';
import { statusText } from './read-answer.ts';

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
export function isRepeatable({ spec, method }: Pick<Failing, 'spec' | 'method'>): boolean {
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
