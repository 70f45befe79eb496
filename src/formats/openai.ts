import { isRecord, type JsonSchema } from '../core/json.ts';
import type { CallRequest } from '../core/tool-call.ts';
import type { CallAnswer } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import {
  type DeferralOptions,
  foundIn,
  hiddenAmong,
  isOwnSearch,
  readSent,
  SEARCH_NAME,
  type SentOptions,
} from './deferral.ts';
import {
  copySchema,
  mapSchema,
  type ObjectSchema,
  requireAtMost,
  requireDistinctNames,
  shorten,
  toObjectSchema,
  toPrefixItems,
} from './object-schema.ts';
import {
  entriesOf,
  memberOf,
  parseArguments,
  partsOf,
  plainTextOf,
  type ResultPart,
  textIn,
  toRequest,
} from './vendor-messages.ts';

const IMAGES = new Set(['image/gif', 'image/jpeg', 'image/png', 'image/webp']);

/** A tool of the Responses API. */
export interface OpenAIResponsesTool {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  readonly parameters: ObjectSchema;
  /** Never strict: strict mode requires all arguments and supports only a part of JSON Schema. */
  readonly strict: false;
  readonly output_schema?: JsonSchema;
  readonly defer_loading?: true;
}

/** The search for deferred tools: by the crib if `execution` is `client`, otherwise by OpenAI. */
export interface OpenAIToolSearch {
  readonly type: 'tool_search';
  readonly execution?: 'client';
  readonly description?: string;
  readonly parameters?: ObjectSchema;
}

/** The result of one call in the Responses API. */
export interface OpenAIResponsesOutput {
  readonly type: 'function_call_output';
  readonly call_id: string;
  readonly output: string | OpenAIResponsesContent[];
}

/** The result of a search: the definitions to load. */
export interface OpenAIToolSearchOutput {
  readonly type: 'tool_search_output';
  readonly call_id: string;
  readonly execution: 'client';
  /** The only way to report a failure: a search result has no text. */
  readonly status: 'completed' | 'incomplete';
  readonly tools: OpenAIResponsesTool[];
}

/** A part of a result with more than text. */
export type OpenAIResponsesContent =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail: 'auto' }
  | { readonly type: 'input_file'; readonly filename: string; readonly file_data: string };

/** Definitions for `tools` of `responses.create`. `search_tools`, if it is among the tools, finds `deferred` ones; otherwise OpenAI's search does. */
export function toOpenAIResponses(specs: readonly ToolSpec[]): OpenAIResponsesTool[];
export function toOpenAIResponses(
  specs: readonly ToolSpec[],
  options: DeferralOptions,
): (OpenAIResponsesTool | OpenAIToolSearch)[];
export function toOpenAIResponses(
  specs: readonly ToolSpec[],
  options: DeferralOptions = {},
): (OpenAIResponsesTool | OpenAIToolSearch)[] {
  const hidden = hiddenAmong(specs, options, 'toOpenAIResponses');
  requireDistinctNames([...specs, ...hidden]);
  if (hidden.length > 0 && specs.some(isOwnSearch)) {
    requireExportable(specs); // search results contain the definitions, so deferred tools are not sent
    return specs.map((spec) => (isOwnSearch(spec) ? toSearch(spec) : toFunction(spec)));
  }
  requireExportable([...specs, ...hidden]);
  const deferred = hidden.map((spec) => ({ ...toFunction(spec), defer_loading: true }) as const);
  return [...specs.map(toFunction), ...deferred, ...(hidden.length > 0 ? [{ type: 'tool_search' } as const] : [])];
}

/** The function calls of a response or of its `output`, and the searches that the crib runs. */
export function fromOpenAIResponsesCalls(response: unknown): CallRequest[] {
  return entriesOf(memberOf(response, 'output') ?? response).flatMap((item) => {
    const name = nameOfCall(item);
    return name === undefined
      ? []
      : toRequest(memberOf(item, 'call_id'), name, parseArguments(memberOf(item, 'arguments')));
  });
}

/** The results of calls, including images and PDF files. The result of a search item loads the tools that it found. */
export function toOpenAIResponsesResults(answers: readonly CallAnswer[]): OpenAIResponsesOutput[];
export function toOpenAIResponsesResults(
  answers: readonly CallAnswer[],
  options: SentOptions,
): (OpenAIResponsesOutput | OpenAIToolSearchOutput)[];
export function toOpenAIResponsesResults(
  answers: readonly CallAnswer[],
  options: SentOptions = {},
): (OpenAIResponsesOutput | OpenAIToolSearchOutput)[] {
  const sent = readSent(options, 'toOpenAIResponsesResults');
  const isSearched = sent.some((tool) => memberOf(tool, 'type') === 'tool_search' && isOurs(tool));
  const shown = new Set(sent.map((tool) => memberOf(tool, 'name')));
  return answers.map((answer) =>
    isSearched && answer.name === SEARCH_NAME ? toSearchOutput(answer, shown) : toCallOutput(answer),
  );
}

