import type { ServerResponse } from 'node:http';
import { ToolcribError, type ToolError, type ToolErrorCode } from '../../core/tool-error.ts';

/** What is sent back: a status and JSON. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is said of a failure; `code` is that of a call, or one of the door's own. */
export interface Failure extends Omit<ToolError, 'code' | 'cause'> {
  readonly code: string;
}

/** The status of each reason why a call fails. A tool that ran and failed was reached: that is no failure of ours. */
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

/** JSON that is what was asked for. */
export function ok(body: unknown, status = 200): Answer {
  return { status, body };
}

/** The status that tells of an error. */
export function statusOf(code: ToolErrorCode): number {
  return STATUS[code];
}

/** Why nothing came of a request; `more` stands beside the error. */
export function refuse(status: number, error: Failure, more: Readonly<Record<string, unknown>> = {}): Answer {
  const headers = {
    ...(status === 401 && { 'www-authenticate': 'Bearer realm="toolcrib"' }),
    ...(error.retryAfterMs !== undefined && { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) }),
  };
  return { status, headers, body: { ok: false, status: 'failed', ...more, error } };
}

/** The same for a reason that a call could have. */
export function refuseFor(error: ToolError): Answer {
  return refuse(statusOf(error.code), error);
}

/** There is nothing of this name, or not for who asks. */
export function notFound(message: string): Answer {
  return refuse(404, { code: 'not_found', message, retryable: false });
}

/** What a browser and a cache may do with answers: nothing. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

/** The answer as HTTP. */
export function toResponse({ status, body, headers }: Answer): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...HEADERS, ...headers },
  });
}

/** What the crib throws at who asks for what cannot be meant, in words that may be shown. */
const OF_THE_ASKER = /^(invalid|unknown)_(option|criterion|selector|key|spec|input)$/;

/** What a thrown error says to who asked; undefined for one that is nobody's business. */
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
  message: 'The store does not answer at the moment; try again later.',
  retryable: true,
});

/** What is said where something went wrong that should not have. */
export const INTERNAL: Answer = refuse(500, {
  code: 'internal',
  message: 'Something went wrong here that should not have.',
  retryable: false,
});

/** JSON that is there as a whole. */
export interface WholeAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends an answer, or makes of it what is sent later. */
export type SendWhole = (answer: WholeAnswer) => Response;

const TYPE = 'application/json';

/** For whoever takes nothing but the answers of the web. */
export function toWebResponse({ status, text }: WholeAnswer): Response {
  return new Response(text, { status, headers: { 'content-type': TYPE } });
}

/** Writes at once what would otherwise be put into a stream and read back from it. */
export function writeWhole(outgoing: ServerResponse, { status, text }: WholeAnswer): void {
  outgoing.writeHead(status, { 'content-type': TYPE, 'content-length': Buffer.byteLength(text) }).end(text);
}
