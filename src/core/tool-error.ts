/** Error codes of a call. The list is closed: doors map each code to their protocol. */
export const TOOL_ERROR_CODES = [
  'unknown_tool',
  'invalid_input',
  'invalid_output',
  'unauthenticated',
  'denied',
  'conflict',
  'rate_limited',
  'timeout',
  'cancelled',
  'unavailable',
  'upstream',
  'tool_error',
  'too_large',
  'unknown_outcome',
  'internal',
] as const;
export type ToolErrorCode = (typeof TOOL_ERROR_CODES)[number];

/** One problem of the arguments or the answer; `path` is a JSON pointer, '' for the whole value. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** An error with a message that a model can act on. `cause` is for the log; it is not enumerable, so it is never sent. */
export interface ToolError {
  readonly code: ToolErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly issues?: readonly Issue[];
  readonly cause?: unknown;
}

interface ToolErrorDetails {
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly issues?: readonly Issue[];
  readonly cause?: unknown;
}

/** Creates a `ToolError`; not retryable by default. */
export function toolError(code: ToolErrorCode, message: string, details: ToolErrorDetails = {}): ToolError {
  const { cause, ...shown } = details;
  const error: ToolError = { code, message, retryable: false, ...shown };
  return cause === undefined ? error : Object.defineProperty(error, 'cause', { value: cause, enumerable: false });
}

/** A developer's mistake, thrown at start. `code` is stable; the message says what happened, to which thing, and what to do. */
export class ToolcribError extends Error {
  readonly code: string;
  constructor(code: string, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'ToolcribError';
    this.code = code;
  }
}

const MAX_MESSAGE = 4000;

/** The message of a thrown value of any type. */
export function messageOf(cause: unknown, silent = 'it failed without a message'): string {
  try {
    const text = typeof cause === 'string' ? cause : (cause as { message?: unknown } | null | undefined)?.message; // read as unknown
    if (typeof text === 'string' && text !== '')
      return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text;
  } catch {
    // A `message` getter that throws counts as no message.
  }
  return silent;
}

/** The `code` of a thrown value, such as ENOENT, or undefined. */
export function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined;
}

/** The reason why a file or folder cannot be read, as text to follow its path. */
export function whyUnreadable(cause: unknown): string {
  const code = codeOf(cause);
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'does not exist';
    case 'EACCES':
    case 'EPERM':
      return 'is not readable for this user';
    case 'ELOOP':
      return 'is a symbolic link that leads back to itself';
    case 'ENXIO':
      return 'is a pipe or a device, not a file';
    default:
      return typeof code === 'string' ? `cannot be read (${code})` : `cannot be read: ${messageOf(cause)}`;
  }
}

/** Error codes of lost or failed connections. */
const CONNECTION_CODE = /^(ECONNRESET|ECONNREFUSED|EPIPE|ETIMEDOUT|UND_ERR_\w+)$/;
/** `fetch` wraps the actual failure as `cause`. */
const DEEPEST_CAUSE = 4;

/** The reason why a retry may help: the author marked the error `retryable`, or a connection failed. */
export function passingReason(thrown: unknown): 'marked' | 'connection' | undefined {
  try {
    const { retryable } = Object(thrown) as { readonly retryable?: unknown }; // read as unknown
    if (typeof retryable === 'boolean') return retryable ? 'marked' : undefined;
    let error: { readonly code?: unknown; readonly cause?: unknown } = Object(thrown); // likewise
    for (let depth = 0; depth <= DEEPEST_CAUSE; depth++) {
      if (typeof error.code === 'string' && CONNECTION_CODE.test(error.code)) return 'connection';
      error = Object(error.cause);
    }
  } catch {
    // A getter that throws counts as absent.
  }
  return undefined;
}

/** The error for a feature that this version does not have. */
export function notAvailable(what: string, instead: string): ToolcribError {
  return new ToolcribError('not_available', `${what} is not available in this version; ${instead}.`);
}
