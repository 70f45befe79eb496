import type { IncomingMessage, ServerResponse } from 'node:http';
import { createBytePieces } from '../system/byte-pieces.ts';

/** The parts of a request that decide about its caller. */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: Pick<Headers, 'get' | 'has'>;
}

/** A request of Node's HTTP server, with the members of a web Request that are needed before its body is understood. */
export interface NodeRequest extends RequestHead {
  /** Aborts when the client is gone before it has the answer. */
  readonly signal: AbortSignal;
  text(): Promise<string>;
  /** Creates a web Request, without the body. */
  toWeb(): Request;
}

/** A request of any HTTP server. */
export type HttpRequest = Request | NodeRequest;

/** The web Request. */
export function toWeb(request: HttpRequest): Request {
  return request instanceof Request ? request : request.toWeb();
}

/** Wraps a request whose headers were each sent once, and whose Host is a plain name. */
export function createNodeRequest(incoming: IncomingMessage, outgoing: ServerResponse): NodeRequest {
  return new WrappedRequest(incoming, outgoing);
}

/** A class, because V8 makes a hidden class for each object with a getter of its own, which outlives the request. */
class WrappedRequest implements NodeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: NodeRequest['headers'];
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  #ended: AbortController | undefined;
  #web: Request | undefined;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    const { headers, method = 'GET' } = incoming;
    this.method = method;
    this.url = `http://${headers.host}${incoming.url}`;
    this.headers = {
      get: (name) => textOf(headers[name] ?? headers[name.toLowerCase()]),
      has: (name) => headers[name.toLowerCase()] !== undefined,
    };
    this.#incoming = incoming;
    this.#outgoing = outgoing;
  }

  get signal(): AbortSignal {
    this.#ended ??= endedWith(this.#outgoing);
    return this.#ended.signal;
  }

  text(): Promise<string> {
    return readText(this.#incoming);
  }

  toWeb(): Request {
    const { method, signal } = this;
    this.#web ??= new Request(this.url, {
      method,
      headers: Object.entries(this.#incoming.headers).map(toPair),
      signal,
    });
    return this.#web;
  }
}

function toPair([name, value]: [string, string | readonly string[] | undefined]): [string, string] {
  return [name, String(value)];
}

function textOf(value: string | readonly string[] | undefined): string | null {
  return value === undefined ? null : String(value);
}

function endedWith(outgoing: ServerResponse): AbortController {
  const ended = new AbortController();
  const end = () => {
    if (!outgoing.writableFinished) ended.abort();
  };
  if (outgoing.destroyed) end();
  else outgoing.once('close', end);
  return ended;
}

/** Reads a body whose length the HTTP server has checked. Rejects if the client leaves before the end. */
function readText(incoming: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    if (incoming.destroyed) throw new Error(GONE); // it has emitted its last event
    const pieces = createBytePieces();
    incoming.on('data', pieces.add);
    incoming.on('end', () => resolve(pieces.take().toString()));
    incoming.on('error', reject);
    incoming.on('close', () => {
      if (!incoming.readableEnded) reject(new Error(GONE)); // an error costs more than a message
    });
  });
}

const GONE = 'the client closed the connection';
