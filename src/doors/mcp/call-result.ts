import type { JsonValue } from '../../core/json.ts';
import {
  type DoneResult,
  type FailedResult,
  type ToolResult,
  textOf,
  type WaitingResult,
} from '../../core/tool-result.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { type McpContent, type McpResult, toMcpResults } from '../../formats/mcp.ts';
import { type Era, isWrapped, KEPT_KEY } from './output-schema.ts';

/** The answer to one `tools/call`, without what the protocol itself adds. */
export type CallResult = Omit<McpResult, 'structuredContent'> & { readonly structuredContent?: unknown };

/** What the answer has to suit. */
export interface Wire {
  readonly era: Era;
  /** True for a part of an answer that the protocol knows. */
  readonly isContent: IsContent;
}
type IsContent = (part: unknown) => boolean;

/** Brings a result into the shape of the wire: content part by part, data as structured content, a failure as `isError`. */
export function toCallResult(result: ToolResult, spec: ToolSpec | undefined, wire: Wire): CallResult {
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
