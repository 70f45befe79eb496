import type { Agent, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { AuthProvider, FetchLike, JSONRPCMessage } from '@modelcontextprotocol/client';
import type { MaybePromise } from '../../core/json.ts';
import { BriefMap } from '../../system/brief-map.ts';
import { createBytePieces } from '../../system/byte-pieces.ts';
import { FetchError, isNeverSent } from '../../system/fetch/fetch-error.ts';
import { toBody } from '../../system/fetch/large-text.ts';
import { streamedFetch } from '../../system/fetch/streamed-fetch.ts';
import { readEventAnswer } from './event-answer.ts';
import { McpFailure } from './mcp-failure.ts';
import { MAX_MESSAGE_BYTES, REQUEST_HEADER, readMessage, type WireMessage } from './wire-requests.ts';

/** The address of a server, with its headers and credentials. */
export interface RemoteAddress {
  readonly url: URL;
  /** Called for each request, so that secrets are held no longer than needed. */
  headers(): MaybePromise<Readonly<Record<string, string>>>;
  readonly auth?: AuthProvider | undefined;
}

/** Options and callbacks for requests over HTTP. */
export interface ExchangeOptions {
  readonly address: RemoteAddress;
  readonly agent: Agent;
  /** Called with the response to one of our requests, and again if reading it failed. */
  onAnswer(id: number | undefined, response: IncomingMessage, failure?: unknown): void;
  /** Called with the answer to one of our requests, and with messages that follow it on its stream. */
  onMessage(message: WireMessage): void;
  /** Called when the server has dropped our session or cannot be reached. */
  lose(cause: unknown): void;
  hasSession(): boolean;
  /** True once no more calls may be sent. */
  isClosed(): boolean;
}

/** One of our requests, sent without the SDK. */
interface Posted {
  readonly id: number;
  readonly message: JSONRPCMessage;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
}

/** Two ways of sending requests to a server, both with the address check, the configured headers and size limits. */
export interface HttpExchange {
  /** For the SDK's transports. */
  readonly fetch: FetchLike;
  /** Passes the answer on and resolves with true if it is plain JSON or the first event of a stream. Any other response is kept, and `fetch` returns it to the SDK for this request. */
  post(posted: Posted): Promise<boolean>;
  /** Drops the response kept for a request: the SDK never sends a request that was already sent. */
  forget(id: number): void;
}

interface Sent {
  readonly id: number | undefined;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly configured: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
  readonly signal: AbortSignal;
}

/** Sends HTTP requests to one server. */
export function createExchange(options: ExchangeOptions): HttpExchange {
  const { address, onAnswer, onMessage, lose, hasSession } = options;
  const never = new AbortController().signal;
  /** Responses to our own requests that the SDK has to interpret. */
  const arrived = new BriefMap<number, Response>();
  const toWeb = (id: number | undefined, url: URL, response: IncomingMessage, begun?: Buffer): Promise<Response> =>
    toResponse(response, { host: url.host, begun, onFailure: (failure) => onAnswer(id, response, failure) });

  const keep = (id: number, response: Response): boolean => {
    arrived.set(id, response);
    return false;
  };
  const pass = (answer: WireMessage): boolean => {
    onMessage(answer);
    return true;
  };

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
      // The open event stream is how an ended server is noticed between requests.
      if (method === 'GET' && isServer(url, address) && isNeverSent(cause)) lose(cause);
      throw cause;
    }
  };

  return {
    fetch,
    async post({ id, message, headers, signal = never }) {
      const { url } = address;
      const sent = { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const body = toBody(JSON.stringify(message));
      const configured = await address.headers();
      if (options.isClosed()) throw new McpFailure('unreachable', 'it was closed');
      const response = await ask(options, url, { id, method: 'POST', headers: sent, configured, body, signal });
      if (response.statusCode === 200 && isEventStream(response)) {
        const first = await readEventAnswer(response, { id, tooLarge: () => tooLarge(url.host), onMessage });
        return 'answer' in first ? pass(first.answer) : keep(id, await toWeb(id, url, response, first.begun));
      }
      if (!isWholeJson(response)) return keep(id, await toWeb(id, url, response));
      const bytes = await collect(response, url.host);
      const answer = readMessage(bytes.toString());
      return answer?.id === id && answer.method === undefined ? pass(answer) : keep(id, toWhole(response, bytes));
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
 * True for an address of the server itself. Other addresses that a server names, such as its token endpoint, get
 * neither our credentials nor access to our network. Another port or scheme of its host is another server.
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

/** True if the response is an event stream. */
export function isEventStream({ headers }: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

const WITHOUT_BODY = [204, 205, 304];

/** Converts to a web Response. A whole body is limited as a whole; a stream, which may never end, is limited per event. */
async function toResponse(message: IncomingMessage, reading: Reading): Promise<Response> {
  const { statusCode: status = 500 } = message;
  const headers = headersOf(message);
  if (WITHOUT_BODY.includes(status)) message.resume();
  if (WITHOUT_BODY.includes(status)) return new Response(null, { status, headers });
  if (!isEventStream(message)) return toWhole(message, await collect(message, reading.host));
  const events = Readable.from(boundEvents(message, reading));
  return new Response(Readable.toWeb(events) as ReadableStream<Uint8Array>, { status, headers }); // Node's type for the same stream
}

/** Converts a response whose body was already read. */
function toWhole(message: IncomingMessage, body: Uint8Array<ArrayBuffer>): Response {
  const { statusCode: status = 500 } = message;
  return new Response(body, { status, headers: headersOf(message) });
}

function headersOf({ headers }: IncomingMessage): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [name, String(value)]);
}

/** Reads a whole body; rejects if it breaks off or is too large. */
function collect(message: IncomingMessage, host: string): Promise<Buffer<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const pieces = createBytePieces();
    message.on('data', (chunk: Buffer) => {
      pieces.add(chunk);
      if (pieces.length() > MAX_MESSAGE_BYTES) message.destroy(tooLarge(host));
    });
    message.on('end', () => resolve(pieces.take()));
    message.on('error', reject);
    message.on('close', () => {
      if (!message.readableEnded) reject(new Error(`${host} closed the connection before it answered.`));
    });
  });
}

