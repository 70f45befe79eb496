import type { JsonSchema } from '../core/json.ts';
import type { CallRequest } from '../core/tool-call.ts';
import type { CallAnswer } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { copySchema, isRecord, mapSchema, toPrefixItems } from './map-schema.ts';
import { type ObjectSchema, toObjectSchema } from './object-schema.ts';
import { entriesOf, memberOf, parseArguments, toRequest } from './read-calls.ts';
import { partsOf, plainTextOf, type ResultPart, textIn } from './result-parts.ts';
import { requireAtMost, requireDistinctNames, shorten } from './vendor-limits.ts';

const MAX_TOOLS = 128;
// OpenAI's newest models take more, Azure and the many services that speak this protocol refuse the whole request.
const MAX_CHAT_DESCRIPTION = 1024;
const FORBIDDEN_AT_ROOT = ['allOf', 'anyOf', 'const', 'enum', 'not', 'oneOf'];
const IMAGES = new Set(['image/gif', 'image/jpeg', 'image/png', 'image/webp']);

/** A tool of the chat completions API. */
export interface OpenAITool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: ObjectSchema };
}

/** The message that answers one call in the chat completions API. */
export interface OpenAIToolMessage {
  readonly role: 'tool';
  readonly tool_call_id: string;
  readonly content: string;
}

/** A tool of the responses API. */
export interface OpenAIResponsesTool {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  readonly parameters: ObjectSchema;
  /** Strict mode would make optional arguments required and take only part of JSON Schema. */
  readonly strict: false;
  readonly output_schema?: JsonSchema;
}

/** The item that answers one call in the responses API. */
export interface OpenAIResponsesOutput {
  readonly type: 'function_call_output';
  readonly call_id: string;
  readonly output: string | OpenAIResponsesContent[];
}

/** A piece of an answer that is not text alone. */
export type OpenAIResponsesContent =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail: 'auto' }
  | { readonly type: 'input_file'; readonly filename: string; readonly file_data: string };

/** Definitions for `tools` of `chat.completions.create`. */
export function toOpenAI(specs: readonly ToolSpec[]): OpenAITool[] {
  requireExportable(specs);
  return specs.map(({ name, description, input }) => ({
    type: 'function',
    function: { name, description: shorten(description, MAX_CHAT_DESCRIPTION), parameters: toParameters(input) },
  }));
}

/** The calls of an assistant message, or of a whole chat completion. */
export function fromOpenAICalls(message: unknown): CallRequest[] {
  const said = memberOf(entriesOf(memberOf(message, 'choices'))[0], 'message') ?? message;
  return entriesOf(memberOf(said, 'tool_calls')).map((call) => {
    const id = memberOf(call, 'id');
    const custom = memberOf(call, 'custom'); // never offered by us, yet each call needs its answer
    if (custom !== undefined) return toRequest(id, memberOf(custom, 'name'), memberOf(custom, 'input'));
    const asked = memberOf(call, 'function');
    return toRequest(id, memberOf(asked, 'name'), parseArguments(memberOf(asked, 'arguments')));
  });
}

/** The messages that answer those calls; there is no flag for failures, so the text says what went wrong. */
export function toOpenAIResults(answers: readonly CallAnswer[]): OpenAIToolMessage[] {
  return answers.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: plainTextOf(result) }));
}

/** Definitions for `tools` of `responses.create`. */
export function toOpenAIResponses(specs: readonly ToolSpec[]): OpenAIResponsesTool[] {
  requireExportable(specs);
  return specs.map(({ name, description, input, output }) => {
    const tool = { type: 'function', name, description, parameters: toParameters(input), strict: false } as const;
    return output?.type === 'object' ? { ...tool, output_schema: copySchema(output) } : tool;
  });
}

/** The function calls of a response, or of its `output`. */
export function fromOpenAIResponsesCalls(response: unknown): CallRequest[] {
  return entriesOf(memberOf(response, 'output') ?? response)
    .filter((item) => memberOf(item, 'type') === 'function_call')
    .map((item) =>
      toRequest(memberOf(item, 'call_id'), memberOf(item, 'name'), parseArguments(memberOf(item, 'arguments'))),
    );
}

/** The items that answer those calls, images and PDF files included. */
export function toOpenAIResponsesResults(answers: readonly CallAnswer[]): OpenAIResponsesOutput[] {
  return answers.map(({ id, result }) => {
    const parts = partsOf(result, (mimeType) => IMAGES.has(mimeType) || mimeType === 'application/pdf');
    const output = parts.every((part) => part.type === 'text') ? textIn(parts) : parts.map(toResponsesContent);
    return { type: 'function_call_output', call_id: id, output };
  });
}

function requireExportable(specs: readonly ToolSpec[]): void {
  requireDistinctNames(specs);
  requireAtMost(specs, MAX_TOOLS, 'OpenAI');
}

function toParameters(input: JsonSchema): ObjectSchema {
  const schema = mapSchema(toPrefixItems(toObjectSchema(input, FORBIDDEN_AT_ROOT)), giveItems);
  return { ...schema, type: 'object', properties: schema.properties ?? {} };
}

// OpenAI refuses arrays without a schema for their items, and takes no boolean there.
function giveItems(schema: JsonSchema): JsonSchema {
  const isArray = schema.type === 'array' || (Array.isArray(schema.type) && schema.type.includes('array'));
  if (!isArray || isRecord(schema.items)) return schema;
  const closed = schema.items === false && schema.maxItems === undefined;
  return { ...schema, items: {}, ...(closed && { maxItems: entriesOf(schema.prefixItems).length }) };
}

function toResponsesContent(part: ResultPart): OpenAIResponsesContent {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  const url = `data:${part.mimeType};base64,${part.data}`;
  if (IMAGES.has(part.mimeType)) return { type: 'input_image', image_url: url, detail: 'auto' };
  return { type: 'input_file', filename: part.name ?? 'file.pdf', file_data: url };
}
