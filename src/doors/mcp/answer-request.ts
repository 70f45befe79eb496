import type { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { Caller } from '../../core/caller.ts';
import type { Chest } from '../../crib/chest.ts';
import type { Cancellations, Gateway, RequestContext, ServerSdk } from './context.ts';
import { answerPlainCall, readPlainCall } from './fast-path.ts';
import type { ListChanges } from './listings.ts';
import { headerMismatch } from './param-headers.ts';

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
export interface McpCaller {
  readonly caller: Caller;
  readonly profile: string | undefined;
}

type Message = Readonly<Record<string, unknown>>;

const SESSION = 'mcp-session-id';
/** Revisions are dates. */
const FIRST_MODERN = '2026-07-28';

/** Answers one request over HTTP. Rejects where the profile is not for the caller. */
export async function answerRequest(door: OpenDoor, request: Request, asker: McpCaller): Promise<McpAnswer> {
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
  { caller, body }: McpCaller & { readonly body: unknown },
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

/** The messages of a request, or why they cannot be read. */
type RequestBody =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly status: number; readonly code: number; readonly message: string };

/** As much as a request may hold; a call with a megabyte of arguments fits. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Reads a body that says it is JSON. */
async function readBody({ readRequestBody }: ServerSdk, request: Request): Promise<RequestBody> {
  try {
    const length = request.headers.get('content-length');
    // A length that is given is kept by the server, and reading it at once is far cheaper than piece by piece.
    const isKept = length !== null && !request.headers.has('transfer-encoding');
    const isBounded = isKept && Number(length) <= MAX_BODY_BYTES;
    const read = isBounded
      ? { tooLarge: false as const, text: await request.text() }
      : await readRequestBody(request, MAX_BODY_BYTES);
    if (read.tooLarge) return refused(413, -32_000, `A request holds at most ${MAX_BODY_BYTES} bytes.`);
    return { ok: true, body: JSON.parse(read.text) };
  } catch {
    return refused(400, -32_700, 'Parse error: the request body is not JSON.');
  }
}

function refused(status: number, code: number, message: string): RequestBody {
  return { ok: false, status, code, message };
}

/** The error of JSON-RPC as HTTP. */
export function errorResponse(
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}

/** The single message of a body, whatever it is; undefined for a batch. */
function singleMessage(body: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body } : undefined;
}

/** The ids of requests that the client no longer waits for. */
function cancelledIds(body: unknown): readonly unknown[] {
  return (Array.isArray(body) ? body : [body]).flatMap((message) => {
    const { method, params } = singleMessage(message) ?? {};
    return method === 'notifications/cancelled' ? [singleMessage(params)?.requestId] : [];
  });
}

/** True for what a client may say of itself with a request of this revision. */
export type EnvelopeCheck = (said: Said) => boolean;

interface Said {
  readonly meta: Readonly<Record<string, unknown>>;
  readonly version: string;
}

const MOST_KNOWN = 64;
const LONGEST_KNOWN = 2000;

/** Asks the protocol's package, once: a client says the same with every request. */
export function createEnvelopeCheck(sdk: ServerSdk): EnvelopeCheck {
  const known = new Set<string>();
  return ({ meta, version }) => {
    const envelope = {
      [sdk.PROTOCOL_VERSION_META_KEY]: version,
      [sdk.CLIENT_INFO_META_KEY]: meta[sdk.CLIENT_INFO_META_KEY],
      [sdk.CLIENT_CAPABILITIES_META_KEY]: meta[sdk.CLIENT_CAPABILITIES_META_KEY],
    };
    const text = textOf(envelope);
    if (text === undefined) return false;
    if (known.has(text)) return true;
    if (!isTaken(sdk, JSON.parse(text), version)) return false;
    if (known.size === MOST_KNOWN) known.clear();
    known.add(text);
    return true;
  };
}

/** Undefined for what is too much to be remembered. */
function textOf(envelope: object): string | undefined {
  try {
    const text = JSON.stringify(envelope);
    return text.length > LONGEST_KNOWN ? undefined : text;
  } catch (cause) {
    if (cause instanceof RangeError) return undefined; // nested too deeply to be written
    throw cause;
  }
}

function isTaken({ classifyInboundRequest }: ServerSdk, envelope: object, version: string): boolean {
  const method = 'tools/call';
  const body = { jsonrpc: '2.0', id: 0, method, params: { _meta: envelope } };
  const headers = { protocolVersionHeader: version, mcpMethodHeader: method };
  return classifyInboundRequest({ httpMethod: 'POST', ...headers, body }).kind === 'modern';
}