function toFunction({ name, description, input, output }: ToolSpec): OpenAIResponsesTool {
  const tool = { type: 'function', name, description, parameters: toParameters(input), strict: false } as const;
  return output?.type === 'object' ? { ...tool, output_schema: copySchema(output) } : tool;
}

function toSearch({ description, input }: ToolSpec): OpenAIToolSearch {
  return { type: 'tool_search', execution: 'client', description, parameters: toParameters(input) };
}

function nameOfCall(item: unknown): unknown {
  const type = memberOf(item, 'type');
  if (type === 'function_call') return memberOf(item, 'name') ?? '';
  return type === 'tool_search_call' && isOurs(item) ? SEARCH_NAME : undefined;
}

// OpenAI runs and answers its own searches.
function isOurs(search: unknown): boolean {
  return memberOf(search, 'execution') === 'client';
}

function toCallOutput({ id, result }: CallAnswer): OpenAIResponsesOutput {
  const parts = partsOf(result, (mimeType) => IMAGES.has(mimeType) || mimeType === 'application/pdf');
  const output = parts.every((part) => part.type === 'text') ? textIn(parts) : parts.map(toResponsesContent);
  return { type: 'function_call_output', call_id: id, output };
}

// Tools that the model already sees are not loaded again: names must be unique.
function toSearchOutput(answer: CallAnswer, shown: ReadonlySet<unknown>): OpenAIToolSearchOutput {
  const tools = foundIn(answer)
    .filter(({ name }) => !shown.has(name))
    .map(({ name, description, input }): OpenAIResponsesTool => {
      const parameters = toParameters(input);
      return { type: 'function', name, description, parameters, strict: false, defer_loading: true };
    });
  const status = answer.result.ok ? 'completed' : 'incomplete';
  return { type: 'tool_search_output', call_id: answer.id, execution: 'client', status, tools };
}

function toResponsesContent(part: ResultPart): OpenAIResponsesContent {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  const url = `data:${part.mimeType};base64,${part.data}`;
  if (IMAGES.has(part.mimeType)) return { type: 'input_image', image_url: url, detail: 'auto' };
  return { type: 'input_file', filename: part.name ?? 'file.pdf', file_data: url };
}

// OpenAI's newest models accept more; Azure and other compatible services reject the whole request.
const MAX_CHAT_DESCRIPTION = 1024;

/** A tool of the Chat Completions API. */
export interface OpenAITool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: ObjectSchema };
}

/** The result of one call in the Chat Completions API. */
export interface OpenAIToolMessage {
  readonly role: 'tool';
  readonly tool_call_id: string;
  readonly content: string;
}

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
    const custom = memberOf(call, 'custom'); // never sent by us, but each call needs an answer
    if (custom !== undefined) return toRequest(id, memberOf(custom, 'name'), memberOf(custom, 'input'));
    const asked = memberOf(call, 'function');
    return toRequest(id, memberOf(asked, 'name'), parseArguments(memberOf(asked, 'arguments')));
  });
}

/** The results of calls as messages. The API has no error flag, so the text contains the error. */
export function toOpenAIResults(answers: readonly CallAnswer[]): OpenAIToolMessage[] {
  return answers.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: plainTextOf(result) }));
}

const MAX_TOOLS = 128;
const FORBIDDEN_AT_ROOT = ['allOf', 'anyOf', 'const', 'enum', 'not', 'oneOf'];

/** Throws if either API would reject the whole request. */
function requireExportable(specs: readonly ToolSpec[]): void {
  requireDistinctNames(specs);
  requireAtMost(specs, MAX_TOOLS, 'OpenAI');
}

/** The input schema in the form that both APIs accept. */
function toParameters(input: JsonSchema): ObjectSchema {
  const schema = mapSchema(toPrefixItems(toObjectSchema(input, FORBIDDEN_AT_ROOT)), giveItems);
  return { ...schema, type: 'object', properties: schema.properties ?? {} };
}

// OpenAI rejects arrays without an `items` schema, and boolean schemas there.
function giveItems(schema: JsonSchema): JsonSchema {
  const isArray = schema.type === 'array' || (Array.isArray(schema.type) && schema.type.includes('array'));
  if (!isArray || isRecord(schema.items)) return schema;
  const closed = schema.items === false && schema.maxItems === undefined;
  return { ...schema, items: {}, ...(closed && { maxItems: entriesOf(schema.prefixItems).length }) };
}
