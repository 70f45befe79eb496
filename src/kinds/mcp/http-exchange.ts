import type { Agent, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { AuthProvider, FetchLike, JSONRPCMessage } from '@modelcontextprotocol/client';
import type { MaybePromise } from '../../core/json.ts';
import { FetchError, isNeverSent } from '../../system/fetch/fetch-error.ts';
import { streamedFetch } from '../../system/fetch/streamed-fetch.ts';
import { McpFailure } from './mcp-failure.ts';
import { MAX_MESSAGE_BYTES, REQUEST_HEADER, readMessage, type WireMessage } from './wire-requests.ts';

/** Where a server is reached, and with what. */
export interface RemoteAddress {
  readonly url: URL;
  /** Asked before each request, so that what is secret in them is held no longer than needed. */
  headers(): MaybePromise<Readonly<Record<string, string>>>;
  readonly auth?: AuthProvider | undefined;
}

/** What requests over HTTP are made with, and who is told of them. */
export interface ExchangeOptions {
  readonly address: RemoteAddress;
  readonly agent: Agent;
  /** Tells of the answer to a request of ours, and of why it could not be read to its end. */
  onAnswer(id: number | undefined, response: IncomingMessage, failure?: unknown): void;
  /** The server does not know us any more, or is not there. */
  lose(cause: unknown): void;
  hasSession(): boolean;
  /** True once calls are not to be sent any more. */
  isClosed(): boolean;
}

/** One request of ours, on its way past the SDK. */
interface Posted {
  readonly id: number;
  readonly message: JSONRPCMessage;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
}

/** The two ways on which requests reach a server: guarded, with the configured headers, and bounded. */
export interface HttpExchange {
  /** For the SDK's transports. */
  readonly fetch: FetchLike;
  /** Resolves with the answer, if it is a plain one; whatever else came is what `fetch` then gives to the SDK for this request. */
  post(posted: Posted): Promise<WireMessage | undefined>;
  /** The SDK is done with what came for a request: it never sends one that was sent already. */
  forget(id: number): void;
}

interface Sent {
  readonly id: number | undefined;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly configured: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

/** Speaks HTTP to one server. */
export function createExchange(options: ExchangeOptions): HttpExchange {
  const { address, onAnswer, lose, hasSession } = options;
  const never = new AbortController().signal;
  /** Answers that came past the SDK and are for it to judge. */
  const arrived = new Map<number, Response>();
  const toWeb = (id: number | undefined, url: URL, response: IncomingMessage): Promise<Response> =>
    toResponse(response, url.host, (failure) => onAnswer(id, response, failure));

  const fetch: FetchLike = async (to, init = {}) => {
    const { [REQUEST_HEADER]: marked, ...headers } = Object.fromEntries(new Headers(init.headers));
    const id = marked === undefined ? undefined : Number(marked);
    const answer = id === undefined ? undefined : arrived.get(id);
    if (id !== undefined && arrived.delete(id) && answer !== undefined) return answer;
    const url = new URL(to);
    const { method = 'GET', body, signal } = init;
    const configured = isServer(url, address) ? await address.headers() : {};
    const text = body === undefined || body === null ? undefined : String(body);
    try {
      const sent = { id, method, headers, configured, body: text, signal: signal ?? never };
      const response = await ask(options, url, sent);
      if (response.statusCode === 404 && method === 'GET' && hasSession()) lose({ status: 404 });
      return await toWeb(id, url, response);
    } catch (cause) {
      // The stream of news that stands open between requests is how a server that ended is noticed.
      if (method === 'GET' && isServer(url, address) && isNeverSent(cause)) lose(cause);
      throw cause;
    }
  };

  return {
    fetch,
    async post({ id, message, headers, signal = never }) {
      const { url } = address;
      const sent = { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const body = JSON.stringify(message);
      const configured = await address.headers();
      if (options.isClosed()) throw new McpFailure('unreachable', 'it was closed');
      const response = await ask(options, url, { id, method: 'POST', headers: sent, configured, body, signal });
      if (!isWholeJson(response)) {
        arrived.set(id, await toWeb(id, url, response));
        return undefined;
      }
      const bytes = await collect(response, url.host);
      const answer = readMessage(bytes.toString());
      if (answer?.id === id && answer.method === undefined) return answer;
      arrived.set(id, toWhole(response, bytes));
      return undefined;
    },
    forget: (id) => void arrived.delete(id),
  };
}

async function ask({ address, agent, onAnswer }: ExchangeOptions, url: URL, sent: Sent): Promise<IncomingMessage> {
  const { id, method, headers, configured, body, signal } = sent;
  const given = { method, headers: { ...lowerCase(configured), ...headers }, body, signal };
  const response = await (isServer(url, address)
    ? streamedFetch(url, { ...given, mayBePrivate: true, agent })
    : streamedFetch(url, { ...given, mayBePrivate: false }));
  onAnswer(id, response);
  return response;
}

/**
 * True for an address of the server itself. What a server names besides, such as who gives out its tokens, is not for our
 * credentials, nor trusted with our network: another port or scheme of its host is another server.
 */
function isServer({ origin }: URL, { url }: RemoteAddress): boolean {
  return origin === url.origin;
}

function isWholeJson({ statusCode, headers }: IncomingMessage): boolean {
  return statusCode === 200 && /^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '');
}

function lowerCase(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** True for an answer that comes in events. */
export function isEventStream({ headers }: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

const WITHOUT_BODY = [204, 205, 304];

/** An answer as the web knows it. A whole one is bounded as a whole, a stream by the event: it may go on for ever. */
async function toResponse(
  message: IncomingMessage,
  host: string,
  onFailure: (failure: unknown) => void,
): Promise<Response> {
  const { statusCode: status = 500 } = message;
  const headers = headersOf(message);
  if (WITHOUT_BODY.includes(status)) message.resume();
  if (WITHOUT_BODY.includes(status)) return new Response(null, { status, headers });
  if (!isEventStream(message)) return toWhole(message, await collect(message, host));
  const events = Readable.from(boundEvents(message, host, onFailure));
  return new Response(Readable.toWeb(events) as ReadableStream<Uint8Array>, { status, headers }); // Node's own type of the same
}

/** The same for one whose body was read already. */
function toWhole(message: IncomingMessage, body: Uint8Array<ArrayBuffer>): Response {
  const { statusCode: status = 500 } = message;
  return new Response(body, { status, headers: headersOf(message) });
}

function headersOf({ headers }: IncomingMessage): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [name, String(value)]);
}

/** Reads a whole answer; rejects if it breaks off or is too large. */
function collect(message: IncomingMessage, host: string): Promise<Buffer<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    message.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > MAX_MESSAGE_BYTES) message.destroy(tooLarge(host));
      else chunks.push(chunk);
    });
    message.on('end', () => resolve(Buffer.concat(chunks)));
    message.on('error', reject);
    message.on('close', () => reject(new Error(`${host} ended the connection before it had answered.`)));
  });
}

async function* boundEvents(
  message: IncomingMessage,
  host: string,
  onFailure: (failure: unknown) => void,
): AsyncGenerator<Buffer> {
  let length = 0;
  let last: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      const seen = Buffer.concat([last, chunk]); // the empty line that ends an event may have been cut in two
      const end = Math.max(...ENDS.map((mark) => seen.lastIndexOf(mark)));
      length = end === -1 ? length + chunk.length : seen.length - end;
      if (length > MAX_MESSAGE_BYTES) throw tooLarge(host);
      last = chunk.subarray(-3);
      yield chunk;
    }
  } catch (cause) {
    onFailure(cause);
    throw cause;
  }
}

const ENDS = ['\n\n', '\r\n\r\n', '\r\r'];

function tooLarge(host: string): FetchError {
  return new FetchError('too_large', `${host} answered with more than ${MAX_MESSAGE_BYTES} bytes.`);
}
