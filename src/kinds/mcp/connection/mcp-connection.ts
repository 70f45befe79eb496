import type { JsonObject, MaybePromise } from '../../../core/json.ts';
import type { Clock } from '../../../core/ports/ports.ts';
import type { OutputTail } from '../../../system/processes/output-tail.ts';
import type { ChildCommand } from '../../../system/processes/start-child.ts';
import type { RemoteAddress } from './http-exchange.ts';
import type { WireRequest } from './wire-requests.ts';

/** Which of the two ways of speaking MCP a server knows. */
export type McpEra = 'modern' | 'legacy';

/** How a server is reached. Functions are asked when a connection is opened, so that secrets are held no longer than needed. */
export type McpAddress =
  | { readonly kind: 'child'; command(): MaybePromise<ChildCommand> }
  | {
      readonly kind: 'remote';
      readonly type: 'http' | 'sse' | undefined;
      remote(sdk: Sdk): MaybePromise<RemoteAddress>;
    };

/** The SDK, which is loaded by the first connection. */
export type Sdk = typeof import('@modelcontextprotocol/client');

/** One connection to one server. Whoever opened it closes it. */
export interface McpConnection {
  readonly era: McpEra;
  readonly openedAt: number;
  /** Resolves with the result as it came. Rejects with an `McpFailure`. */
  request(request: WireRequest): Promise<JsonObject>;
  /** Resolves when it is over, whoever ended it; never rejects. */
  readonly closed: Promise<void>;
  /** Why it is over, for the owner of the crib. */
  lastWords(): string | undefined;
  /** Closes it when all that was asked is answered; nobody asks anything more. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

/** What opening a connection takes. */
export interface OpenOptions {
  readonly address: McpAddress;
  /** The era that is known already: only `legacy` spares something, a question that old servers do not understand. */
  readonly era: McpEra | undefined;
  /** For everything until the server can be asked. */
  readonly timeoutMs: number;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** For what nobody waits for. */
  readonly idleClock: Clock;
  readonly output: OutputTail;
  /** Told of what takes longer than the attempt: a server that is being ended. */
  track(work: Promise<void>): void;
  onToolsChanged(connection: McpConnection): void;
}
