import type { ServerResponse } from 'node:http';
import { ToolcribError, type ToolError, type ToolErrorCode } from '../../core/tool-error.ts';

/** A response: a status and JSON. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The error of a response; `code` is an error code of a call, or one of this door. */
export interface Failure extends Omit<ToolError, 'code' | 'cause'> {
  readonly code: string;
}

/** The HTTP status of each error code. A tool that ran and failed is not a failure of the server. */
const STATUS: Readonly<Record<ToolErrorCode, number>> = {
  unknown_tool: 404,
  invalid_input: 400,
  unauthenticated: 401,
  denied: 403,
  conflict: 409,
  rate_limited: 429,
  cancelled: 499,
  upstream: 502,
  invalid_output: 502,
  too_large: 502,
  unknown_outcome: 502,
  unavailable: 503,
  timeout: 504,
  internal: 500,
  tool_error: 200,
};

/** A successful response. */
export function ok(body: unknown, status = 200): Answer {
  return { status, body };
}

/** The HTTP status of an error code. */
export function statusOf(code: ToolErrorCode): number {
  return STATUS[code];
}

/** A refusal; the members of `more` are added beside the error. */
export function refuse(status: number, error: Failure, more: Readonly<Record<string, unknown>> = {}): Answer {
  const headers = {
    ...(status === 401 && { 'www-authenticate': 'Bearer realm="toolcrib"' }),
    ...(error.retryAfterMs !== undefined && { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) }),
  };
  return { status, headers, body: { ok: false, status: 'failed', ...more, error } };
}

/** A refusal with the error of a call. */
export function refuseFor(error: ToolError): Answer {
  return refuse(statusOf(error.code), error);
}

/** A refusal with status 404: the thing does not exist, or the caller may not see it. */
export function notFound(message: string): Answer {
  return refuse(404, { code: 'not_found', message, retryable: false });
}

/** Headers that keep browsers from caching or guessing types. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

/** Converts an answer to an HTTP response. */
export function toResponse({ status, body, headers }: Answer): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...HEADERS, ...headers },
  });
}

/** Error codes of the crib for invalid requests; their messages are safe to show. */
const OF_THE_ASKER = /^(invalid|unknown)_(option|criterion|selector|key|spec|input)$/;

/** The refusal for a thrown error; undefined if the error must not be shown to the caller. */
export function refusalOf(cause: unknown): Answer | undefined {
  if (!(cause instanceof ToolcribError)) return undefined;
  const { code, message } = cause;
  if (OF_THE_ASKER.test(code)) return refuse(400, { code: 'invalid_input', message, retryable: false });
  switch (code) {
    case 'unknown_profile':
    case 'unknown_tool':
      return refuse(404, { code, message, retryable: false });
    case 'not_found':
    case 'not_counted':
      return refuse(404, { code: 'not_found', message, retryable: false });
    case 'not_available':
      return refuse(501, { code, message, retryable: false });
    case 'store_unavailable':
      return STORE_GONE;
    default:
      return undefined;
  }
}

const STORE_GONE = refuse(503, {
  code: 'unavailable',
  message: 'The store is not available at the moment. Try again later.',
  retryable: true,
});

/** The answer to an unexpected error. */
export const INTERNAL: Answer = refuse(500, {
  code: 'internal',
  message: 'Internal error. The log of the server has the details.',
  retryable: false,
});

/** A complete JSON response as text. */
export interface WholeAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends a complete response at once, or returns it for sending. */
export type SendWhole = (answer: WholeAnswer) => Response;

const TYPE = 'application/json';

/** Converts a complete response to a web Response. */
export function toWebResponse({ status, text }: WholeAnswer): Response {
  return new Response(text, { status, headers: { 'content-type': TYPE } });
}

/** Writes a complete response directly, without the cost of a web stream. */
export function writeWhole(outgoing: ServerResponse, { status, text }: WholeAnswer): void {
  outgoing.writeHead(status, { 'content-type': TYPE, 'content-length': Buffer.byteLength(text) }).end(text);
}
