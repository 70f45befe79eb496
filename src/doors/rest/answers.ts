import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { ToolcribError, type ToolError, type ToolErrorCode } from '../../core/tool-error.ts';
import { toBody } from '../../system/fetch/large-text.ts';

/** A response: a status and JSON. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Error codes of this door alone, and where it uses a code of a call with another status. */
export const REST_ERRORS = {
  unknown_profile: { status: 404, meaning: 'The profile does not exist, or the caller may not use it.' },
  not_found: {
    status: 404,
    meaning: 'The route, call, task, result, approval, key or spec does not exist, or belongs to another caller.',
  },
  method_not_allowed: { status: 405, meaning: 'The route has other methods.' },
  too_large: { status: 413, meaning: 'The body of the request exceeds 4 MB.' },
  not_available: { status: 501, meaning: 'This version does not have the route yet.' },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly meaning: string }>>;

/** The error of a response; `code` is an error code of a call, or one of this door. */
export interface Failure extends Omit<ToolError, 'code' | 'cause'> {
  readonly code: ToolErrorCode | keyof typeof REST_ERRORS;
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

/** A refusal with an error code of this door. */
export function refuseAtDoor(code: keyof typeof REST_ERRORS, message: string): Answer {
  return refuse(REST_ERRORS[code].status, { code, message, retryable: false });
}

/** A refusal with status 404: the thing does not exist, or the caller may not see it. */
export function notFound(message: string): Answer {
  return refuseAtDoor('not_found', message);
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
const OF_THE_ASKER = /^(invalid|unknown)_(option|criterion|selector|key|spec|input|schedule)$/;

/** The refusal for a thrown error; undefined if the error must not be shown to the caller. */
export function refusalOf(cause: unknown): Answer | undefined {
  if (!(cause instanceof ToolcribError)) return undefined;
  const { code, message } = cause;
  if (OF_THE_ASKER.test(code)) return refuse(400, { code: 'invalid_input', message, retryable: false });
  switch (code) {
    case 'unknown_tool':
      return refuse(statusOf(code), { code, message, retryable: false });
    case 'too_many_tools': // for the format that the caller named
      return refuse(409, { code: 'conflict', message, retryable: false });
    case 'not_counted':
      return notFound(message);
    case 'unknown_profile':
    case 'not_found':
    case 'not_available':
      return refuseAtDoor(code, message);
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

/** A complete JSON response: as text, or in pieces that are made as fast as the client reads. */
export type WholeAnswer =
  | { readonly status: number; readonly text: string }
  | { readonly status: number; readonly pieces: Iterable<string> };

/** Sends a complete response at once, or returns it for sending. */
export type SendWhole = (answer: WholeAnswer) => Response;

const TYPE = 'application/json';

/** Converts a complete response to a web Response. */
export function toWebResponse(answer: WholeAnswer): Response {
  const text = 'text' in answer ? answer.text : [...answer.pieces].join('');
  return new Response(text, { status: answer.status, headers: { 'content-type': TYPE } });
}

/** Writes a complete response directly, without the cost of a web stream. */
export function writeWhole(outgoing: ServerResponse, answer: WholeAnswer): void {
  const { status } = answer;
  if ('pieces' in answer) {
    outgoing.writeHead(status, { 'content-type': TYPE });
    pipeline(Readable.from(answer.pieces, { highWaterMark: 1 }), outgoing, () => {}); // a client that left needs no answer
    return;
  }
  const body = toBody(answer.text);
  outgoing.writeHead(status, { 'content-type': TYPE, 'content-length': Buffer.byteLength(body) }).end(body);
}
