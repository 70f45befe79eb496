import { randomUUID } from 'node:crypto';
import type { CallToolResult, Implementation } from '@modelcontextprotocol/server';
import { isRecord, type JsonObject } from '../../core/json.ts';
import { type HttpRequest, toWeb } from '../node-request.ts';
import type { McpAnswer, OpenDoor } from './answer-request.ts';
import { callTool } from './answer-tool-call.ts';
import type { AskedCall, RequestContext } from './context.ts';
import type { EnvelopeCheck } from './envelope-check.ts';
import type { Era } from './output-schema.ts';
import { guarded, selfOf } from './tool-server.ts';

/** A call that the fast path can answer. */
type PlainCall = Pick<AskedCall, 'era' | 'id' | 'name' | 'arguments' | 'meta' | 'capabilities'>;

type Members = Readonly<Record<string, unknown>>;

const MODERN = '2026-07-28';
/** Older revisions in the version header; null if the header is absent. */
const LEGACY: readonly (string | null)[] = [null, '2025-11-25', '2025-06-18', '2025-03-26'];
const MESSAGE_KEYS: readonly string[] = ['jsonrpc', 'id', 'method', 'params'];
const PARAMS_KEYS: readonly string[] = ['name', 'arguments', '_meta'];
/** Prefix of protocol keys; calls with unknown ones do not take the fast path. */
const RESERVED = 'io.modelcontextprotocol/';
const VERSION_KEY = `${RESERVED}protocolVersion`;
const CLIENT_KEY = `${RESERVED}clientInfo`;
const CAPABILITIES_KEY = `${RESERVED}clientCapabilities`;
const ENVELOPE_KEYS: readonly string[] = [VERSION_KEY, CLIENT_KEY, CAPABILITIES_KEY];

/**
 * Reads a call in its most common form. Undefined for all other requests, valid or not: the MCP SDK answers or refuses
 * them. In doubt, undefined.
 */
export function readPlainCall(
  body: unknown,
  headers: Pick<Headers, 'get'>,
  takesEnvelope: EnvelopeCheck,
): PlainCall | undefined {
  if (!isObjectOf(body, MESSAGE_KEYS)) return undefined;
  const { jsonrpc, id, method, params } = body;
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !isId(id) || !isObjectOf(params, PARAMS_KEYS)) return undefined;
  const { name, arguments: given, _meta: meta = {} } = params;
  if (typeof name !== 'string' || !isArguments(given) || !isRecord(meta) || 'progressToken' in meta) return undefined;
  const version = headers.get('mcp-protocol-version');
  const isModern = version === MODERN;
  const isPlain = isModern
    ? isModernCall(name, meta, headers) && takesEnvelope({ meta, version })
    : LEGACY.includes(version) && isLegacyCall(meta, headers);
  if (!isPlain) return undefined;
  return {
    era: isModern ? 'modern' : 'legacy',
    id,
    name,
    arguments: given,
    meta,
    capabilities: isModern ? (meta[CAPABILITIES_KEY] as JsonObject) : undefined, // `takesEnvelope` has validated it
  };
}

/** True if the headers repeat the body exactly. */
function isModernCall(name: string, meta: Members, headers: Pick<Headers, 'get'>): boolean {
  return (
    meta[VERSION_KEY] === MODERN &&
    Object.keys(meta).every((key) => !key.startsWith(RESERVED) || ENVELOPE_KEYS.includes(key)) &&
    headers.get('mcp-method') === 'tools/call' &&
    headers.get('mcp-name') === name
  );
}

function isLegacyCall(meta: Members, headers: Pick<Headers, 'get'>): boolean {
  const accept = headers.get('accept') ?? '';
  return (
    accept.includes('application/json') &&
    accept.includes('text/event-stream') &&
    !Object.keys(meta).some((key) => key.startsWith(RESERVED))
  );
}

function isObjectOf(value: unknown, keys: readonly string[]): value is Members {
  return isRecord(value) && Object.keys(value).every((key) => keys.includes(key));
}

function isId(id: unknown): id is string | number {
  return typeof id === 'string' || Number.isSafeInteger(id);
}

function isArguments(given: unknown): boolean {
  return given === undefined || (isRecord(given) && !Object.hasOwn(given, '__proto__'));
}

/** A plain call and its HTTP request. */
interface PlainRequest {
  readonly request: HttpRequest;
  readonly body: unknown;
  readonly call: PlainCall;
  readonly context: RequestContext;
}

