import { isRecord, type JsonSchema } from '../core/json.ts';
import type { CallRequest } from '../core/tool-call.ts';
import type { CallAnswer } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { type DeferralOptions, foundIn, hiddenAmong, isOwnSearch, readSent, type SentOptions } from './deferral.ts';
import {
  type ObjectSchema,
  requireAtMost,
  requireDistinctNames,
  toObjectSchema,
  toPrefixItems,
} from './object-schema.ts';
import { entriesOf, memberOf, partsOf, type ResultPart, takesNothing, toRequest } from './vendor-messages.ts';

const FORBIDDEN_AT_ROOT = ['allOf', 'anyOf', 'oneOf'];
const MAX_TOOLS = 10_000; // with deferred tools; without them, no limit is documented
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/** A tool of the Messages API. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ObjectSchema;
  readonly defer_loading?: true;
}

/** Anthropic's own search for deferred tools. */
export interface AnthropicToolSearch {
  readonly type: 'tool_search_tool_bm25_20251119';
  readonly name: 'tool_search_tool_bm25';
}
const VENDOR_SEARCH: AnthropicToolSearch = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' };

/** The result of one call; the results of a turn are the content of one user message. */
export interface AnthropicToolResult {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content?: AnthropicContent[];
  readonly is_error?: true;
}

type ImageType = 'image/gif' | 'image/jpeg' | 'image/png' | 'image/webp';

/** A part of a result. */
export type AnthropicContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_reference'; readonly tool_name: string }
  | {
      readonly type: 'image';
      readonly source: { readonly type: 'base64'; readonly media_type: ImageType; readonly data: string };
    }
  | {
      readonly type: 'document';
      readonly source: { readonly type: 'base64'; readonly media_type: 'application/pdf'; readonly data: string };
    };

/** Definitions for `tools` of `messages.create`. `search_tools`, if it is among the tools, finds `deferred` ones; otherwise Anthropic's search does. */
export function toAnthropic(specs: readonly ToolSpec[]): AnthropicTool[];
export function toAnthropic(
  specs: readonly ToolSpec[],
  options: DeferralOptions,
): (AnthropicTool | AnthropicToolSearch)[];
export function toAnthropic(
  specs: readonly ToolSpec[],
  options: DeferralOptions = {},
): (AnthropicTool | AnthropicToolSearch)[] {
  const hidden = hiddenAmong(specs, options, 'toAnthropic');
  const search = hidden.length === 0 || specs.some(isOwnSearch) ? [] : [{ ...VENDOR_SEARCH }];
  requireDistinctNames([...specs, ...search.map(({ name }) => ({ name, source: 'Anthropic' })), ...hidden]);
  if (hidden.length > 0) requireAtMost([...specs, ...search, ...hidden], MAX_TOOLS, 'Anthropic');
  const deferred = hidden.map((spec) => ({ ...toTool(spec), defer_loading: true }) as const);
  return [...specs.map(toTool), ...search, ...deferred];
}

/** The calls of an assistant message, without tools that run at Anthropic. */
export function fromAnthropicCalls(message: unknown): CallRequest[] {
  return entriesOf(memberOf(message, 'content'))
    .filter((block) => memberOf(block, 'type') === 'tool_use')
    .map((block) => toRequest(memberOf(block, 'id'), memberOf(block, 'name'), memberOf(block, 'input')));
}

/** The results of calls. Tools that a search found are loaded if they were sent as deferred. */
export function toAnthropicResults(answers: readonly CallAnswer[], options: SentOptions = {}): AnthropicToolResult[] {
  const sent = readSent(options, 'toAnthropicResults');
  return answers.map((answer) => {
    const content = referencesIn(answer, sent) ?? contentOf(answer);
    return {
      type: 'tool_result',
      tool_use_id: answer.id,
      ...(content.length > 0 && { content }),
      ...(!answer.result.ok && { is_error: true }),
    };
  });
}

/**
 * References to the tools that a search found, except tools that are already shown. If a found tool was not sent with the
 * request, the result has no references: Anthropic would reject the request, and a block cannot mix references and text.
 */
function referencesIn(answer: CallAnswer, sent: readonly object[]): AnthropicContent[] | undefined {
  const names = foundIn(answer).map(({ name }) => name);
  const isDeferred = new Map(sent.map((tool) => [memberOf(tool, 'name'), memberOf(tool, 'defer_loading') === true]));
  if (!names.every((name) => isDeferred.has(name))) return undefined;
  const loaded = names.filter((name) => isDeferred.get(name) === true);
  return loaded.length === 0 ? undefined : loaded.map((name) => ({ type: 'tool_reference', tool_name: name }));
}

function contentOf({ result }: CallAnswer): AnthropicContent[] {
  // A block marked as an error may contain only text, and no text may be empty.
  const parts = partsOf(result, result.ok ? isTaken : takesNothing);
  return parts.filter((part) => part.type !== 'text' || part.text.trim() !== '').map(toContent);
}

function toTool({ name, description, input }: ToolSpec): AnthropicTool {
  return { name, description, input_schema: toInputSchema(input) };
}

function toInputSchema(input: JsonSchema): ObjectSchema {
  const schema = toPrefixItems(toObjectSchema(input, FORBIDDEN_AT_ROOT));
  return { ...movePropertyNames(schema), type: 'object' };
}

// Anthropic rejects the whole request for an invalid key under `properties`, but not for the same key as a pattern.
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
