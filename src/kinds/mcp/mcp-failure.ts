import type { JsonObject } from '../../core/json.ts';
import { messageOf } from '../../core/tool-error.ts';
import { explainCode, FetchError, isNeverSent } from '../../system/fetch/fetch-error.ts';

/** What can go wrong between us and a server. */
export type McpFailureKind =
  /** The server is not there, or does not know us any more: it never saw what was asked. */
  | 'unreachable'
  /** It has no time: it did not begin with what was asked. */
  | 'busy'
  /** It was asked, and then the connection ended: nobody knows what it did. */
  | 'lost'
  /** It answered with more than is taken. */
  | 'too_large'
  /** It does not let us in. */
  | 'refused'
  /** It answered with an error of the protocol; `code` says which. */
  | 'error'
  /** It answered with what is no answer. */
  | 'malformed'
  /** Nobody waits for the answer any more. */
  | 'cancelled';

interface McpFailureDetails {
  readonly cause?: unknown;
  /** Of JSON-RPC. */
  readonly code?: number;
  /** What an error of JSON-RPC says besides. */
  readonly data?: JsonObject;
  readonly retryAfterMs?: number;
  /** True where the server said so itself, by a status of HTTP. */
  readonly isAnswer?: boolean;
  /** True where the server answered, and by the protocol has not looked at what was asked. */
  readonly isUnseen?: boolean;
}

/** Thrown by whatever speaks to an MCP server. The message is for the owner of the crib; callers are told less. */
export class McpFailure extends Error {
  readonly kind: McpFailureKind;
  readonly code: number | undefined;
  readonly data: JsonObject | undefined;
  readonly retryAfterMs: number | undefined;
  /** True if it is certain that what was asked has not been handed to the server. */
  readonly isUnsent: boolean;
  /** True if the server has it, and says by the protocol that it did not look at it. */
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

/** What is known of the answer to a request besides its status. */
interface Answered {
  readonly retryAfterMs?: number | undefined;
  /** True if the request belonged to a session. */
  readonly hasSession?: boolean;
  /** True if it was answered, whatever went wrong afterwards: fetching another token, say. */
  readonly isAnswered?: boolean;
}

interface Failing extends Answered {
  readonly cause: unknown;
}

/** What a failed exchange over HTTP says about a request: above all, whether the server can have seen it. */
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
    return new McpFailure('refused', `${host} does not accept the credential: ${cause.message}`, { cause });
  if (cause instanceof SyntaxError) return new McpFailure('malformed', `${host} did not answer with JSON`, { cause });
  return new McpFailure('lost', `${host} ended the connection before it had answered`, { cause });
}

function toStatusFailure(status: number, host: string, { cause, hasSession }: Failing): McpFailure {
  const words = `${host} answered with status ${status}`;
  // A session that is over: by the protocol the server looks at no request of a session that it does not know.
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

/** The status that an error of the SDK carries. */
export function statusOf(cause: unknown): number | undefined {
  const { status } = (cause ?? {}) as { readonly status?: unknown }; // read as unknown
  return typeof status === 'number' ? status : undefined;
}

function wordsOf(cause: unknown, host: string): string {
  if (cause instanceof FetchError) return cause.message;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : messageOf(cause);
  return `${host} cannot be reached: ${explainCode(code)}`;
}
