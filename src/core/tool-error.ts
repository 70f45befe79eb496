/** Error codes of a call, each with its meaning and what a caller can do. The list is closed: doors map each code to their protocol. */
export const TOOL_ERRORS = {
  unknown_tool: {
    meaning: "The caller's profile has no tool of this name. A hidden tool gets the same answer.",
    remedy: 'Search or list the tools.',
  },
  invalid_input: {
    meaning:
      'The arguments do not fit the schema. `issues: [{ path, message }]` has JSON pointers with a sentence each.',
    remedy: 'Correct the arguments.',
  },
  invalid_output: {
    meaning: "The tool's answer does not fit its output schema, or JSON cannot carry it.",
    remedy: 'Correct the tool.',
  },
  unauthenticated: {
    meaning: 'The credential is missing or was not accepted (an answer of `crib.identify`).',
    remedy: 'Send a valid key or token.',
  },
  denied: {
    meaning: 'An approver, a rule, a veto or the access hours refused the call.',
    remedy: 'Read the message; ask the operator.',
  },
  conflict: {
    meaning: 'The approval or idempotency key that the call names was used already, or its first call still runs.',
    remedy: 'Send the same arguments, or use a new key.',
  },
  rate_limited: {
    meaning: 'A rate or a limit on stored requests was reached.',
    remedy: 'Wait for `retryAfterMs`.',
  },
  timeout: {
    meaning: 'The time of the call was over.',
    remedy: 'Retry if the tool may be repeated; raise `timeoutMs`.',
  },
  cancelled: { meaning: 'The caller cancelled the call.', remedy: '' },
  unavailable: {
    meaning: 'The tool did not begin: busy, not set up, a missing service, no executor, a server that is down.',
    remedy: 'Repeat the call after `retryAfterMs`.',
  },
  upstream: { meaning: 'The server or API behind the tool failed.', remedy: 'Retry if `retryable`.' },
  tool_error: { meaning: 'The tool ran and reported an error.', remedy: 'Read the message.' },
  too_large: {
    meaning: 'The answer exceeds a limit.',
    remedy: 'Ask for less; see [large results](configuration.md#large-results).',
  },
  unknown_outcome: {
    meaning: 'The call may have run; its outcome is not known.',
    remedy: 'Check before you repeat it.',
  },
  internal: {
    meaning: 'An extension failed, so the call was refused. The caller gets no details.',
    remedy: 'Read the log of the crib.',
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly remedy: string }>>;
export type ToolErrorCode = keyof typeof TOOL_ERRORS;
export const TOOL_ERROR_CODES = Object.keys(TOOL_ERRORS) as readonly ToolErrorCode[]; // all of its keys are codes

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

/** `instanceof` for a thrown value, which may be anything: for a revoked proxy `instanceof` itself throws. */
export function isInstance<T>(value: unknown, type: abstract new (...parts: never[]) => T): value is T {
  try {
    return value instanceof type;
  } catch {
    return false;
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