/** Calls the tool, and uses the MCP SDK only for results that are not plain text: the SDK is slow per request. */
export async function answerPlainCall(
  door: OpenDoor,
  { request, body, call, context }: PlainRequest,
): Promise<McpAnswer> {
  const { gateway, handler, contexts, cancellations } = door;
  const traceparent = request.headers.get('traceparent') ?? undefined;
  const asked = { ...call, traceparent, signal: request.signal, responses: undefined, requestState: undefined };
  const outcome = guarded(gateway, () => callTool(gateway, context, asked));
  const result = await settledSoon(outcome, call.era);
  if (cancellations.isClosed()) return new Response(null, { status: 499 });
  if (result !== undefined && isPlainResult(result)) return toPlainAnswer(result, call, selfOf(gateway));
  return contexts.run({ ...context, outcome }, () => handler.fetch(toWeb(request), { parsedBody: body }));
}

/** After this time, the answer to an older client is sent as an event stream with heartbeats. */
const SILENCE_MS = 1000;

/** The result; undefined if the call fails, or if it takes longer than an older client should wait without a heartbeat. */
function settledSoon(outcome: Promise<CallToolResult>, era: Era): Promise<CallToolResult | undefined> {
  if (era === 'modern') return outcome.catch(() => undefined);
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, SILENCE_MS, undefined);
    const settle = (result?: CallToolResult) => {
      clearTimeout(timer);
      resolve(result);
    };
    outcome.then(settle, () => settle());
  });
}

const RESULT_KEYS: readonly string[] = ['content', 'structuredContent', 'isError', '_meta'];

/** The answer to a plain call, as the MCP SDK would write it. */
function toPlainAnswer(result: CallToolResult, { era, id }: PlainCall, serverInfo: Implementation): McpAnswer {
  const _meta = { ...result._meta, 'io.modelcontextprotocol/serverInfo': serverInfo };
  const shown = era === 'legacy' ? result : { ...result, resultType: 'complete', _meta };
  if (result.content.some((part) => longOf(part) !== undefined)) return { status: 200, pieces: piecesOf(shown, id) };
  return { status: 200, text: JSON.stringify({ result: shown, jsonrpc: '2.0', id }) };
}

/** Results with longer parts are written in pieces: as JSON they do not exist as a whole. */
const LONG = 1_000_000;
const PIECE = 250_000;

type Part = CallToolResult['content'][number];

/** The long text of a part. */
function longOf(part: Part): string | undefined {
  const text = part.type === 'text' ? part.text : part.type === 'image' || part.type === 'audio' ? part.data : '';
  return text.length > LONG ? text : undefined;
}

/** JSON in pieces. It is written with a mark in the place of each long text, which no text can contain by chance. */
function* piecesOf(result: CallToolResult, id: string | number): Generator<string> {
  const mark = randomUUID();
  const content = result.content.map((part) => {
    if (longOf(part) === undefined) return part;
    return part.type === 'text' ? { ...part, text: mark } : { ...part, data: mark };
  });
  const between = JSON.stringify({ result: { ...result, content }, jsonrpc: '2.0', id }).split(mark);
  const texts = result.content.flatMap((part) => longOf(part) ?? []);
  for (const [index, written] of between.entries()) {
    yield written;
    const text = texts[index] ?? '';
    // A character cut in half is written as two escapes, which stand for the same character.
    for (let at = 0; at < text.length; at += PIECE) yield JSON.stringify(text.slice(at, at + PIECE)).slice(1, -1);
  }
}

/** True for a result that needs no processing by the MCP SDK: no questions, and parts without further members. */
function isPlainResult(result: CallToolResult): boolean {
  const { _meta, structuredContent } = result;
  return (
    Object.keys(result).every((key) => RESULT_KEYS.includes(key)) &&
    result.content.every(isPlainPart) &&
    !hasKey(_meta, 'progressToken') &&
    !hasKey(_meta, '__proto__') &&
    !hasKey(structuredContent, '__proto__')
  );
}

function isPlainPart(part: Part): boolean {
  const { length } = Object.keys(part);
  if (part.type === 'text') return typeof part.text === 'string' && length === 2;
  return (part.type === 'image' || part.type === 'audio') && length === 3; // `toKnownContent` has validated it
}

function hasKey(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key);
}
