import { isIPv4, isIPv6 } from 'node:net';

/** Networks of IPv4 that are not the public internet: private, loopback, link-local, shared, multicast, reserved, for examples. */
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

/** True for an address of the public internet. What is not known to be one is not. */
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
  // An IPv4 address in other clothes, mapped or by NAT64, is what it is without them.
  if (startsWith(groups, [0, 0, 0, 0, 0, 0xffff]) || startsWith(groups, [0x64, 0xff9b, 0, 0, 0, 0]))
    return isPublicV4(g * 65_536 + h);
  if (a < 0x2000 || a > 0x3fff) return false;
  if (a === 0x2001) return b >= 0x200 && b !== 0xdb8; // tunnels and examples
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
