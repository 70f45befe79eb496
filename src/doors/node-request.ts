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
  const { headers: sent, method = 'GET' } = incoming;
  const url = `http://${sent.host}${incoming.url}`;
  let ended: AbortController | undefined;
  let web: Request | undefined;
  const request: NodeRequest = {
    method,
    url,
    headers: {
      get: (name) => textOf(sent[name] ?? sent[name.toLowerCase()]),
      has: (name) => sent[name.toLowerCase()] !== undefined,
    },
    get signal() {
      ended ??= endedWith(outgoing);
      return ended.signal;
    },
    text: () => readText(incoming),
    toWeb() {
      web ??= new Request(url, { method, headers: Object.entries(sent).map(toPair), signal: request.signal });
      return web;
    },
  };
  return request;
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
