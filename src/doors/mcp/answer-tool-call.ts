import type { CallToolResult } from '@modelcontextprotocol/server';
import { type CallOptions, unwrapCall } from '../../call/call-input.ts';
import { isJsonObject, type JsonValue } from '../../core/json.ts';
import { MCP_DOOR } from '../../core/ports/observability.ts';
import type { Progress } from '../../core/tool-call.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import {
  type DoneResult,
  type FailedResult,
  type ToolResult,
  textOf,
  type WaitingResult,
} from '../../core/tool-result.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import type { Chest } from '../../crib/chest.ts';
import { type McpContent, type McpResult, toMcpResults } from '../../formats/mcp.ts';
import { type AskedCall, type Gateway, invalidParams, type RequestContext } from './context.ts';
import { runAsking } from './held-calls.ts';
import { askClient, mayAskInside, type Round, readAnswers } from './input-rounds.ts';
import { type Era, isWrapped, KEPT_KEY } from './output-schema.ts';

/** Calls a tool for a client. An unknown tool is a protocol error; every other failure is a result that the model can read. */
export async function callTool(gateway: Gateway, context: RequestContext, asked: AskedCall): Promise<CallToolResult> {
  const watched = context.watch?.(asked);
  try {
    const options = readCallOptions(asked, watched?.signal ?? asked.signal);
    return await answerCall(gateway, context, { asked, options });
  } finally {
    watched?.release();
    await asked.progress?.told(); // the answer must follow the progress
  }
}

async function answerCall(
  gateway: Gateway,
  { profile, caller, chest: opened }: RequestContext,
  { asked, options }: { readonly asked: AskedCall; readonly options: CallOptions },
): Promise<CallToolResult> {
  const { crib, sdk } = gateway;
  const { era, name, arguments: given, capabilities, responses } = asked;
  const wire = { era, isContent: sdk.isSpecType.ContentBlock };
  const chest = opened ?? (await crib.open(profile, caller));
  const spec = chest.get(name);
  if (spec === undefined) {
    const refused = await chest.call(name, given, options); // so that the attempt is recorded
    const isUnknown = refused.status === 'failed' && refused.error.code === 'unknown_tool';
    if (isUnknown) throw invalidParams(gateway, refused.error.message);
    return toCallResult(refused, spec, wire) as CallToolResult; // the shapes of the SDK are wider
  }
  const target = targetOf(chest, spec, given);
  const said = { called: name, arguments: given, capabilities, responses };
  const round: Round = { caller, profile: chest.profile, spec: target, ...said };
  const answered = await readAnswers(crib, round, asked.requestState).catch((cause: unknown) => {
    if (!(cause instanceof ToolcribError) || cause.code !== 'too_many_states') throw cause;
    throw invalidParams(gateway, cause.message, { reason: 'too_many_request_states' });
  });
  if (answered === undefined)
    throw invalidParams(gateway, 'Invalid or expired requestState', { reason: 'invalid_request_state' });
  const { isClosed: _isClosed, question: asking, ...answers } = answered;
  const begin = (more: CallOptions = {}) => chest.call(name, given, { ...options, ...answers, ...more });
  const isAsking = asking !== undefined || mayAskInside(round);
  const ended = isAsking ? await runAsking(gateway, round, { begin, asking, options }) : await begin();
  if ('resultType' in ended) return ended as unknown as CallToolResult; // of the shapes of an answer
  const result = ended;
  const needed = era === 'modern' ? result.meta?.['toolcrib/requiredCapabilities'] : undefined;
  if (needed !== undefined) throw new sdk.MissingRequiredClientCapabilityError({ requiredCapabilities: { ...needed } });
  const { waiting } = result.status === 'waiting' ? result : {};
  const question = waiting === undefined ? undefined : await askClient(crib, round, { waiting, answered });
  return (question ?? toCallResult(result, spec, wire)) as CallToolResult; // of its shapes
}

/** The tool that runs; a call of `call_tool` only names it. An answer is bound to the definition that asked. */
function targetOf(chest: Chest, spec: ToolSpec, given: unknown): ToolSpec {
  const inner = spec.name === 'call_tool' && isJsonObject(given) ? unwrapCall(given) : undefined;
  return inner === undefined || 'code' in inner ? spec : (chest.get(inner.name) ?? spec);
}

const LONGEST_TEXT = 200;

/** The options of a call from the metadata of its request. Malformed values are ignored. */
function readCallOptions({ meta, progress, ...asked }: AskedCall, signal: AbortSignal): CallOptions {
  const traceparent = meta.traceparent ?? asked.traceparent;
  return {
    door: MCP_DOOR,
    park: true,
    signal,
    ...textOption(meta, 'conversation'),
    ...textOption(meta, 'turn'),
    ...textOption(meta, 'timeZone'),
    ...(typeof traceparent === 'string' && { traceparent }),
    ...(progress !== undefined && { onProgress: createProgress(progress.tell) }),
  };
}

function textOption(
  meta: Readonly<Record<string, unknown>>,
  name: 'conversation' | 'turn' | 'timeZone',
): Pick<CallOptions, 'conversation' | 'turn' | 'timeZone'> {
  const value = meta[`toolcrib/${name}`];
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_TEXT ? { [name]: value } : {};
}