interface Reading {
  readonly host: string;
  /** The bytes of a stream that were already read. */
  readonly begun: Buffer | undefined;
  onFailure(failure: unknown): void;
}

async function* boundEvents(
  message: IncomingMessage,
  { host, begun = Buffer.alloc(0), onFailure }: Reading,
): AsyncGenerator<Buffer> {
  let { length } = begun;
  let last = begun.subarray(-3);
  try {
    yield* inTurns(begun);
    for await (const chunk of message as AsyncIterable<Buffer>) {
      const seen = Buffer.concat([last, chunk]); // the empty line that ends an event may span two chunks
      const end = Math.max(...ENDS.map((mark) => seen.lastIndexOf(mark)));
      length = end === -1 ? length + chunk.length : seen.length - end;
      if (length > MAX_MESSAGE_BYTES) throw tooLarge(host);
      last = chunk.subarray(-3);
      if (end === -1) yield chunk;
      else yield* inTurns(chunk);
    }
  } catch (cause) {
    onFailure(cause);
    throw cause;
  }
}

/** Bytes with events that are passed on in one turn of the event loop. */
const MOST_AT_ONCE = 4096;

/** The SDK reads an event in some 50 us, and a server may send short ones without end: others get a turn in between. */
async function* inTurns(events: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < events.length; at += MOST_AT_ONCE) {
    if (at > 0) await turn();
    yield events.subarray(at, at + MOST_AT_ONCE);
  }
}

const ENDS = ['\n\n', '\r\n\r\n', '\r\r'];

function tooLarge(host: string): FetchError {
  return new FetchError('too_large', `${host} answered with more than ${MAX_MESSAGE_BYTES} bytes.`);
}
