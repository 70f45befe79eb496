import type { Agent, IncomingMessage } from 'node:http';
import { FetchError } from './fetch-error.ts';
import { sendGuarded } from './guarded-request.ts';

/** How a request is sent whose answer is read while it comes. */
export interface StreamedFetchOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** Ends the answer, too. */
  readonly signal: AbortSignal;
  /** Whether the host may be on a private network. */
  readonly mayBePrivate: boolean;
  /** Keeps connections for the next request; it must not be shared with whoever is held to other rules. None are kept if absent. */
  readonly agent?: Agent;
}

/** Sends one request through the address check; no redirect is followed. Resolves when the headers of the answer have come. */
export async function streamedFetch(url: URL, options: StreamedFetchOptions): Promise<IncomingMessage> {
  const { body, headers, ...rest } = options;
  // Packed answers are refused: an event must not wait in a decoder for the next one.
  const sent = { 'user-agent': 'toolcrib', ...headers, 'accept-encoding': 'identity' };
  const response = await sendGuarded({ url, headers: sent, ...(body !== undefined && { body }), ...rest });
  response.on('error', () => {}); // whoever reads it is told; whoever has stopped reading need not be
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity' || encoding === '') return response;
  response.destroy();
  throw new FetchError('malformed', `${url.host} answered in the encoding "${encoding}", which was not asked for.`);
}