/** The result of `tools/call`, without the members that the protocol adds. */
type CallResult = Omit<McpResult, 'structuredContent'> & { readonly structuredContent?: unknown };

/** The properties of the connection that shape a result. */
interface Wire {
  readonly era: Era;
  /** Returns true for a content part that the protocol defines. */
  readonly isContent: IsContent;
}
type IsContent = (part: unknown) => boolean;

/** Converts a result to MCP: content part by part, data as structured content, a failure as `isError`. */
function toCallResult(result: ToolResult, spec: ToolSpec | undefined, wire: Wire): CallResult {
  const [shown] = toMcpResults([{ id: '', name: spec?.name ?? '', result: inItsOwnWords(result) }]);
  const { structuredContent: _objects, content = [], ...rest } = shown ?? {};
  if (result.status === 'waiting') return { ...rest, content: [{ type: 'text', text: toWaitingText(result) }] };
  const structured = structuredOf(result, spec);
  const meta = publicMeta(result.meta);
  return {
    ...rest,
    ...(!result.ok && { isError: true }),
    content: content.map((part) => toKnownContent(part, wire.isContent)),
    ...(structured !== undefined && { structuredContent: toWireData(structured, spec, wire.era) }),
    ...(meta !== undefined && { _meta: meta }),
  };
}

/** A failure with content of the tool keeps that content; other failures begin with their error code. */
function inItsOwnWords(result: ToolResult): ToolResult {
  if (result.status !== 'failed' || result.error.code !== 'tool_error') return result;
  const { content = [] } = result;
  return content.length === 0 ? result : { ok: true, status: 'done', content };
}

/** The structured content of a result, before it is adapted to the era. */
function structuredOf(result: DoneResult | FailedResult, spec: ToolSpec | undefined): JsonValue | undefined {
  if (result.data !== undefined || !result.ok || spec?.output === undefined) return result.data;
  const kept = result.meta?.[KEPT_KEY];
  // Clients require structured content from a tool with an output schema; the schema validated the text.
  return kept === undefined ? textOf(result) : { [KEPT_KEY]: kept as JsonValue }; // created by the crib from JSON values
}

/** Wraps data for older clients, which accept only objects. The note of a stored result is already an object. */
function toWireData(data: JsonValue, spec: ToolSpec | undefined, era: Era): JsonValue {
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  if (isObject && (KEPT_KEY in data || !isWrapped(spec?.output, era))) return data;
  return era === 'legacy' ? { result: data } : data;
}

/** Tells the model what to do next. */
function toWaitingText(result: WaitingResult): string {
  const { for: reason } = result.waiting;
  const then =
    reason === 'approval'
      ? 'Another person must approve it. After that, call it again with the same arguments.'
      : 'This client does not support such questions.';
  return `${textOf(result)} ${then}`;
}

/** Removes keys that are reserved for the protocol: an upstream server must not set them. */
function publicMeta(meta: DoneResult['meta']): Readonly<Record<string, unknown>> | undefined {
  const entries = Object.entries(meta ?? {}).filter(([key]) => !key.startsWith('io.modelcontextprotocol/'));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Replaces invalid parts by text: clients reject a whole result because of one invalid part. */
function toKnownContent(part: McpContent, isContent: IsContent): McpContent {
  const isPlain = part.type === 'text' && part.annotations === undefined && part._meta === undefined;
  if (isPlain || isContent(part)) return part;
  if (part.type === 'text') return { type: 'text', text: part.text };
  return { type: 'text', text: `[The tool returned a malformed part of type ${part.type}, which cannot be shown.]` };
}

/** The members of `notifications/progress` except the token. */
export interface ProgressNote {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Limits the progress messages of a call, to protect slow clients. */
const MOST_NOTES = 10_000;
const LONGEST_MESSAGE = 2000;

/** Converts progress to MCP, where the number must always increase. */
function createProgress(send: (note: ProgressNote) => void): (progress: Progress) => void {
  let last: number | undefined;
  let count = 0;
  return (progress) => {
    count++;
    if (count > MOST_NOTES) return;
    const note = toNote(progress);
    const { progress: given, ...rest } = note;
    const isNews = given !== undefined && (last === undefined || given > last);
    if (!isNews && rest.message === undefined) return; // already sent
    last = isNews ? given : (last ?? 0) + 1;
    send({ ...rest, progress: last });
  };
}

function toNote(progress: Progress): Partial<ProgressNote> {
  if (typeof progress === 'number') return { progress };
  if (typeof progress === 'string') return { message: cut(progress) };
  const { progress: given, total, message } = membersOf(progress);
  if (typeof given !== 'number') return { message: cut(JSON.stringify(progress)) };
  return {
    progress: given,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message: cut(message) }),
  };
}

function membersOf(progress: Progress): { readonly [key: string]: unknown } {
  return typeof progress === 'object' && progress !== null && !Array.isArray(progress) ? { ...progress } : {};
}

function cut(text: string): string {
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text;
}
