import { lookup as systemLookup } from 'node:dns';
import {
  type Agent,
  type ClientRequest,
  type ClientRequestArgs,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, isIPv4, isIPv6, type LookupFunction, type Socket } from 'node:net';
import { codeOf, messageOf } from '../../core/tool-error.ts';
import { explainCode, FetchError, noteUnconnected } from './fetch-error.ts';
import { isOwnAddress, portOf } from './own-addresses.ts';

/** Resolves a name to its addresses. */
export type ResolveHost = (
  hostname: string,
) => Promise<readonly { readonly address: string; readonly family: number }[]>;

/** One request to one address. The caller follows redirects. */
export interface GuardedRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** True if the host may be on a private network. */
  readonly mayBePrivate: boolean;
  readonly signal: AbortSignal;
  readonly resolve?: ResolveHost;
  /** Keeps connections opened under the same rules; default: no reuse. */
  readonly agent?: Agent;
  /** True for further addresses of this crib, besides those that this process listens on. */
  isOwn?(url: URL, address: string): boolean;
}

/** Sends a request and resolves with the headers of the response. It connects to the address that was checked. */
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
    agent: given.agent ?? false, // a new connection: none that was opened under other rules
    lookup: guardedLookup({ mayConnect, refusal }, url, given.resolve ?? resolveBySystem),
    // The signal would also end a kept connection, which later requests use.
    ...(given.agent === undefined && { signal }),
  };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(options, resolve);
    if (given.agent !== undefined) endWith(request, signal);
    let isConnected = false;
    request.on('error', (cause) => {
      if (!isConnected) noteUnconnected(cause);
      reject(cause);
    });
    request.on('socket', (socket) => {
      isConnected = !socket.connecting; // a reused connection, on which nothing may stay behind
      if (isConnected) return;
      socket.once(connectedEvent(url), () => {
        isConnected = true;
      });
      endUnlessConnected(request, socket, url);
    });
    let informed = 0;
    request.on('information', () => {
      if (++informed > MOST_INFORMED)
        request.destroy(new FetchError('malformed', `${url.host} sent more than ${MOST_INFORMED} interim responses.`));
    });
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new FetchError('malformed', `${url.host} requested a protocol upgrade; only HTTP is supported.`));
    });
    request.end(body);
  });
}

/** Interim responses (1xx) before the response. Servers send one or two; nothing else limits how many are read. */
const MOST_INFORMED = 100;

// Without an error: a connection that is returned to the pool at this moment has no listener for one.
function endWith(request: ClientRequest, signal: AbortSignal): void {
  const end = () => void request.destroy();
  signal.addEventListener('abort', end);
  request.on('close', () => signal.removeEventListener('abort', end));
  if (signal.aborted) end();
}

/** Connection timeout. A host that does not accept connections is down, and no caller should wait longer than 3 s. */
const CONNECT_MS = 2500;

function endUnlessConnected(request: ClientRequest, socket: Socket, url: URL): void {
  const timer = setTimeout(() => {
    request.destroy(new FetchError('unreachable', `${url.host} did not accept a connection within ${CONNECT_MS} ms.`));
  }, CONNECT_MS);
  const stop = () => clearTimeout(timer);
  socket.once(connectedEvent(url), stop);
  socket.once('close', stop);
}

/** The socket event after which the request can be sent. */
function connectedEvent({ protocol }: URL): 'secureConnect' | 'connect' {
  return protocol === 'https:' ? 'secureConnect' : 'connect';
}

function requireWebAddress(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new FetchError('refused', `Only http and https addresses can be fetched, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '')
    throw new FetchError(
      'refused',
      `The address of ${url.host} contains a user name or password; send it in a header.`,
    );
}

/** Decides about addresses, and creates the error if none is allowed. */
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

function hostnameOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function privateAddress(url: URL): FetchError {
  return new FetchError('refused', `${url.host} is on a private network, and access to it is not allowed.`);
}

/** A tool must not reach this crib: its caller could then answer its own approval requests. */
function ownAddress(url: URL): FetchError {
  return new FetchError('refused', `${url.host} is this crib itself; tools may not reach it.`);
}

function unknownHost(url: URL, cause?: unknown): FetchError {
  const why = cause === undefined ? 'the name has no address' : explainCode(String(codeOf(cause) ?? messageOf(cause)));
  return new FetchError('unreachable', `${url.host} cannot be resolved: ${why}.`, { cause });
}

/** IPv4 networks that are not public: private, loopback, link-local, shared, multicast, reserved, documentation. */
const NOT_PUBLIC_V4: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** True for a public internet address. Unknown ranges count as not public. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return isPublicV4(numberOf(address));
  return isIPv6(address) && !address.includes('%') && isPublicV6(groupsOf(address));
}

function isPublicV4(address: number): boolean {
  return !NOT_PUBLIC_V4.some(([network, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(address / size) === Math.floor(numberOf(network) / size);
  });
}

function isPublicV6(groups: readonly number[]): boolean {
  const [a = 0, b = 0, , , , , g = 0, h = 0] = groups;
  // An IPv4 address in IPv6 form (mapped or NAT64) is judged as IPv4.
  if (startsWith(groups, [0, 0, 0, 0, 0, 0xffff]) || startsWith(groups, [0x64, 0xff9b, 0, 0, 0, 0]))
    return isPublicV4(g * 65_536 + h);
  if (a < 0x2000 || a > 0x3fff) return false;
  if (a === 0x2001) return b >= 0x200 && b !== 0xdb8; // tunnels and documentation
  return a !== 0x2002 && !(a === 0x3fff && b < 0x1000);
}

function startsWith(groups: readonly number[], start: readonly number[]): boolean {
  return start.every((group, index) => groups[index] === group);
}

function numberOf(address: string): number {
  return address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(address: string): readonly number[] {
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1); // without IPv4 notation
  const [head = [], tail = []] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}
