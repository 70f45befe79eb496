import type { Agent, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { listOf } from '../../core/visible-text.ts';
import { FetchError } from './fetch-error.ts';
import { portOf, sendGuarded } from './guarded-request.ts';
import { isSamePlace } from './own-addresses.ts';

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

/** Where a crib is served, perhaps by another process. */
export interface ServedPlace {
  readonly host?: string;
  readonly port?: number;
  /** Names besides by which it is reached. */
  readonly hosts?: string | readonly string[];
}

const USUAL = { host: '127.0.0.1', port: 2742 };

/** True if connecting there would reach a crib that is served at this place. */
export function isServedAt(
  { host = USUAL.host, port = USUAL.port, hosts }: ServedPlace,
  url: URL,
  address: string,
): boolean {
  const to = plainName(url.hostname);
  const isNamed = listOf(hosts)
    .map((name) => URL.parse(`http://${name}`))
    .some((named) => named !== null && plainName(named.hostname) === to && ['', url.port].includes(named.port));
  if (isNamed) return true;
  if (portOf(url) !== port) return false;
  // What a name stands for may change: then no address of this machine is safe.
  return isSamePlace(address, isIP(host) === 0 ? '0.0.0.0' : host);
}

/** A name may end with a dot and mean the same; the address parser has seen to case and other scripts. */
function plainName(hostname: string): string {
  return hostname.replace(/\.$/, '');
}
