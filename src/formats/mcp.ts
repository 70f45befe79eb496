import { isRecord, type JsonValue } from '../core/json.ts';
import { defined } from '../core/read-options.ts';
import type { CallRequest } from '../core/tool-call.ts';
import type { CallAnswer, Content, ContentAnnotations, ToolResult } from '../core/tool-result.ts';
import type { Effects, ToolSpec } from '../core/tool-spec.ts';
import { copySchema, type ObjectSchema, requireDistinctNames, toObjectSchema } from './object-schema.ts';
import { memberOf, shownContent, toRequest } from './vendor-messages.ts';

/** An entry of `tools/list`, without icons and `_meta` of the source. */
export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  /** Only if its type is object: older clients reject other schemas, and validate `structuredContent` with it. */
  readonly outputSchema?: ObjectSchema;
  readonly annotations?: McpAnnotations;
}

/** The known effects of a tool; unknown ones are absent. */
export interface McpAnnotations {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** The result of `tools/call`. A type alias, because the SDK expects a record and an interface is not assignable to it. */
export type McpResult = {
  readonly content: McpContent[];
  /** Only objects, which every revision accepts. Other data is in the text; a door for a newer revision may add it. */
  readonly structuredContent?: { readonly [key: string]: unknown };
  readonly isError?: true;
  readonly _meta?: { readonly [key: string]: unknown };
};

/** A part of a result. */
export type McpContent = McpExtras &
  (
    | { readonly type: 'text'; readonly text: string }
    | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
    | McpLink
    | { readonly type: 'resource'; readonly resource: McpResource }
  );
type McpLink = Omit<Extract<Content, { type: 'resource_link' }>, 'annotations'>;
type McpResource = { readonly uri: string; readonly mimeType?: string } & (
  | { readonly text: string }
  | { readonly blob: string }
);
interface McpExtras {
  readonly annotations?: {
    readonly audience?: ('user' | 'assistant')[];
    readonly priority?: number;
    readonly lastModified?: string;
  };
  readonly _meta?: { readonly [key: string]: unknown };
}

/** Converts tools for the result of `tools/list`. */
export function toMcp(specs: readonly ToolSpec[]): McpTool[] {
  requireDistinctNames(specs);
  return specs.map(({ name, title, description, input, output, effects }) => ({
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: toObjectSchema(input),
    ...(output?.type === 'object' && { outputSchema: { ...copySchema(output), type: 'object' } as const }),
    ...annotationsOf(effects),
  }));
}

/** The call of a `tools/call` request, passed as a whole or as its params. */
export function fromMcpCalls(request: unknown): CallRequest[] {
  const method = memberOf(request, 'method');
  const params = method === undefined ? request : memberOf(request, 'params');
  if (typeof params !== 'object' || params === null || (method ?? 'tools/call') !== 'tools/call') return [];
  return [toRequest(memberOf(request, 'id'), memberOf(params, 'name'), memberOf(params, 'arguments'))];
}

/** The results of calls, one for each request. The caller adds the JSON-RPC id. */
export function toMcpResults(answers: readonly CallAnswer[]): McpResult[] {
  return answers.map(({ result }) => {
    const data = result.status === 'waiting' ? undefined : result.data;
    return {
      content: shownContent(result).map(toMcpContent), // MCP supports all content types
      ...(isRecord(data) && { structuredContent: data }),
      ...(!result.ok && { isError: true }),
      ...(result.status === 'waiting' && { _meta: { 'toolcrib/waiting': waitingOf(result.waiting) } }),
    };
  });
}

function annotationsOf(effects: Effects): { readonly annotations?: McpAnnotations } {
  const annotations: McpAnnotations = {
    ...defined({
      readOnlyHint: effects.readOnly,
      destructiveHint: effects.destructive,
      idempotentHint: effects.idempotent,
      openWorldHint: effects.openWorld,
    }),
  };
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}

function waitingOf(waiting: Extract<ToolResult, { status: 'waiting' }>['waiting']): JsonValue {
  const { for: reason, id, expiresAt, ask } = waiting;
  return { for: reason, id, expiresAt, ...(ask !== undefined && { ask }) };
}

function toMcpContent(content: Content): McpContent {
  const { annotations, ...plain } = content;
  const shown: McpContent = plain.type === 'resource' ? { ...plain, resource: toMcpResource(plain.resource) } : plain;
  return annotations === undefined ? shown : { ...shown, annotations: toMcpAnnotations(annotations) };
}

function toMcpResource({ text, blob, ...about }: Extract<Content, { type: 'resource' }>['resource']): McpResource {
  return blob === undefined ? { ...about, text: text ?? '' } : { ...about, blob };
}

function toMcpAnnotations({ audience, ...rest }: ContentAnnotations): NonNullable<McpExtras['annotations']> {
  return audience === undefined ? rest : { ...rest, audience: [...audience] };
}
