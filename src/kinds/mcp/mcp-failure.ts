import type { JsonObject } from '../../core/json.ts';
import { messageOf } from '../../core/tool-error.ts';
import { explainCode, FetchError, isNeverSent } from '../../system/fetch/fetch-error.ts';

/** Ways in which an exchange with a server can fail. */
export type McpFailureKind =
  /** The server cannot be reached or has dropped our session: it did not see the request. */
  | 'unreachable'
  /** The server is overloaded and did not start the request. */
  | 'busy'
  /** The connection ended after the request was sent: the outcome is unknown. */
  | 'lost'
  /** The answer exceeds the size limit. */
  | 'too_large'
  /** The server rejected our credentials. */
  | 'refused'
  /** A JSON-RPC error; see `code`. */
  | 'error'
  /** The answer is not valid. */
  | 'malformed'
  /** The caller stopped waiting. */
  | 'cancelled';

interface McpFailureDetails {
  readonly cause?: unknown;
  /** The JSON-RPC error code. */
  readonly code?: number;
  /** The `data` of the JSON-RPC error. */
  readonly data?: JsonObject;
  readonly retryAfterMs?: number;
  /** True if the server itself reported the failure with an HTTP status. */
  readonly isAnswer?: boolean;
  /** True if the server answered and, by the protocol, did not process the request. */
  readonly isUnseen?: boolean;
}

/** Thrown by all code that talks to MCP servers. The message is for the operator; callers get less detail. */
export class McpFailure extends Error {
  readonly kind: McpFailureKind;
  readonly code: number | undefined;
  readonly data: JsonObject | undefined;
  readonly retryAfterMs: number | undefined;
  /** True if the request was certainly not delivered to the server. */
  readonly isUnsent: boolean;
  /** True if the server received the request and, by the protocol, did not process it. */
  readonly isUnseen: boolean;
  constructor(kind: McpFailureKind, message: string, details: McpFailureDetails = {}) {
    const { cause, code, data, retryAfterMs, isAnswer = false, isUnseen = false } = details;
    super(message, { cause });
    this.name = 'McpFailure';
    this.kind = kind;
    this.code = code;
    this.data = data;
    this.retryAfterMs = retryAfterMs;
    this.isUnseen = isUnseen;
    this.isUnsent = (kind === 'unreachable' || kind === 'busy') && !isAnswer && !isUnseen;
  }
}

/** Facts about a response besides its status. */
interface Answered {
  readonly retryAfterMs?: number | undefined;
  /** True if the request belonged to a session. */
  readonly hasSession?: boolean;
  /** True if a response arrived, whatever failed afterwards, such as a token refresh. */
  readonly isAnswered?: boolean;
}

interface Failing extends Answered {
  readonly cause: unknown;
}

/** Converts a failed HTTP exchange; above all it decides whether the server can have seen the request. */
export function toHttpFailure(cause: unknown, host: string, answered: Answered = {}): McpFailure {
  if (cause instanceof McpFailure) return cause;
  if (cause instanceof FetchError && cause.failure === 'too_large') return new McpFailure('too_large', cause.message);
  if (cause instanceof FetchError && cause.failure === 'malformed') return new McpFailure('malformed', cause.message);
  if (isNeverSent(cause))
    return new McpFailure('unreachable', wordsOf(cause, host), { cause, isAnswer: answered.isAnswered === true });
  const status = statusOf(cause);
  if (status !== undefined && [429, 503].includes(status)) return toBusy(status, host, { cause, ...answered });
  if (status !== undefined) return toStatusFailure(status, host, { cause, ...answered });
  if (cause instanceof Error && /Unauthorized|OAuth|Auth/.test(cause.name))
    return new McpFailure('refused', `${host} rejected the credential: ${cause.message}`, { cause });
  if (cause instanceof SyntaxError) return new McpFailure('malformed', `${host} did not answer with JSON`, { cause });
  return new McpFailure('lost', `${host} closed the connection before it answered`, { cause });
}

function toStatusFailure(status: number, host: string, { cause, hasSession }: Failing): McpFailure {
  const words = `${host} answered with status ${status}`;
  // The session is over. By the protocol a server ignores requests of a session that it does not know.
  if (status === 404)
    return new McpFailure('unreachable', words, {
      cause,
      isAnswer: hasSession !== true,
      isUnseen: hasSession === true,
    });
  if ([401, 403].includes(status)) return new McpFailure('refused', `${words}: check the credential`, { cause });
  if ([502, 504].includes(status)) return new McpFailure('lost', words, { cause });
  return new McpFailure('malformed', words, { cause });
}

function toBusy(status: number, host: string, { cause, retryAfterMs }: Failing): McpFailure {
  const when = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new McpFailure('busy', `${host} answered with status ${status}`, { cause, isAnswer: true, ...when });
}

/** The HTTP status of an SDK error, or of the one that a failure comes from. */
export function statusOf(thrown: unknown): number | undefined {
  const cause = thrown instanceof McpFailure ? thrown.cause : thrown;
  const { status } = (cause ?? {}) as { readonly status?: unknown }; // read as unknown
  return typeof status === 'number' ? status : undefined;
}

function wordsOf(cause: unknown, host: string): string {
  if (cause instanceof FetchError) return cause.message;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : messageOf(cause);
  return `${host} cannot be reached: ${explainCode(code)}`;
}
