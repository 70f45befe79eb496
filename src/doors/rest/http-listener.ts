import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { createNodeRequest, type NodeRequest } from '../node-request.ts';
import { type Answer, INTERNAL, refuse, type SendWhole, toResponse, type WholeAnswer, writeWhole } from './answers.ts';

/** Answers a request to the MCP door. Never rejects. */
export type AnswerMcp = (request: NodeRequest, profile: string | undefined) => Promise<Response | WholeAnswer>;

/** The app of a server, as requests reach it. */
interface ListeningApp {
  fetch(request: Request, lent: { readonly send: SendWhole | undefined }): Promise<Response>;
  readonly fetchMcp?: AnswerMcp;
}

/** Answers requests by the app. The usual POST to /mcp passes it, because making web objects of a request takes longer than a call. */
export function createListener({ fetch, fetchMcp }: ListeningApp): RequestListener {
  const answer = getRequestListener((request, { outgoing }) => fetch(request, { send: sendTo(outgoing) }), {
    overrideGlobalObjects: false,
    errorHandler: whyUnreadable,
  });
  return fetchMcp === undefined ? answer : createMcpListener(fetchMcp, answer);
}

function createMcpListener(answer: AnswerMcp, otherwise: RequestListener): RequestListener {
  const responses = new WeakMap<IncomingMessage, Response>();
  const send = getRequestListener((_request, { incoming }) => responses.get(incoming as IncomingMessage), {
    overrideGlobalObjects: false,
  });
  return (incoming, outgoing) => {
    const place = placeOf(incoming);
    if (place === undefined) return otherwise(incoming, outgoing);
    return void answer(createNodeRequest(incoming, outgoing), place.profile).then((answered) => {
      if (!(answered instanceof Response)) return writeWhole(outgoing, answered);
      responses.set(incoming, answered);
      return void send(incoming, outgoing);
    });
  };
}

const PATH = /^\/mcp(?:\/([\w-][\w.-]*))?$/;
const PLAIN_HOST = /^[\w.:[\]-]+$/;
const JSON_TYPE = /^application\/json(; ?charset=utf-8)?$/i;
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** The profile in the URL; undefined for a request that is unusual in any way. */
function placeOf({
  method,
  url = '',
  headers,
  rawHeaders,
}: IncomingMessage): { readonly profile?: string } | undefined {
  const path = method === 'POST' ? PATH.exec(url) : null;
  const { host = '', 'content-type': type = '', 'content-length': length } = headers;
  const isSentOnce = rawHeaders.length === Object.keys(headers).length * 2; // which of two is meant is not decided here
  const isBounded =
    length !== undefined && Number(length) <= MAX_BODY_BYTES && headers['transfer-encoding'] === undefined;
  const isPlainHost = PLAIN_HOST.test(host) && URL.canParse(`http://${host}`);
  if (path === null || !isSentOnce || !isBounded || !isPlainHost || !JSON_TYPE.test(type)) return undefined;
  return path[1] === undefined ? {} : { profile: path[1] };
}

function sendTo(outgoing: ServerResponse | Http2ServerResponse): SendWhole | undefined {
  if (!(outgoing instanceof ServerResponse)) return undefined; // the types include HTTP/2, which this server does not use
  return (answer) => {
    writeWhole(outgoing, answer);
    return RESPONSE_ALREADY_SENT;
  };
}

/** The answer to a request that is valid HTTP but cannot be read. */
function whyUnreadable(cause: unknown): Response {
  const isTheirs = cause instanceof Error && cause.name === 'RequestError';
  return toResponse(isTheirs ? UNREADABLE : INTERNAL);
}

const UNREADABLE: Answer = refuse(400, {
  code: 'invalid_input',
  message: 'The URL or the Host header of the request is not valid.',
  retryable: false,
});
