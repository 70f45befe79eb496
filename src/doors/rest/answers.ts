import type { ToolError, ToolErrorCode } from '../../core/tool-error.ts';

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
