import type { IncomingHttpHeaders } from 'node:http';

/** The kind of a failed fetch. With `unreachable` the request was never sent; with `lost` the server may have seen it. */
export type FetchFailure = 'refused' | 'unreachable' | 'lost' | 'timeout' | 'cancelled' | 'too_large' | 'malformed';

/** Thrown by `guardedFetch`. The message names only the host, because the address may contain secrets. */
export class FetchError extends Error {
  readonly failure: FetchFailure;
  /** True if it is certain that no server saw the request; set by `guardedFetch`. */
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

/** Meaning and remedy of network error codes. */
const CURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused: start the server, or correct the address',
  ENOTFOUND: 'host not found: correct the address',
  EAI_AGAIN: 'DNS lookup failed: check the network and its DNS',
  EHOSTUNREACH: 'no route to this host: check the network',
  ENETUNREACH: 'no route to its network: check the network',
};

/** A network error code with its meaning, if known. */
export function explainCode(code: string): string {
  return Object.hasOwn(CURES, code) ? `${code} (${CURES[code]})` : code;
}

/** Errors of requests that had no connection yet. */
const unconnected = new WeakSet<Error>();

/** Records that the request of this error had no connection yet. */
export function noteUnconnected(failure: Error): void {
  unconnected.add(failure);
}

/** True if it is certain that the server never saw the request. A TLS error only counts before the connection is established, because a server can cause one at any time. */
export function isNeverSent(cause: unknown): boolean {
  if (cause instanceof FetchError) return ['refused', 'unreachable'].includes(cause.failure);
  if (!(cause instanceof Error) || !('code' in cause) || !unconnected.has(cause)) return false;
  // A host with several addresses, none of which accepted a connection.
  if (cause instanceof AggregateError) return true;
  const syscall = 'syscall' in cause ? cause.syscall : undefined;
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true;
  return /^(CERT_|DEPTH_ZERO|ERR_TLS|ERR_SSL|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH)/.test(String(cause.code));
}

/** Upper limit for a server's Retry-After. */
const LONGEST_MS = 3_600_000;

const MOMENT = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The delay in a server's Retry-After header; undefined if the header is absent or invalid. */
export function readRetryAfterMs({ 'retry-after': after, date }: IncomingHttpHeaders): number | undefined {
  const ms = toMs(after ?? '', date ?? '');
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), LONGEST_MS);
}

/** A date is compared with the server's own clock, because ours may differ. */
function toMs(after: string, date: string): number {
  if (/^\d{1,10}$/.test(after)) return Number(after) * 1000;
  return MOMENT.test(after) ? Date.parse(after) - Date.parse(date) : Number.NaN;
}
