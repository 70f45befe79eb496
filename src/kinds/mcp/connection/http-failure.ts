import { messageOf } from '../../../core/tool-error.ts';
import { FetchError } from '../../../system/fetch/fetch-error.ts';
import { isNeverSent } from '../../../system/fetch/guarded-request.ts';
import { McpFailure } from '../mcp-failure.ts';

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
  return `${host} cannot be reached: ${code}`;
}
