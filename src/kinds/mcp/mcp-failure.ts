import type { JsonObject } from '../../core/json.ts';

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
