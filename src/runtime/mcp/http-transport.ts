import type { Agent, IncomingMessage } from 'node:http';
import type { AuthProvider, FetchLike, StreamableHTTPClientTransport, Transport } from '@modelcontextprotocol/client';
import type { MaybePromise } from '../../core/json.ts';
import { keptConnections } from '../fetch/kept-connections.ts';
import { isNeverSent, streamedFetch } from '../fetch/streamed-fetch.ts';
import { toHttpFailure } from './http-failure.ts';
import { isEventStream, toResponse } from './http-response.ts';
import { McpFailure } from './mcp-failure.ts';
import { REQUEST_HEADER, type ServerTransport } from './server-transport.ts';

type Sdk = typeof import('@modelcontextprotocol/client');

/** Where a server is reached, and with what. */
export interface RemoteAddress {
  readonly url: URL;
  /** Asked before each request, so that what is secret in them is held no longer than needed. */
  headers(): MaybePromise<Readonly<Record<string, string>>>;
  readonly auth?: AuthProvider | undefined;
}

/** Speaks to a server over HTTP: `http` is the transport of today, `sse` the one before. Every request goes through the address check. */
export function httpTransport(sdk: Sdk, address: RemoteAddress, type: 'http' | 'sse'): ServerTransport {
  const { url, auth } = address;
  const streams = new Set<number>();
  const failures = new Map<number, unknown>();
  const agent = keptConnections(url.protocol);
  let lost: McpFailure | undefined;
  let isClosed = false;
  const lose = (cause: unknown): void => {
    if (lost !== undefined) return;
    lost = toHttpFailure(cause, url.host);
    void transport.close();
  };
  const onAnswer: Exchange['onAnswer'] = (id, response, failure) => {
    if (id !== undefined && failure !== undefined) failures.set(id, failure);
    if (id !== undefined && failure === undefined && isEventStream(response)) streams.add(id);
  };
  const fetch = createMcpFetch({ address, agent, onAnswer, lose, hasSession: () => inner.sessionId !== undefined });
  const options = { fetch, ...(auth !== undefined && { authProvider: auth }) };
  const inner: Transport =
    type === 'sse'
      ? new sdk.SSEClientTransport(url, options)
      : new sdk.StreamableHTTPClientTransport(url, { ...options, ...RECONNECTING });

  const transport: ServerTransport = {
    ...(type === 'http' && { hasPerRequestStream: true }),
    async start() {
      if (isClosed) throw new McpFailure('unreachable', 'it was closed');
      await inner.start();
    },
    send: (message, sendOptions) => inner.send(message, sendOptions),
    async close() {
      isClosed = true;
      if (lost === undefined) await endSession(inner);
      await inner.close();
      agent.destroy();
    },
    get sessionId() {
      return inner.sessionId;
    },
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    failureOf: (cause, id) => toHttpFailure(cause ?? failures.get(id), url.host),
    // The answers of the older transport come over a stream of their own.
    mayStillAnswer: (id) => type === 'sse' || streams.has(id),
    forget(id) {
      streams.delete(id);
      failures.delete(id);
    },
    lastWords: () => lost?.message,
  };
  inner.onmessage = (message, extra) => transport.onmessage?.(message, extra);
  inner.onclose = () => transport.onclose?.();
  inner.onerror = (error) => {
    if (error instanceof sdk.SseError) lose(error); // nobody would hear the answers that are still to come
    transport.onerror?.(error);
  };
  return transport;
}

/** A stream that breaks off is taken up again where the server lets us; timers of ours hold up no process. */
const RECONNECTING = {
  reconnectionOptions: {
    initialReconnectionDelay: 1000,
    maxReconnectionDelay: 30_000,
    reconnectionDelayGrowFactor: 1.5,
    maxRetries: 2,
  },
  reconnectionScheduler(reconnect: () => void, delayMs: number): () => void {
    const timer = setTimeout(reconnect, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

/** A server that keeps a session is told that it may forget it; one that does not answer is not waited for. */
async function endSession(inner: Transport): Promise<void> {
  if (!('terminateSession' in inner) || inner.sessionId === undefined) return;
  const ending = (inner as StreamableHTTPClientTransport).terminateSession().catch(() => {}); // it may be gone
  await Promise.race([ending, new Promise((resolve) => setTimeout(resolve, GOODBYE_MS).unref())]);
}

const GOODBYE_MS = 500;

interface Exchange {
  readonly address: RemoteAddress;
  readonly agent: Agent;
  /** Tells of the answer to a request of ours, and of why it could not be read to its end. */
  onAnswer(id: number | undefined, response: IncomingMessage, failure?: unknown): void;
  /** The server does not know us any more, or is not there. */
  lose(cause: unknown): void;
  hasSession(): boolean;
}

/** The `fetch` of the SDK's transports: guarded, with the configured headers, and bounded. */
function createMcpFetch({ address, agent, onAnswer, lose, hasSession }: Exchange): FetchLike {
  const never = new AbortController().signal;
  return async (to, init = {}) => {
    const url = new URL(to);
    const { [REQUEST_HEADER]: marked, ...headers } = Object.fromEntries(new Headers(init.headers));
    const id = marked === undefined ? undefined : Number(marked);
    const { method = 'GET', body, signal } = init;
    // What a server names itself, such as who gives out its tokens, is not for our credentials, nor trusted with our network.
    const configured = url.origin === address.url.origin ? await address.headers() : {};
    try {
      const response = await streamedFetch(url, {
        method,
        headers: { ...lowerCase(configured), ...headers },
        body: body === undefined || body === null ? undefined : String(body),
        signal: signal ?? never,
        mayBePrivate: url.hostname === address.url.hostname,
        agent,
      });
      onAnswer(id, response);
      if (response.statusCode === 404 && method === 'GET' && hasSession()) lose({ status: 404 });
      return await toResponse(response, url.host, (failure) => onAnswer(id, response, failure));
    } catch (cause) {
      // The stream of news that stands open between requests is how a server that ended is noticed.
      if (method === 'GET' && isNeverSent(cause)) lose(cause);
      throw cause;
    }
  };
}

function lowerCase(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
