import { lookup as systemLookup } from 'node:dns';
import { type ClientRequestArgs, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { messageOf } from '../../core/tool-error.ts';
import { FetchError } from './fetch-error.ts';
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
}

/** Sends a request and resolves when the headers of the answer have come. The address that was checked is the one that is used. */
export async function sendGuarded(given: GuardedRequest): Promise<IncomingMessage> {
  const { url, method, body, mayBePrivate, signal } = given;
  requireWebAddress(url);
  const hostname = hostnameOf(url);
  const mayConnect = (address: string) => mayBePrivate || isPublicAddress(address);
  if (isIP(hostname) !== 0 && !mayConnect(hostname)) throw refusal(url);
  const options: ClientRequestArgs = {
    protocol: url.protocol,
    hostname,
    port: url.port,
    path: `${url.pathname}${url.search}`,
    method,
    headers: { ...given.headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
    agent: false, // a connection of its own: none that was opened under other rules
    lookup: guardedLookup(mayConnect, url, given.resolve ?? resolveBySystem),
    signal,
  };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(options, resolve);
    request.on('error', reject);
    request.end(body);
  });
}

function requireWebAddress(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new FetchError('refused', `Only http and https addresses are fetched, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '')
    throw new FetchError('refused', `The address of ${url.host} holds a password; send it in a header.`);
}

function guardedLookup(mayConnect: (address: string) => boolean, url: URL, resolve: ResolveHost): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const allowed = addresses.filter(({ address }) => mayConnect(address));
        const [first] = allowed;
        if (first === undefined) callback(addresses.length === 0 ? unknownHost(url) : refusal(url), []);
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

function refusal(url: URL): FetchError {
  return new FetchError('refused', `${url.host} is on a private network, which may not be reached from here.`);
}

function unknownHost(url: URL, cause?: unknown): FetchError {
  const why = cause === undefined ? 'it has no address' : messageOf(cause);
  return new FetchError('unreachable', `${url.host} cannot be found: ${why}.`, { cause });
}
