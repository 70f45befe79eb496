import type { IncomingMessage } from 'node:http';
import { FetchError } from './fetch-error.ts';

/** One address on the way from redirect to redirect, and what is sent there. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

const REDIRECTS = [301, 302, 303, 307, 308];

/** Headers that may follow to another origin: none that could tell who is asking. */
const PUBLIC_HEADERS = [
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'if-modified-since',
  'if-none-match',
  'range',
  'user-agent',
];

/** Where an answer sends us; nowhere if it is the answer. */
export function nextHop(hop: Hop, { statusCode = 0, headers }: IncomingMessage): Hop | undefined {
  if (!REDIRECTS.includes(statusCode) || headers.location === undefined) return undefined;
  if (!URL.canParse(headers.location, hop.url.href))
    throw new FetchError('malformed', `${hop.url.host} redirects to what is no address.`);
  const url = new URL(headers.location, hop.url);
  const kept = url.origin === hop.url.origin ? hop.headers : publicOnly(hop.headers);
  const { body, ...bare } = hop;
  const becomesGet = statusCode === 303 ? hop.method !== 'HEAD' : statusCode < 303 && hop.method === 'POST';
  if (!becomesGet) return { ...hop, url, headers: kept };
  const { 'content-type': _type, ...withoutType } = kept;
  return { ...bare, url, method: 'GET', headers: withoutType };
}

function publicOnly(headers: Hop['headers']): Hop['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => PUBLIC_HEADERS.includes(name)));
}
