import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { listOf } from '../../core/visible-text.ts';

/** Where a server of this process listens. */
export interface Listening {
  readonly address: string;
  readonly port: number;
}

// Of the process, not of a crib: whichever crib listens, no tool of any crib in here may talk to it.
const listening = new Set<Listening>();

/** From now on this address is our own; returns how to take that back. */
export function noteListening(place: Listening): () => void {
  const noted = { address: plainAddress(place.address), port: place.port };
  listening.add(noted);
  return () => void listening.delete(noted);
}

/** True if connecting there would reach a server of this process. */
export function isOwnAddress(address: string, port: number): boolean {
  if (listening.size === 0) return false;
  const target = plainAddress(address);
  return [...listening].some((place) => place.port === port && reaches(target, place.address));
}

/** True if connecting to `address` would reach what listens at `bound`. */
function isSamePlace(address: string, bound: string): boolean {
  return reaches(plainAddress(address), plainAddress(bound));
}

function reaches(target: string, bound: string): boolean {
  if (target === bound || isUnspecified(target)) return true; // "no address in particular" is this machine
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

/** One spelling for each address: without zone, and IPv4 without the clothes of IPv6. */
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

/** The port of an address, also where it is the usual one. */
export function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
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
