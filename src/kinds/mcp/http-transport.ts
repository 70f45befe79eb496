import type { IncomingMessage } from 'node:http';
import type {
  FetchLike,
  JSONRPCMessage,
  StreamableHTTPClientTransport,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { BriefMap } from '../../system/brief-map.ts';
import { keptConnections } from '../../system/fetch/agent-pool.ts';
import { readRetryAfterMs } from '../../system/fetch/fetch-error.ts';
import { createExchange, type ExchangeOptions, isEventStream, type RemoteAddress } from './http-exchange.ts';
import { McpFailure, toHttpFailure } from './mcp-failure.ts';
import { REQUEST_HEADER, type ServerTransport } from './wire-requests.ts';

type Sdk = typeof import('@modelcontextprotocol/client');

/** Facts about a request once its response headers have arrived. */
interface Answered {
  /** The stream of the answer; undefined if it is not one. */
  readonly stream: IncomingMessage | undefined;
  /** The reason the body could not be read completely. */
  readonly failure: unknown;
  readonly retryAfterMs: number | undefined;
}

/** Connects to a server over HTTP: `http` is the current transport, `sse` the older one. Every request passes the address check. */
export function httpTransport(sdk: Sdk, address: RemoteAddress, type: 'http' | 'sse'): ServerTransport {
  const { url, auth } = address;
  const answers = createAnswers();
  const agent = keptConnections(url.protocol);
  let version: string | undefined;
  let lost: McpFailure | undefined;
  let isClosed = false;
  const lose = (cause: unknown): void => {
    if (lost !== undefined) return;
    lost = toHttpFailure(cause, url.host);
    void transport.close();
  };
  const exchange = createExchange({
    address,
    agent,
    onAnswer: answers.note,
    onMessage: (message) => transport.onmessage?.(message as JSONRPCMessage), // the receiver validates the rest
    lose,
    hasSession: () => inner.sessionId !== undefined,
    isClosed: () => isClosed,
  });
  const { fetch, send } = type === 'sse' ? unlessEnded(exchange.fetch) : { fetch: exchange.fetch, send: sendBy };
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
    async send(message, sendOptions = {}) {
      // The SDK is slow per message. It is needed only for tokens, the older transport and other answers.
      const id = type === 'http' && auth === undefined ? idOfCall(message, sendOptions) : undefined;
      if (id === undefined) return send(inner, message, sendOptions);
      const headers = headersOf(message, sendOptions, { session: inner.sessionId, version });
      const isAnswered = await exchange.post({ id, message, headers, signal: sendOptions.requestSignal });
      if (!isAnswered) await inner.send(message, sendOptions).finally(() => exchange.forget(id));
    },
    async close() {
      isClosed = true;
      if (lost === undefined) await endSession(inner);
      await inner.close();
      agent.destroy();
    },
    get sessionId() {
      return inner.sessionId;
    },
    setProtocolVersion(agreed) {
      version = agreed;
      inner.setProtocolVersion?.(agreed);
    },
    failureOf(cause, id) {
      const { failure, retryAfterMs } = answers.of(id) ?? {};
      const hasSession = inner.sessionId !== undefined;
      return toHttpFailure(cause ?? failure, url.host, {
        retryAfterMs,
        hasSession,
        isAnswered: answers.of(id) !== undefined,
      });
    },
    // The older transport sends answers over a separate stream.
    mayStillAnswer: (id) => type === 'sse' || answers.of(id)?.stream !== undefined,
    forget: answers.forget,
    lastWords: () => lost?.message,
  };
  inner.onmessage = (message, extra) => transport.onmessage?.(message, extra);
  inner.onclose = () => transport.onclose?.();
  inner.onerror = (error) => {
    if (error instanceof sdk.SseError) lose(error); // later answers could not be received
    transport.onerror?.(error);
  };
  return transport;
}

