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

/** Calls a tool for a client. An unknown name is an error of the protocol; whatever else goes wrong is an answer that a model can read. */
export async function callTool(gateway: Gateway, context: RequestContext, asked: AskedCall): Promise<CallToolResult> {
  const watched = context.watch?.(asked);
  try {
    const options = readCallOptions(asked, watched?.signal ?? asked.signal);
    return await answerCall(gateway, context, { asked, options });
  } finally {
    watched?.release();
    await asked.progress?.told(); // the answer is written behind it
  }
}

async function answerCall(
  gateway: Gateway,
  { profile, caller }: RequestContext,
  { asked, options }: { readonly asked: AskedCall; readonly options: CallOptions },
): Promise<CallToolResult> {
  const { crib, sdk } = gateway;
  const { era, name, arguments: given, capabilities, responses } = asked;
  const wire = { era, isContent: sdk.isSpecType.ContentBlock };
  const chest = await crib.open(profile, caller);
  const spec = chest.get(name);
  if (spec === undefined) {
    const refused = await chest.call(name, given, options); // it is on record all the same
    const isUnknown = refused.status === 'failed' && refused.error.code === 'unknown_tool';
    if (isUnknown) throw invalidParams(gateway, refused.error.message);
    return toCallResult(refused, spec, wire) as CallToolResult; // of its shapes
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

/** The tool that runs, which a call of `call_tool` only names: a question of one definition is not answered to another. */
function targetOf(chest: Chest, spec: ToolSpec, given: unknown): ToolSpec {
  const inner = spec.name === 'call_tool' && isJsonObject(given) ? unwrapCall(given) : undefined;
  return inner === undefined || 'code' in inner ? spec : (chest.get(inner.name) ?? spec);
}

const LONGEST_TEXT = 200;

/** What a request says about its call besides name and arguments. What is malformed there is as if it were not said. */
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

/** The answer to one `tools/call`, without what the protocol itself adds. */
type CallResult = Omit<McpResult, 'structuredContent'> & { readonly structuredContent?: unknown };

/** What the answer has to suit. */
interface Wire {
  readonly era: Era;
  /** True for a part of an answer that the protocol knows. */
  readonly isContent: IsContent;
}
type IsContent = (part: unknown) => boolean;

/** Brings a result into the shape of the wire: content part by part, data as structured content, a failure as `isError`. */
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

/** A tool that says itself why it failed is quoted part by part; a failure of ours begins with its code. */
function inItsOwnWords(result: ToolResult): ToolResult {
  if (result.status !== 'failed' || result.error.code !== 'tool_error') return result;
  const { content = [] } = result;
  return content.length === 0 ? result : { ok: true, status: 'done', content };
}

/** What to send as structured content before the era has its say. */
function structuredOf(result: DoneResult | FailedResult, spec: ToolSpec | undefined): JsonValue | undefined {
  if (result.data !== undefined || !result.ok || spec?.output === undefined) return result.data;
  const kept = result.meta?.[KEPT_KEY];
  // Of a tool with an output schema clients want structured content, and the text is what was checked by the schema.
  return kept === undefined ? textOf(result) : { [KEPT_KEY]: kept as JsonValue }; // made by us of numbers and a name
}

/** Older clients take nothing but objects. A note of what was kept is one, and listed as such. */
function toWireData(data: JsonValue, spec: ToolSpec | undefined, era: Era): JsonValue {
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  if (isObject && (KEPT_KEY in data || !isWrapped(spec?.output, era))) return data;
  return era === 'legacy' ? { result: data } : data;
}

/** Says what to do, since a model reads it. */
function toWaitingText(result: WaitingResult): string {
  const { for: reason } = result.waiting;
  const then =
    reason === 'approval'
      ? 'Somebody else has to approve it; after that, call it again with the same arguments.'
      : 'This client cannot be asked for it.';
  return `${textOf(result)} ${then}`;
}

/** The protocol's own keys are ours to set, not those of a server further up. */
function publicMeta(meta: DoneResult['meta']): Readonly<Record<string, unknown>> | undefined {
  const entries = Object.entries(meta ?? {}).filter(([key]) => !key.startsWith('io.modelcontextprotocol/'));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** A client refuses a whole answer for one part that the protocol does not know. */
function toKnownContent(part: McpContent, isContent: IsContent): McpContent {
  const isPlain = part.type === 'text' && part.annotations === undefined && part._meta === undefined;
  if (isPlain || isContent(part)) return part;
  if (part.type === 'text') return { type: 'text', text: part.text };
  return { type: 'text', text: `[The tool sent a part of type ${part.type} that is malformed and cannot be shown.]` };
}

/** What `notifications/progress` says besides the token. */
export interface ProgressNote {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** A tool that reports without end must not fill the memory of whoever reads slowly. */
const MOST_NOTES = 10_000;
const LONGEST_MESSAGE = 2000;

/** Tells a client how far a call has come, in the protocol's words: a number that always grows. */
function createProgress(send: (note: ProgressNote) => void): (progress: Progress) => void {
  let last: number | undefined;
  let count = 0;
  return (progress) => {
    count++;
    if (count > MOST_NOTES) return;
    const note = toNote(progress);
    const { progress: given, ...rest } = note;
    const isNews = given !== undefined && (last === undefined || given > last);
    if (!isNews && rest.message === undefined) return; // said before
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
