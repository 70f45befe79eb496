import type { Agent, IncomingMessage } from 'node:http';
import { messageOf } from '../../core/tool-error.ts';
import { explainCode, FetchError, isNeverSent } from './fetch-error.ts';
import { ACCEPT_ENCODING, readBody } from './guarded-body.ts';
import { type GuardedRequest, type ResolveHost, sendGuarded } from './guarded-request.ts';

/** Private hosts that may be reached: only the first address, no redirects (`first`); or these names, with or without port. */
export type AllowPrivate = 'first' | readonly string[];

/** Options for a request, with its limits. */
export interface GuardedFetchOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Default: none. */
  readonly allowPrivate?: AllowPrivate;
  /** Size limit of the response, compressed and decompressed. Default 10 MB. */
  readonly maxBytes?: number;
  /** Default 5. */
  readonly maxRedirects?: number;
  /** Timeout for the headers of each response. Default 10 s. */
  readonly headerTimeoutMs?: number;
  /** Timeout for everything. Default 30 s. */
  readonly timeoutMs?: number;
  /** Default: the system's resolver. */
  readonly resolve?: ResolveHost;
  /** Returns an agent that keeps connections. It must not share them between requests under different rules. Default: no reuse. */
  agentFor?(url: URL, mayBePrivate: boolean): Agent;
  /** True for further addresses of this crib, besides those that this process listens on. */
  readonly isOwn?: GuardedRequest['isOwn'];
  /** True to refuse a redirect that would send the body to another origin. */
  readonly isBodySecret?: boolean;
}

/** A response with any status. */
export interface FetchedResponse {
  readonly status: number;
  /** The final address, after redirects. */
  readonly url: URL;
  /** By lower-case name; without cookies. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

const DEFAULTS = { maxBytes: 10_000_000, maxRedirects: 5, headerTimeoutMs: 10_000, timeoutMs: 30_000 };

/** Fetches an address, with limits and checks at every step. Throws a `FetchError`. */
export async function guardedFetch(address: string | URL, options: GuardedFetchOptions = {}): Promise<FetchedResponse> {
  const limits = { ...DEFAULTS, ...options };
  const deadline = createDeadline(options.signal);
  const { resolve, isOwn } = options;
  const rules = { ...(resolve !== undefined && { resolve }), ...(isOwn !== undefined && { isOwn }) };
  let hop = firstHop(address, options);
  let isAnswered = false;
  deadline.start(limits.timeoutMs, () => `${hop.url.host} did not complete its answer within ${limits.timeoutMs} ms.`);
  try {
    for (let redirects = 0; ; redirects++) {
      const stopWaiting = deadline.start(
        limits.headerTimeoutMs,
        () => `${hop.url.host} did not answer within ${limits.headerTimeoutMs} ms.`,
      );
      const mayBePrivate = isAllowed(hop.url, redirects, options.allowPrivate);
      const agent = options.agentFor?.(hop.url, mayBePrivate);
      const kept = agent === undefined ? {} : { agent };
      const response = await sendGuarded({ ...hop, ...rules, ...kept, mayBePrivate, signal: deadline.signal });
      stopWaiting();
      isAnswered = true;
      const next = nextHop(hop, response);
      if (next === undefined) return await toFetched(response, hop, limits.maxBytes);
      response.destroy();
      if (redirects >= limits.maxRedirects)
        throw new FetchError('refused', `${hop.url.host} redirects more than ${limits.maxRedirects} times.`);
      if (options.isBodySecret === true && next.body !== undefined && next.url.origin !== hop.url.origin)
        throw new FetchError(
          'refused',
          `${hop.url.host} redirects to another host, which must not receive the request body.`,
        );
      hop = next;
    }
  } catch (cause) {
    const failure = toFetchError(cause, hop.url.host, deadline.signal);
    if (isAnswered || deadline.signal.aborted || !isNeverSent(cause)) throw failure;
    throw new FetchError(failure.failure, failure.message, { cause: failure.cause, isUnsent: true });
  } finally {
    deadline.stop();
  }
}

/** Transport headers, which callers may not set. */
const NOT_FOR_CALLERS = [
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

function firstHop(address: string | URL, { method = 'GET', headers = {}, body }: GuardedFetchOptions): Hop {
  const url = typeof address === 'string' ? URL.parse(address) : address;
  if (url === null) throw new FetchError('refused', 'The address to fetch is not a valid URL.');
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const wrong = given.find(([name]) => NOT_FOR_CALLERS.includes(name));
  if (wrong !== undefined) throw new FetchError('malformed', `The header "${wrong[0]}" cannot be set; remove it.`);
  return {
    url,
    method: method.toUpperCase(),
    headers: { 'user-agent': 'toolcrib', 'accept-encoding': ACCEPT_ENCODING, ...Object.fromEntries(given) },
    ...(body !== undefined && { body }),
  };
}

function isAllowed(url: URL, redirects: number, allowPrivate: AllowPrivate = []): boolean {
  return allowPrivate === 'first' ? redirects === 0 : isNamedHost(url, allowPrivate);
}

/** True if the list names the host, with or without its port. */
export function isNamedHost({ host, hostname }: URL, names: readonly string[]): boolean {
  return names.some((name) => [host, hostname].includes(name.toLowerCase()));
}

const NOTHING = Buffer.alloc(0);

async function toFetched(response: IncomingMessage, { url, method }: Hop, maxBytes: number): Promise<FetchedResponse> {
  // The headers of a HEAD response describe a body that is not sent.
  const bytes = method === 'HEAD' ? NOTHING : await readBody(response, url.host, maxBytes);
  if (method === 'HEAD') response.resume();
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers))
    if (name !== 'set-cookie') headers[name] = String(value);
  return { status: response.statusCode ?? 0, url, headers, bytes };
}