/** The requests that the server has answered, until they are over. */
function createAnswers() {
  const answers = new BriefMap<number, Answered>();
  const note: ExchangeOptions['onAnswer'] = (id, response, failure) => {
    if (id === undefined || (failure !== undefined && !answers.has(id))) return; // the rest of a stream without a reader
    const stream = isEventStream(response) ? response : undefined;
    answers.set(id, { stream, failure, retryAfterMs: readRetryAfterMs(response.headers) });
  };
  return {
    note,
    of: (id: number) => answers.get(id),
    forget(id: number): void {
      endSoon(answers.get(id)?.stream);
      answers.delete(id);
    },
  };
}

/** The time in which a server must end the stream of a request that is over. Its connection can then be used again. */
const ENDING_MS = 500;

/** Ends a stream that its server leaves open: each would hold a connection for as long as the server wants. */
function endSoon(stream: IncomingMessage | undefined): void {
  if (stream === undefined || stream.complete || stream.destroyed) return;
  const timer = setTimeout(() => stream.destroy(), ENDING_MS).unref();
  stream.once('close', () => clearTimeout(timer));
}

function sendBy(inner: Transport, message: JSONRPCMessage, options: TransportSendOptions): Promise<void> {
  return inner.send(message, options);
}

/** In the older transport the SDK does not remember that a request was cancelled, and would resend it after a token refresh. */
function unlessEnded(fetch: FetchLike) {
  const signals = new Map<string, AbortSignal | undefined>();
  return {
    fetch: async (...[to, init]: Parameters<FetchLike>) => {
      signals.get(String(init?.body))?.throwIfAborted();
      return fetch(to, init);
    },
    async send(inner: Transport, message: JSONRPCMessage, options: TransportSendOptions): Promise<void> {
      const body = JSON.stringify(message);
      signals.set(body, options.requestSignal);
      await sendBy(inner, message, options).finally(() => signals.delete(body));
    },
  };
}

/** A broken stream is resumed if the server allows it; our timers do not keep the process alive. */
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

/** Tells the server that it may drop the session; does not wait long for an answer. */
async function endSession(inner: Transport): Promise<void> {
  if (!('terminateSession' in inner) || inner.sessionId === undefined) return;
  const ending = (inner as StreamableHTTPClientTransport).terminateSession().catch(() => {}); // it may be gone
  await Promise.race([ending, new Promise((resolve) => setTimeout(resolve, GOODBYE_MS).unref())]);
}

const GOODBYE_MS = 500;

/** Names that can be sent in a header without encoding. */
const PLAIN_NAME = /^[\w.-]+$/;

/** The id of a call that can be sent without the SDK; undefined for every other message. */
function idOfCall(message: JSONRPCMessage, { headers }: TransportSendOptions): number | undefined {
  const marked = headers?.[REQUEST_HEADER];
  if (marked === undefined || !('method' in message) || message.method !== 'tools/call') return undefined;
  return PLAIN_NAME.test(String(message.params?.name)) ? Number(marked) : undefined;
}

/** The headers that the SDK would send: the session and version, the fields that the modern era repeats from the body, and the request's own. */
function headersOf(
  message: JSONRPCMessage,
  { headers = {} }: TransportSendOptions,
  { session, version }: Agreed,
): Readonly<Record<string, string>> {
  const { method, params } = message as { readonly method: string; readonly params: JsonObject }; // idOfCall checked that it is a call
  const claimed = isJsonObject(params._meta) ? params._meta[VERSION_KEY] : undefined;
  const { [REQUEST_HEADER]: _marked, ...own } = headers;
  return {
    ...own,
    ...(session !== undefined && { 'mcp-session-id': session }),
    ...(version !== undefined && { 'mcp-protocol-version': version }),
    ...(typeof claimed === 'string' && {
      'mcp-protocol-version': claimed,
      'mcp-method': method,
      'mcp-name': String(params.name),
    }),
  };
}

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

interface Agreed {
  readonly session: string | undefined;
  readonly version: string | undefined;
}
