import type { Agent, IncomingMessage } from 'node:http';
import { FetchError } from './fetch-error.ts';
import { sendGuarded } from './guarded-request.ts';

/** Options for a request whose response is streamed. */
export interface StreamedFetchOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** Also ends the response. */
  readonly signal: AbortSignal;
  /** True if the host may be on a private network. */
  readonly mayBePrivate: boolean;
  /** Keeps connections for later requests. It must not be shared between requests under different rules. Default: no reuse. */
  readonly agent?: Agent;
  /** True for further addresses of this crib, besides those that this process listens on. */
  isOwn?(url: URL, address: string): boolean;
}

/** Sends one request with the address check, without following redirects. Resolves when the headers have arrived. */
export async function streamedFetch(url: URL, options: StreamedFetchOptions): Promise<IncomingMessage> {
  const { body, headers, ...rest } = options;
  // No compression: an event must not wait in a decoder for the next one.
  const sent = { 'user-agent': 'toolcrib', ...headers, 'accept-encoding': 'identity' };
  const response = await sendGuarded({ url, headers: sent, ...(body !== undefined && { body }), ...rest });
  response.on('error', () => {}); // the reader gets the error; after reading has stopped, it does not matter
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity' || encoding === '') return response;
  response.destroy();
  throw new FetchError('malformed', `${url.host} answered with the encoding "${encoding}", which was not requested.`);
}
