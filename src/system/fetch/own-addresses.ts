import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { listOf } from '../../core/visible-text.ts';

/** An address that a server of this process listens on. */
export interface Listening {
  readonly address: string;
  readonly port: number;
}

// Per process, not per crib: no tool of any crib in this process may reach a crib that listens here.
const listening = new Set<Listening>();

/** Records that this address is our own. Returns a function that removes it. */
export function noteListening(place: Listening): () => void {
  const noted = { address: plainAddress(place.address), port: place.port };
  listening.add(noted);
  return () => void listening.delete(noted);
}

/** True if a connection there would reach a server of this process. */
export function isOwnAddress(address: string, port: number): boolean {
  if (listening.size === 0) return false;
  const target = plainAddress(address);
  return [...listening].some((place) => place.port === port && reaches(target, place.address));
}

/** True if a connection to `address` would reach a server that listens on `bound`. */
function isSamePlace(address: string, bound: string): boolean {
  return reaches(plainAddress(address), plainAddress(bound));
}

function reaches(target: string, bound: string): boolean {
  if (target === bound || isUnspecified(target)) return true; // the unspecified address means this machine
  if (isUnspecified(bound)) return isLoopback(target) || isOfThisMachine(target);
  return isLoopback(bound) && isLoopback(target);
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

function isLoopback(address: string): boolean {
  return LOOPBACK.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

function isUnspecified(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}

function isOfThisMachine(address: string): boolean {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.some((own) => plainAddress(own.address) === address);
}

/** The normalized form of an address: without zone, and IPv4-mapped IPv6 as IPv4. */
function plainAddress(address: string): string {
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return bare;
  const short = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(short);
  if (mapped === null) return short;
  const [high, low] = [mapped[1], mapped[2]].map((group) => Number.parseInt(group ?? '', 16));
  const bytes = [(high ?? 0) >> 8, (high ?? 0) & 255, (low ?? 0) >> 8, (low ?? 0) & 255];
  const plain = bytes.join('.');
  return isIPv4(plain) ? plain : short;
}

/** The port of an address, or the default of its protocol. */
export function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}

/** The address where a crib is served, possibly by another process. */
export interface ServedPlace {
  readonly host?: string;
  readonly port?: number;
  /** Additional names by which it is reached. */
  readonly hosts?: string | readonly string[];
}

/** Where a server listens if neither its options nor the configuration say so. */
export const USUAL_ADDRESS = { host: '127.0.0.1', port: 2742 };

/** True if a connection there would reach a crib that is served at this place. */
export function isServedAt(
  { host = USUAL_ADDRESS.host, port = USUAL_ADDRESS.port, hosts }: ServedPlace,
  url: URL,
  address: string,
): boolean {
  const to = plainName(url.hostname);
  const isNamed = listOf(hosts)
    .map((name) => URL.parse(`http://${name}`))
    .some((named) => named !== null && plainName(named.hostname) === to && ['', url.port].includes(named.port));
  if (isNamed) return true;
  if (portOf(url) !== port) return false;
  // A name may resolve to something else later, so no address of this machine is safe.
  return isSamePlace(address, isIP(host) === 0 ? '0.0.0.0' : host);
}

/** Removes the trailing dot; the URL parser has normalized case and other scripts. */
function plainName(hostname: string): string {
  return hostname.replace(/\.$/, '');
}
