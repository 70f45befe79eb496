import type { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { Caller, Identity } from '../../core/caller.ts';
import type { Chest } from '../../crib/chest.ts';
import type { Crib } from '../../crib/crib.ts';
import { type HttpRequest, toWeb } from '../node-request.ts';
import { endWhenForbidden } from '../while-allowed.ts';
import type { Cancellations, Gateway, RequestContext, ServerSdk } from './context.ts';
import type { EnvelopeCheck } from './envelope-check.ts';
import { answerPlainCall, readPlainCall } from './fast-path.ts';
import type { ListChanges } from './listings.ts';
import { headerMismatch } from './param-headers.ts';
import { parseMessage } from './parse-message.ts';

/** The parts of an open door. */
export interface OpenDoor {
  readonly gateway: Gateway;
  readonly handler: McpHttpHandler;
  readonly changes: ListChanges;
  readonly cancellations: Cancellations;
  readonly takesEnvelope: EnvelopeCheck;
  /** Aborts when subscription streams have to end. */
  readonly news: AbortSignal;
  /** Gives the MCP SDK the context of the current request. */
  readonly contexts: AsyncLocalStorage<RequestContext>;
}

/** A web Response, or complete JSON, which is cheaper to send: as text, or in pieces that are made as fast as the client reads. */
export type McpAnswer =
  | Response
  | { readonly status: number; readonly text: string }
  | { readonly status: number; readonly pieces: Iterable<string> };

/** The caller and the profile of a request. */
export interface McpCaller {
  readonly caller: Caller;
  readonly profile: string | undefined;
  readonly identifyAgain?: (() => Promise<Identity>) | undefined;
}

type Message = Readonly<Record<string, unknown>>;

const SESSION = 'mcp-session-id';
/** The first revision of the modern era. Revisions are dates, so they compare as text. */
const FIRST_MODERN = '2026-07-28';

/** Answers one HTTP request. Rejects if the caller may not use the profile. */
export async function answerRequest(door: OpenDoor, request: HttpRequest, asker: McpCaller): Promise<McpAnswer> {
  const { crib, sdk } = door.gateway;
  const chest = await crib.open(asker.profile, asker.caller); // refuses before the body is read
  // Without access control and without a credential, every caller sees the same list.
  const context: RequestContext = { ...asker, chest, isPublic: asker.caller.id === 'local' };
  const isJson = request.method === 'POST' && sdk.isJsonContentType(request.headers.get('content-type'));
  if (!isJson) return door.contexts.run(context, () => door.handler.fetch(toWeb(request))); // the SDK refuses it in the way of each revision
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
  const isListening = message.method === 'subscriptions/listen';
  const asked = isListening ? untilEnded(request, door.news) : toWeb(request);
  const response = await door.contexts.run(equipped, () => door.handler.fetch(asked, { parsedBody: body }));
  if (isListening) return endWhenForbidden(response, () => mayStillListen(crib, asker));
  return message.method === 'initialize' && response.ok ? withSession(response) : response;
}

/** True if the credential of a client is still accepted and still opens the profile. */
async function mayStillListen(crib: Crib, { profile, identifyAgain }: McpCaller): Promise<boolean> {
  const identity = await identifyAgain?.();
  if (identity === undefined) return true;
  return identity.ok && (await crib.open(profile, identity.caller)) !== undefined;
}

/** Answers `tools/list` with the cached text of the tools. */
async function answerList(
  { contexts, handler }: OpenDoor,
  request: HttpRequest,
  { context, body }: { readonly context: RequestContext; readonly body: unknown },
): Promise<McpAnswer> {
  let tools: string | undefined;
  const takeTools = (text: string) => {
    tools = text;
  };
  const response = await contexts.run({ ...context, takeTools }, () =>
    handler.fetch(toWeb(request), { parsedBody: body }),
  );
  const text = await response.text();
  const { status, headers } = response;
  // These characters cannot occur inside a JSON string, where quotes are escaped.
  const listed = tools === undefined ? text : text.replace('"tools":[]', () => `"tools":${tools}`);
  const isJsonAlone = [...headers].every((header) => header.join() === 'content-type,application/json');
  return status === 200 && isJsonAlone ? { status, text: listed } : new Response(listed, { status, headers });
}

/** The request with a signal that also ends its stream. */
function untilEnded(request: HttpRequest, ended: AbortSignal): Request {
  const { url, method, headers, signal } = toWeb(request);
  return new Request(url, { method, headers, signal: AbortSignal.any([signal, ended]) });
}

/** Adds what only some requests need: instructions for the handshake, cancellation for calls. */
async function equip(
  { gateway, cancellations }: OpenDoor,
  request: HttpRequest,
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
  request: HttpRequest,
  { caller, body }: McpCaller & { readonly body: unknown },
): void {
  const session = request.headers.get(SESSION);
  if (session === null) return;
  for (const requestId of cancelledIds(body)) cancellations.cancel({ callerId: caller.id, session, requestId });
}

/** Adds a session id. It only separates the calls of different clients; no session state is stored. */
function withSession(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set(SESSION, randomUUID());
  return new Response(response.body, { status: response.status, headers });
}

/** The refusal if arguments differ from the headers that repeat them. The SDK checks all other headers. */
function mismatchIn(request: HttpRequest, { method, id, params }: Message, chest: Chest): Response | undefined {
  if (method !== 'tools/call' || (request.headers.get('mcp-protocol-version') ?? '') < FIRST_MODERN) return undefined;
  const { name, arguments: given } = singleMessage(params) ?? {};
  const spec = typeof name === 'string' && request.headers.get('mcp-name') === name ? chest.get(name) : undefined;
  const why = spec === undefined ? undefined : headerMismatch(spec.input, given, request.headers);
  if (why === undefined) return undefined;
  const error = { code: -32_020, message: `Bad Request: the headers do not match the body: ${why}.` };
  return Response.json(
    { jsonrpc: '2.0', error, id: typeof id === 'string' || typeof id === 'number' ? id : null },
    { status: 400 },
  );
}

/** The parsed body of a request, or the error. */
type RequestBody =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly status: number; readonly code: number; readonly message: string };

