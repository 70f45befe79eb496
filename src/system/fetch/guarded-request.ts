import { lookup as systemLookup } from 'node:dns';
import {
  type Agent,
  type ClientRequest,
  type ClientRequestArgs,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { messageOf } from '../../core/tool-error.ts';
import { FetchError } from './fetch-error.ts';
import { isOwnAddress } from './own-addresses.ts';
import { isPublicAddress } from './private-address.ts';

/** The addresses of a name. */
export type ResolveHost = (
  hostname: string,
) => Promise<readonly { readonly address: string; readonly family: number }[]>;

/** One request to one address; redirects are for the caller to follow. */
export interface GuardedRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Whether the host may be on a private network. */
  readonly mayBePrivate: boolean;
  readonly signal: AbortSignal;
  readonly resolve?: ResolveHost;
  /** Keeps connections that were opened under the same rules; none if absent. */
  readonly agent?: Agent;
  /** True for what is us as well, besides what this process listens on. */
  isOwn?(url: URL, address: string): boolean;
}

/** Sends a request and resolves when the headers of the answer have come. The address that was checked is the one that is used. */
export async function sendGuarded(given: GuardedRequest): Promise<IncomingMessage> {
  const { url, method, body, mayBePrivate, signal } = given;
  requireWebAddress(url);
  const hostname = hostnameOf(url);
  const isOwn = (address: string) => isOwnAddress(address, portOf(url)) || given.isOwn?.(url, address) === true;
  const mayConnect = (address: string) => (mayBePrivate || isPublicAddress(address)) && !isOwn(address);
  const refusal = (addresses: readonly string[]) => (addresses.some(isOwn) ? ownAddress(url) : privateAddress(url));
  if (isIP(hostname) !== 0 && !mayConnect(hostname)) throw refusal([hostname]);
  const options: ClientRequestArgs = {
    protocol: url.protocol,
    hostname,
    port: url.port,
    path: `${url.pathname}${url.search}`,
    method,
    headers: { ...given.headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
    agent: given.agent ?? false, // a connection of its own: none that was opened under other rules
    lookup: guardedLookup({ mayConnect, refusal }, url, given.resolve ?? resolveBySystem),
    // A connection that is kept would end with the signal of the request that opened it.
    ...(given.agent === undefined && { signal }),
  };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(options, resolve);
    if (given.agent !== undefined) endWith(request, signal);
    let isConnected = false;
    request.on('error', (cause) => {
      if (!isConnected) unconnected.add(cause);
      reject(cause);
    });
    request.on('socket', (socket) => {
      isConnected = !socket.connecting; // one that was kept
      socket.once(connectedEvent(url), () => {
        isConnected = true;
      });
      endUnlessConnected(request, socket, url);
    });
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new FetchError('malformed', `${url.host} wants to speak something else than HTTP.`));
    });
    request.end(body);
  });
}

// Without an error of its own: a connection that is being put back just now has nobody left to hear of one.
function endWith(request: ClientRequest, signal: AbortSignal): void {
  const end = () => void request.destroy();
  signal.addEventListener('abort', end);
  request.on('close', () => signal.removeEventListener('abort', end));
  if (signal.aborted) end();
}

/** A host that takes no connections is down, and no caller waits for it longer than 3 s. */
const CONNECT_MS = 2500;

function endUnlessConnected(request: ClientRequest, socket: Socket, url: URL): void {
  if (!socket.connecting) return;
  const timer = setTimeout(() => {
    request.destroy(new FetchError('unreachable', `${url.host} took no connection within ${CONNECT_MS} ms.`));
  }, CONNECT_MS);
  const stop = () => clearTimeout(timer);
  socket.once(connectedEvent(url), stop);
  socket.once('close', stop);
}

/** What a socket says when the first byte of a request can be sent. */
function connectedEvent({ protocol }: URL): 'secureConnect' | 'connect' {
  return protocol === 'https:' ? 'secureConnect' : 'connect';
}

function requireWebAddress(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new FetchError('refused', `Only http and https addresses are fetched, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '')
    throw new FetchError('refused', `The address of ${url.host} holds a password; send it in a header.`);
}

/** Which addresses may be used, and what is said where none of them may. */
interface AddressGuard {
  mayConnect(address: string): boolean;
  refusal(addresses: readonly string[]): FetchError;
}

function guardedLookup({ mayConnect, refusal }: AddressGuard, url: URL, resolve: ResolveHost): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const allowed = addresses.filter(({ address }) => mayConnect(address));
        const [first] = allowed;
        const refused = () => refusal(addresses.map(({ address }) => address));
        if (first === undefined) callback(addresses.length === 0 ? unknownHost(url) : refused(), []);
        else if (all) callback(null, [...allowed]);
        else callback(null, first.address, first.family);
      },
      (cause) => callback(unknownHost(url, cause), []),
    );
  };
}

const resolveBySystem: ResolveHost = (hostname) =>
  new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)));
  });

/** The port of an address, also where it is the usual one. */
export function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}

function hostnameOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function privateAddress(url: URL): FetchError {
  return new FetchError('refused', `${url.host} is on a private network, which may not be reached from here.`);
}

/** Whoever calls a tool is not to answer for itself what a person is asked. */
function ownAddress(url: URL): FetchError {
  return new FetchError('refused', `${url.host} is this crib itself, which no tool may reach.`);
}

function unknownHost(url: URL, cause?: unknown): FetchError {
  const why = cause === undefined ? 'it has no address' : messageOf(cause);
  return new FetchError('unreachable', `${url.host} cannot be found: ${why}.`, { cause });
}

/** Failures of requests that had no connection yet. */
const unconnected = new WeakSet<Error>();

/** True for a failure after which it is certain that the server never saw the request. A server can break the encryption of a connection at any time: only before there is a connection does that say so. */
export function isNeverSent(cause: unknown): boolean {
  if (cause instanceof FetchError) return ['refused', 'unreachable'].includes(cause.failure);
  if (!(cause instanceof Error) || !('code' in cause) || !unconnected.has(cause)) return false;
  // Of a host with several addresses, none of which took a connection.
  if (cause instanceof AggregateError) return true;
  const syscall = 'syscall' in cause ? cause.syscall : undefined;
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true;
  return /^(CERT_|DEPTH_ZERO|ERR_TLS|ERR_SSL|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH)/.test(String(cause.code));
}
