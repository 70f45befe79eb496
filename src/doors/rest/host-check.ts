import { isIP } from 'node:net';
import { type Answer, refuse } from './answers.ts';

/** By which names the server may be reached. */
export interface HostRules {
  /** The address or name it was told to listen on. */
  readonly host: string;
  /** Further names, as behind a proxy. */
  readonly hosts: readonly string[];
}

/** Addresses that stand for every interface of the machine. */
const WILDCARDS = ['0.0.0.0', '::'];

/** True for a name or address that never leaves this machine. */
export function isLoopbackHost(host: string): boolean {
  const name = bare(host);
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/**
 * Refuses requests under names that are not ours, which is how a page of somebody else's name reaches a server of this
 * machine, and requests that a page of another origin makes. A page is never asked across origins: there is no CORS.
 */
export function createHostCheck({ host, hosts }: HostRules): (request: Request) => Answer | undefined {
  const known = new Set([host, ...hosts].map(bare));
  // Whoever sends the number of an address did not ask any name server.
  const isAny = WILDCARDS.includes(bare(host));
  const isOurs = (name: string) => isLoopbackHost(name) || known.has(name) || (isAny && isIP(name) !== 0);
  const isNamedRight = (address: string, header: string | null): boolean => {
    const { hostname, host: named } = new URL(address);
    const name = nameOf(header ?? named);
    return name !== undefined && isOurs(name) && isOurs(bare(hostname));
  };
  /** Pairs of address and header that were found to be right: nearly every request says what the one before it said. */
  const seen = new Set<string>();
  return (request) => {
    const header = request.headers.get('host');
    const address = beforePath(request.url);
    const pair = header === null ? address : `${address} ${header}`;
    if (!seen.has(pair)) {
      if (!isNamedRight(address, header))
        return forbidden('This name is not one of this server; add it under server.hosts if it should be.');
      if (seen.size === MOST_SEEN) seen.clear();
      seen.add(pair);
    }
    return isCrossOrigin(request, header) ? forbidden('Pages of another origin may not ask here.') : undefined;
  };
}

const MOST_SEEN = 16;

/** Scheme and host of the address of a request, which always has a path. */
function beforePath(url: string): string {
  return url.slice(0, url.indexOf('/', url.indexOf('://') + 3));
}

function isCrossOrigin(request: Request, host: string | null): boolean {
  const origin = request.headers.get('origin');
  if (origin !== null) return !isSameHost(origin, host ?? new URL(request.url).host);
  // A browser sends no origin with a plain GET, but says what it is for.
  const site = request.headers.get('sec-fetch-site');
  return site !== null && !OWN_SITES.includes(site) && !isFollowedLink(request);
}

/** What a browser says of a request of our own page, or of its user. Every other word counts as another site. */
const OWN_SITES: readonly string[] = ['same-origin', 'none'];

/** A link of another site may lead here; its form may not send anything. */
function isFollowedLink({ method, headers }: Request): boolean {
  return ['GET', 'HEAD'].includes(method) && headers.get('sec-fetch-mode') === 'navigate';
}

/** Not the scheme: a proxy in front may speak https. */
function isSameHost(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: from } = new URL(origin);
  return /^https?:$/.test(protocol) && new URL(`${protocol}//${host}`).host === from;
}

/** The name in a Host header; undefined if it is none. */
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