/** Maximum size of a request body; enough for a call with a megabyte of arguments. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Reads a body with a JSON content type. */
async function readBody({ readRequestBody }: ServerSdk, request: HttpRequest): Promise<RequestBody> {
  try {
    const length = request.headers.get('content-length');
    // The HTTP server enforces a given Content-Length, and reading the body at once is much cheaper than in chunks.
    const isKept = length !== null && !request.headers.has('transfer-encoding');
    const isBounded = isKept && Number(length) <= MAX_BODY_BYTES;
    const read = isBounded
      ? { tooLarge: false as const, text: await request.text() }
      : await readRequestBody(toWeb(request), MAX_BODY_BYTES);
    if (read.tooLarge) return refused(413, -32_000, `The request is larger than the limit of ${MAX_BODY_BYTES} bytes.`);
    const parsed = parseMessage(read.text);
    return parsed.ok ? parsed : refused(400, parsed.isJson ? -32_600 : -32_700, parsed.message);
  } catch {
    return refused(400, -32_700, 'Parse error: the request body is not JSON.');
  }
}

function refused(status: number, code: number, message: string): RequestBody {
  return { ok: false, status, code, message };
}

/** A JSON-RPC error as an HTTP response. */
export function errorResponse(
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}

/** The message of a body; undefined for a batch. */
function singleMessage(body: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body } : undefined;
}

/** The ids of the requests that the client cancels. */
function cancelledIds(body: unknown): readonly unknown[] {
  return (Array.isArray(body) ? body : [body]).flatMap((message) => {
    const { method, params } = singleMessage(message) ?? {};
    return method === 'notifications/cancelled' ? [singleMessage(params)?.requestId] : [];
  });
}
