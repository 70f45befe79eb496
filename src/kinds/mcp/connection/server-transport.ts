import type { Transport } from '@modelcontextprotocol/client';
import type { McpFailure } from '../mcp-failure.ts';

/** A transport that can say more about our own requests than the SDK asks. */
export interface ServerTransport extends Transport {
  /** What it means for request `id` that it could not be sent, or that its answer could not be read. */
  failureOf(cause: unknown, id: number): McpFailure;
  /** Whether request `id`, which was sent, may still be answered. */
  mayStillAnswer(id: number): boolean;
  /** Request `id` is over. */
  forget(id: number): void;
  /** True where ending the stream of a request tells a server of the newest era that nobody waits any more. */
  readonly hasPerRequestStream?: boolean;
  /** Whether something is under way that this process should stay for. */
  keepAlive?(isNeeded: boolean): void;
  /** Why it is over, in words for the owner of the crib. */
  lastWords(): string | undefined;
}

/** The header by which our own `fetch` knows whose request it sends; it is taken off on the way. */
export const REQUEST_HEADER = 'x-toolcrib-request';
