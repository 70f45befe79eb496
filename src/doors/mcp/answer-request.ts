import type { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { Caller } from '../../core/caller.ts';
import type { Chest } from '../../crib/chest.ts';
import type { Cancellations } from './cancellations.ts';
import type { Gateway, RequestContext } from './context.ts';
import type { EnvelopeCheck } from './envelope-check.ts';
import { answerPlainCall, readPlainCall } from './fast-path.ts';
import type { ListChanges } from './list-changes.ts';
import { headerMismatch } from './param-headers.ts';
import { cancelledIds, errorResponse, readBody, singleMessage } from './request-body.ts';

/** What a door works with once it is open. */
export interface OpenDoor {
  readonly gateway: Gateway;
  readonly handler: McpHttpHandler;
  readonly changes: ListChanges;
  readonly cancellations: Cancellations;
  readonly takesEnvelope: EnvelopeCheck;
  /** Aborts when streams of news are to end. */
  readonly news: AbortSignal;
  /** Tells the protocol's package whose request it is that it works on. */
  readonly contexts: AsyncLocalStorage<RequestContext>;
}

/** What is sent back: an answer of the web, or JSON that is there as a whole, which costs less to send. */
export type McpAnswer = Response | { readonly status: number; readonly text: string };

/** Who sends a request, and to which profile. */
export interface Asker {
  readonly caller: Caller;
  readonly profile: string | undefined;
}

type Message = Readonly<Record<string, unknown>>;

const SESSION = 'mcp-session-id';
/** Revisions are dates. */
const FIRST_MODERN = '2026-07-28';

/** Answers one request over HTTP. Rejects where the profile is not for the caller. */
export async function answerRequest(door: OpenDoor, request: Request, asker: Asker): Promise<McpAnswer> {
  const { crib, sdk } = door.gateway;
  const chest = await crib.open(asker.profile, asker.caller); // who may not is refused before anything is read
  // Without access control and without a credential everybody sees the same.
  const context: RequestContext = { ...asker, isPublic: asker.caller.id === 'local' };
  const isJson = request.method === 'POST' && sdk.isJsonContentType(request.headers.get('content-type'));
  if (!isJson) return door.contexts.run(context, () => door.handler.fetch(request)); // refused there, as each revision wants it
  const read = await readBody(sdk, request);
  if (!read.ok) return errorResponse(read.status, read.code, read.message);
  const { body } = read;
  endCalls(door, request, { ...asker, body });
  const message = singleMessage(body) ?? {};
  const mismatch = mismatchIn(request, message, chest);
  if (mismatch !== undefined) return mismatch;
  if (message.method === 'tools/list') return answerList(door, request, { context, body });
  const equipped = await equip(door, request, { context, method: message.method });
  const call = readPlainCall(body, request.headers, door.takesEnvelope);
  if (call !== undefined) return answerPlainCall(door, { request, body, call, context: equipped });
  const asked = message.method === 'subscriptions/listen' ? untilEnded(request, door.news) : request;
  const response = await door.contexts.run(equipped, () => door.handler.fetch(asked, { parsedBody: body }));
  return message.method === 'initialize' && response.ok ? withSession(response) : response;
}

/** The tools stand in the answer as the text that was made of them once. */
async function answerList(
  { contexts, handler }: OpenDoor,
  request: Request,
  { context, body }: { readonly context: RequestContext; readonly body: unknown },
): Promise<Response> {
  let tools: string | undefined;
  const takeTools = (text: string) => {
    tools = text;
  };
  const response = await contexts.run({ ...context, takeTools }, () => handler.fetch(request, { parsedBody: body }));
  const text = await response.text();
  const { status, headers } = response;
  // In JSON these letters cannot be part of a text, where quotes are escaped.
  return new Response(tools === undefined ? text : text.replace('"tools":[]', () => `"tools":${tools}`), {
    status,
    headers,
  });
}

/** The request of a stream that would not end by itself. */
function untilEnded({ url, method, headers, signal }: Request, ended: AbortSignal): Request {
  return new Request(url, { method, headers, signal: AbortSignal.any([signal, ended]) });
}

/** What only some requests need: the handshake its instructions, calls a way to be ended. */
async function equip(
  { gateway, cancellations }: OpenDoor,
  request: Request,
  { context, method }: { readonly context: RequestContext; readonly method: unknown },
): Promise<RequestContext> {
  if (method === 'initialize' || method === 'server/discover') {
    const chest = await gateway.crib.server.openAtDoor(context.profile, context.caller);
    return { ...context, instructions: chest.instructions() };
  }
  const session = request.headers.get(SESSION);
  const { id: callerId } = context.caller;
  return {
    ...context,
    watch: ({ id: requestId, signal }) =>
      cancellations.watch(signal, session === null ? undefined : { callerId, session, requestId }),
  };
}

function endCalls(
  { cancellations }: OpenDoor,
  request: Request,
  { caller, body }: Asker & { readonly body: unknown },
): void {
  const session = request.headers.get(SESSION);
  if (session === null) return;
  for (const requestId of cancelledIds(body)) cancellations.cancel({ callerId: caller.id, session, requestId });
}

/** Nothing is kept for a session: it tells the calls of one client from those of others. */
function withSession(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set(SESSION, randomUUID());
  return new Response(response.body, { status: response.status, headers });
}

/** Whether arguments that stand in headers, too, are the same there; whatever else is wrong with headers is found elsewhere. */
function mismatchIn(request: Request, { method, id, params }: Message, chest: Chest): Response | undefined {
  if (method !== 'tools/call' || (request.headers.get('mcp-protocol-version') ?? '') < FIRST_MODERN) return undefined;
  const { name, arguments: given } = singleMessage(params) ?? {};
  const spec = typeof name === 'string' && request.headers.get('mcp-name') === name ? chest.get(name) : undefined;
  const why = spec === undefined ? undefined : headerMismatch(spec.input, given, request.headers);
  if (why === undefined) return undefined;
  const error = { code: -32_020, message: `Bad Request: headers and body do not say the same: ${why}.` };
  return Response.json(
    { jsonrpc: '2.0', error, id: typeof id === 'string' || typeof id === 'number' ? id : null },
    { status: 400 },
  );
}
