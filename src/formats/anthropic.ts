import type { JsonSchema } from '../core/json.ts';
import type { CallRequest } from '../core/tool-call.ts';
import type { CallAnswer } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { isRecord, toPrefixItems } from './map-schema.ts';
import { type ObjectSchema, toObjectSchema } from './object-schema.ts';
import { entriesOf, memberOf, toRequest } from './read-calls.ts';
import { partsOf, type ResultPart, takesNothing } from './result-parts.ts';
import { requireDistinctNames } from './vendor-limits.ts';

const FORBIDDEN_AT_ROOT = ['allOf', 'anyOf', 'oneOf'];
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/** A tool of the messages API. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ObjectSchema;
}

/** The block that answers one call; the blocks of a turn are the content of one user message. */
export interface AnthropicToolResult {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content?: AnthropicContent[];
  readonly is_error?: true;
}

type ImageType = 'image/gif' | 'image/jpeg' | 'image/png' | 'image/webp';

/** A piece of an answer. */
export type AnthropicContent =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image';
      readonly source: { readonly type: 'base64'; readonly media_type: ImageType; readonly data: string };
    }
  | {
      readonly type: 'document';
      readonly source: { readonly type: 'base64'; readonly media_type: 'application/pdf'; readonly data: string };
    };

/** Definitions for `tools` of `messages.create`. */
export function toAnthropic(specs: readonly ToolSpec[]): AnthropicTool[] {
  requireDistinctNames(specs);
  return specs.map(({ name, description, input }) => ({ name, description, input_schema: toInputSchema(input) }));
}

/** The calls of an assistant message; tools that run at Anthropic are none of ours. */
export function fromAnthropicCalls(message: unknown): CallRequest[] {
  return entriesOf(memberOf(message, 'content'))
    .filter((block) => memberOf(block, 'type') === 'tool_use')
    .map((block) => toRequest(memberOf(block, 'id'), memberOf(block, 'name'), memberOf(block, 'input')));
}

/** The blocks that answer those calls. */
export function toAnthropicResults(answers: readonly CallAnswer[]): AnthropicToolResult[] {
  return answers.map(({ id, result }) => {
    // A block marked as an error may hold nothing but text, and no text may be empty.
    const parts = partsOf(result, result.ok ? isTaken : takesNothing);
    const content = parts.filter((part) => part.type !== 'text' || part.text.trim() !== '').map(toContent);
    return {
      type: 'tool_result',
      tool_use_id: id,
      ...(content.length > 0 && { content }),
      ...(!result.ok && { is_error: true }),
    };
  });
}

function toInputSchema(input: JsonSchema): ObjectSchema {
  const schema = toPrefixItems(toObjectSchema(input, FORBIDDEN_AT_ROOT));
  return { ...movePropertyNames(schema), type: 'object' };
}

// One key under `properties` that Anthropic does not like fails the whole request; the same key as a pattern does not.
function movePropertyNames(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  if (!isRecord(properties) || Object.keys(properties).every((name) => PROPERTY_NAME.test(name))) return schema;
  const kept: Record<string, unknown> = {};
  const patterns: Record<string, unknown> = isRecord(schema.patternProperties) ? { ...schema.patternProperties } : {};
  for (const [name, property] of Object.entries(properties)) {
    if (PROPERTY_NAME.test(name)) kept[name] = property;
    else patterns[`^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`] = property;
  }
  return { ...schema, properties: kept, patternProperties: patterns };
}

function toContent(part: ResultPart): AnthropicContent {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { mimeType, data } = part;
  if (isImage(mimeType)) return { type: 'image', source: { type: 'base64', media_type: mimeType, data } };
  return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } };
}

function isTaken(mimeType: string): boolean {
  return isImage(mimeType) || mimeType === 'application/pdf';
}

function isImage(mimeType: string): mimeType is ImageType {
  return mimeType === 'image/gif' || mimeType === 'image/jpeg' || mimeType === 'image/png' || mimeType === 'image/webp';
}
