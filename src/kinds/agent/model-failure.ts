import { ToolcribError, type ToolError, toolError } from '../../core/tool-error.ts';
import { FetchError } from '../../system/fetch/fetch-error.ts';
import { BadReply, type ModelError } from './model-api.ts';

/** A request to a model that failed. */
export class ModelFailure extends Error {
  readonly error: ToolError;
  /** True if the same request may succeed a little later. */
  readonly mayPass: boolean;
  /** True if it is certain that the server did not see the request. */
  readonly isUnsent: boolean;
  constructor(error: ToolError, { mayPass = false, isUnsent = false } = {}) {
    super(error.message);
    this.name = 'ModelFailure';
    this.error = error;
    this.mayPass = mayPass;
    this.isUnsent = isUnsent;
  }
}

/** Facts about a failed request. */
export interface FailedRequest {
  /** The name of the agent's tool. */
  readonly name: string;
  /** Removes the values of secrets from a text. */
  redact(text: string): string;
}

interface Answered {
  /** Undefined for an error in the middle of a stream. */
  readonly status: number | undefined;
  readonly said: ModelError | undefined;
  readonly retryAfterMs: number | undefined;
}

const TOO_LONG = /context_length|context window|maximum context|prompt is too long|request_too_large|too many tokens/i;

/** Translates an answer of the server that is an error. */
export function answeredFailure({ status, said, retryAfterMs }: Answered, request: FailedRequest): ModelFailure {
  const { type = '', message = '' } = said ?? {};
  const quoted = excerptOf(message, request.redact);
  const number = status === undefined ? 'an error' : String(status);
  const words = `The model server of "${request.name}" answered ${number}${quoted === '' ? '.' : `: ${quoted}`}`;
  const later = { retryable: true, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  const is = (pattern: RegExp, ...codes: readonly number[]) => pattern.test(type) || codes.includes(status ?? 0);
  if (is(/insufficient_quota|billing/, 402))
    return new ModelFailure(
      toolError('upstream', `${words} The quota of the API key is used up: the operator can renew it.`),
    );
  if (is(/rate_limit/, 429)) return new ModelFailure(toolError('rate_limited', words, later), { mayPass: true });
  if (is(/authentication|permission|invalid_api_key/, 401, 403))
    return new ModelFailure(toolError('upstream', `${words} The operator can check the API key of the model.`));
  if (is(/request_too_large/, 413) || TOO_LONG.test(`${type} ${message}`)) {
    const cure = 'The conversation is longer than the model accepts: ask for less, or let its tools return less.';
    return new ModelFailure(toolError('too_large', `${words} ${cure}`));
  }
  if (
    is(/overloaded|api_error|server_error|timeout/, 408, 409) ||
    (status !== undefined && status >= 500 && status !== 501)
  )
    return new ModelFailure(toolError('upstream', words, later), { mayPass: true });
  if (status !== undefined && status >= 300 && status < 400)
    return new ModelFailure(
      toolError('upstream', `${words} Redirects are not followed: the operator can correct the baseUrl.`),
    );
  return new ModelFailure(toolError('upstream', `${words} The operator can check the model and its settings.`));
}

const MAX_READ = 20_000;
const MAX_SHOWN = 500;

function excerptOf(message: string, redact: (text: string) => string): string {
  const head = message.length > MAX_READ ? `${message.slice(0, MAX_READ)}…` : message;
  // Redact before cutting: a part of a secret would not be recognized.
  const text = redact(head)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text;
}

/** Translates a request without a complete answer; other errors are returned as they are. */
export function requestFailure(cause: unknown, request: FailedRequest): unknown {
  const { name } = request;
  const server = `The model server of "${name}"`;
  if (cause instanceof BadReply && cause.said !== undefined)
    return answeredFailure({ status: undefined, said: cause.said, retryAfterMs: undefined }, request);
  if (cause instanceof BadReply)
    return new ModelFailure(
      toolError('upstream', `${server} sent a reply that cannot be read: ${cause.message}.`, {
        retryable: true,
        cause,
      }),
      { mayPass: true },
    );
  if (cause instanceof ToolcribError)
    return new ModelFailure(
      toolError(
        'unavailable',
        `"${name}" cannot be called because the key of its model cannot be used; the operator finds the reason in the log.`,
        { cause },
      ),
      { isUnsent: true },
    );
  return cause instanceof FetchError ? fetchFailure(cause, name) : cause;
}

function fetchFailure(cause: FetchError, name: string): ModelFailure {
  const { isUnsent } = cause;
  const server = `The model server of "${name}"`;
  const passing = { retryable: true, cause };
  switch (cause.failure) {
    case 'refused': {
      const message = `"${name}" calls a model at an address that is not allowed. The operator finds it in the log, and can allow private hosts in executors.agent.allowPrivate, or name the model in executors.agent.models.`;
      return new ModelFailure(toolError('denied', message, { cause }), { isUnsent: true });
    }
    case 'unreachable':
      return new ModelFailure(toolError('unavailable', `${server} cannot be reached; try again later.`, passing), {
        mayPass: true,
        isUnsent,
      });
    case 'lost':
      return new ModelFailure(toolError('upstream', `${server} closed the connection before it answered.`, passing), {
        mayPass: true,
      });
    case 'timeout':
      return new ModelFailure(toolError('timeout', `${server} did not answer in time (requestTimeoutMs).`, passing));
    case 'too_large':
      return new ModelFailure(toolError('too_large', `The answer of the model of "${name}" is too large.`, { cause }));
    case 'malformed':
      return new ModelFailure(toolError('upstream', `${server} sent an answer that cannot be read.`, { cause }));
    case 'cancelled':
      return new ModelFailure(toolError('cancelled', `The call to "${name}" was cancelled.`, { cause }));
  }
}
