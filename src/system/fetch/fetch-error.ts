import type { IncomingHttpHeaders } from 'node:http';

/** Why something could not be fetched. What is `unreachable` never got there; what is `lost` may have been seen. */
export type FetchFailure = 'refused' | 'unreachable' | 'lost' | 'timeout' | 'cancelled' | 'too_large' | 'malformed';

/** Thrown by `guardedFetch`. The message names the host and nothing else of the address, which may carry secrets. */
export class FetchError extends Error {
  readonly failure: FetchFailure;
  /** True if it is certain that no server has seen the request; set by `guardedFetch`. */
  readonly isUnsent: boolean;
  constructor(
    failure: FetchFailure,
    message: string,
    options: { readonly cause?: unknown; readonly isUnsent?: boolean } = {},
  ) {
    super(message, options);
    this.name = 'FetchError';
    this.failure = failure;
    this.isUnsent = options.isUnsent ?? false;
  }
}

/** What a code of the network means, and what to do about it. */
const CURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there: start its server, or correct the address',
  ENOTFOUND: 'there is no host of this name: correct the address',
  EAI_AGAIN: 'its name cannot be looked up now: check the network and its DNS',
  EHOSTUNREACH: 'no way leads to this host: check the network',
  ENETUNREACH: 'no way leads to its network: check the network',
};

/** The code of an error of the network with its meaning, where it is known. */
export function explainCode(code: string): string {
  return Object.hasOwn(CURES, code) ? `${code} (${CURES[code]})` : code;
}

/** Failures of requests that had no connection yet. */
const unconnected = new WeakSet<Error>();

/** Notes that the request of this failure had no connection yet. */
export function noteUnconnected(failure: Error): void {
  unconnected.add(failure);
}

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

/** Nobody is left alone for longer because of one answer. */
const LONGEST_MS = 3_600_000;

const MOMENT = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** How long a server asks to be left alone; undefined where it does not, or says so in a way that cannot be read. */
export function readRetryAfterMs({ 'retry-after': after, date }: IncomingHttpHeaders): number | undefined {
  const ms = toMs(after ?? '', date ?? '');
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), LONGEST_MS);
}

/** A moment is read by the clock of the server that named it: ours may be another. */
function toMs(after: string, date: string): number {
  if (/^\d{1,10}$/.test(after)) return Number(after) * 1000;
  return MOMENT.test(after) ? Date.parse(after) - Date.parse(date) : Number.NaN;
}
