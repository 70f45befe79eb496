import { isIP } from 'node:net';
import type { RequestHead } from '../node-request.ts';
import { type Answer, refuse } from './answers.ts';
import { isOwnOrigin } from './sessions.ts';

/** The host names that the server accepts. */
export interface HostRules {
  /** The address or name that it listens on. */
  readonly host: string;
  /** Further names, for example behind a proxy. */
  readonly hosts: readonly string[];
  /** Origins whose pages may send requests. */
  origins?(): readonly string[];
}

/** Addresses that mean all interfaces of the machine. */
const WILDCARDS = ['0.0.0.0', '::'];

/** True if the name or address is a loopback address. */
export function isLoopbackHost(host: string): boolean {
  const name = bare(host);
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/**
 * Refuses requests with an unknown Host, which prevents DNS rebinding, and requests from pages of another origin,
 * except of those that the operator allows.
 */
export function createHostCheck({
  host,
  hosts,
  origins = () => [],
}: HostRules): (request: RequestHead) => Answer | undefined {
  const known = new Set([host, ...hosts].map(bare));
  // A request to an IP address cannot come from DNS rebinding.
  const isAny = WILDCARDS.includes(bare(host));
  const isOurs = (name: string) => isLoopbackHost(name) || known.has(name) || (isAny && isIP(name) !== 0);
  const isNamedRight = (address: string, header: string | null): boolean => {
    const { hostname, host: named } = new URL(address);
    const name = nameOf(header ?? named);
    return name !== undefined && isOurs(name) && isOurs(bare(hostname));
  };
  /** Cache of accepted pairs of address and header: most requests repeat the previous pair. */
  const seen = new Set<string>();
  return (request) => {
    const header = request.headers.get('host');
    const address = beforePath(request.url);
    const pair = header === null ? address : `${address} ${header}`;
    if (!seen.has(pair)) {
      if (!isNamedRight(address, header))
        return forbidden('Unknown host name. If clients may use it, add it under server.hosts.');
      if (seen.size === MOST_SEEN) seen.clear();
      seen.add(pair);
    }
    return isCrossOrigin(request, header) && !origins().includes(request.headers.get('origin') ?? '')
      ? forbidden('Requests from pages of another origin are not allowed.')
      : undefined;
  };
}

const MOST_SEEN = 16;

/** Scheme and host of a request URL, which always has a path. */
function beforePath(url: string): string {
  return url.slice(0, url.indexOf('/', url.indexOf('://') + 3));
}

function isCrossOrigin(request: RequestHead, host: string | null): boolean {
  const origin = request.headers.get('origin');
  if (origin !== null) return !isOwnOrigin(origin, host ?? new URL(request.url).host);
  // A browser sends no Origin header with a plain GET, but it sends Sec-Fetch-Site.
  const site = request.headers.get('sec-fetch-site');
  return site !== null && !OWN_SITES.includes(site) && !isFollowedLink(request);
}

/** Values of Sec-Fetch-Site for requests of our own pages or of the user. All other values count as another site. */
const OWN_SITES: readonly string[] = ['same-origin', 'none'];

/** True for a followed link from another site, which is allowed; a form of another site is not. */
function isFollowedLink({ method, headers }: RequestHead): boolean {
  return ['GET', 'HEAD'].includes(method) && headers.get('sec-fetch-mode') === 'navigate';
}

/** The name in a Host header; undefined if the header is invalid. */
function nameOf(host: string): string | undefined {
  return /^[^\s/?#@\\]+$/.test(host) && URL.canParse(`http://${host}`)
    ? bare(new URL(`http://${host}`).hostname)
    : undefined;
}

function bare(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}

function forbidden(message: string): Answer {
  return refuse(403, { code: 'denied', message, retryable: false });
}
