import { isIP } from 'node:net';
import { listOf } from '../../core/text/names.ts';
import { portOf } from './guarded-request.ts';
import { isSamePlace } from './own-addresses.ts';

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