/** The failure of a request to a host, whose signal may have ended it. */
export function toFetchError(cause: unknown, host: string, signal: AbortSignal): FetchError {
  if (signal.aborted) {
    const { reason } = signal;
    return reason instanceof FetchError ? reason : new FetchError('cancelled', `Fetching from ${host} was cancelled.`);
  }
  if (cause instanceof FetchError) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (/^(Z_|ERR__ERROR_FORMAT|ERR_BROTLI)/.test(code))
    return new FetchError('malformed', `The answer of ${host} cannot be decompressed.`, { cause });
  if (/^(HPE_|ERR_INVALID|ERR_UNESCAPED)/.test(code))
    return new FetchError('malformed', `The HTTP exchange with ${host} is invalid: ${messageOf(cause)}.`, { cause });
  if (/^(ECONNRESET|ERR_STREAM_PREMATURE_CLOSE|EPIPE)$/.test(code))
    return new FetchError('lost', `${host} closed the connection before the answer was complete.`, { cause });
  return new FetchError('unreachable', `${host} cannot be reached: ${explainCode(code || messageOf(cause))}.`, {
    cause,
  });
}

/** A signal that aborts on a timeout or with an outer signal. */
interface Deadline {
  readonly signal: AbortSignal;
  /** Aborts after `delayMs`, unless stopped before. */
  start(delayMs: number, message: () => string): () => void;
  /** Clears all timers, and detaches from the outer signal. */
  stop(): void;
}

/** Creates a deadline without timers. */
function createDeadline(outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  // Not `AbortSignal.any`, which is several times slower, on every request.
  const follow = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', follow, { once: true });
  if (outer?.aborted === true) follow();
  return {
    signal: controller.signal,
    start(delayMs, message) {
      const timer = setTimeout(() => controller.abort(new FetchError('timeout', message())), delayMs);
      timers.push(timer);
      return () => clearTimeout(timer);
    },
    stop() {
      for (const timer of timers) clearTimeout(timer);
      outer?.removeEventListener('abort', follow);
    },
  };
}

/** One step in a chain of redirects, with the request to send. */
interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

const REDIRECTS = [301, 302, 303, 307, 308];

/** Headers that may be sent to another origin: none of them identifies the caller. */
const PUBLIC_HEADERS = [
  ...['accept', 'accept-encoding', 'accept-language', 'content-type'],
  ...['if-modified-since', 'if-none-match', 'range', 'user-agent'],
];

/** The redirect target of a response; undefined if it is not a redirect. */
function nextHop(hop: Hop, { statusCode = 0, headers }: IncomingMessage): Hop | undefined {
  if (!REDIRECTS.includes(statusCode) || headers.location === undefined) return undefined;
  if (!URL.canParse(headers.location, hop.url.href))
    throw new FetchError('malformed', `${hop.url.host} redirects to an invalid address.`);
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
