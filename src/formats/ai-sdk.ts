import type { JsonSchema } from '../core/json.ts';
import type { CallRequest } from '../core/tool-call.ts';
import type { CallAnswer, ToolResult } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { requireDistinctNames, toObjectSchema } from './object-schema.ts';
import {
  type ChestLike,
  callUnder,
  entriesOf,
  memberOf,
  parseArguments,
  partsOf,
  plainTextOf,
  type ResultPart,
  type RunOptions,
  runnerOf,
  textIn,
  toRequest,
} from './vendor-messages.ts';

/** The symbol with which `jsonSchema()` of the AI SDK marks a schema. It is not imported, because the SDK is optional. */
const SCHEMA_MARK = Symbol.for('vercel.ai.schema');

/** A JSON Schema for the AI SDK. The SDK does not validate arguments; the crib does. */
export interface AiSdkSchema {
  readonly jsonSchema: JsonSchema;
  readonly validate: undefined;
  /** For the type checker, which cannot see the symbol. */
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'toolcrib';
    readonly validate: (value: unknown) => { readonly value: unknown };
  };
}

/** A tool for `generateText` and similar functions. Without a chest it has no `execute`, and the loop stops at its calls. */
export interface AiSdkTool {
  readonly type: 'dynamic';
  /** Its name. Mastra requires an id, the types of the AI SDK forbid it; `never` fits both. */
  readonly id: never;
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  readonly execute?: (
    input: unknown,
    options: { readonly abortSignal?: AbortSignal | undefined },
  ) => Promise<ToolResult>;
  /** The AI SDK passes `{ output }`, Mastra the output itself. */
  readonly toModelOutput: (ended: { readonly output: ToolResult } | ToolResult) => AiSdkOutput;
}

/** The result as the model sees it. */
export type AiSdkOutput =
  | { readonly type: 'text' | 'error-text'; readonly value: string }
  | { readonly type: 'content'; readonly value: AiSdkContent[] };

/** A part of a result with more than text. */
export type AiSdkContent =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'file';
      readonly mediaType: string;
      readonly data: { readonly type: 'data'; readonly data: string };
      readonly filename?: string;
    };

/** The result of one call; the results of a turn are the content of one `tool` message. */
export interface AiSdkResult {
  readonly type: 'tool-result';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: AiSdkOutput;
}

/** The `tools` of `generateText`; with a chest, they run through it. */
export function toAiSdk(
  specs: readonly ToolSpec[],
  chest?: ChestLike,
  options: RunOptions = {},
): Record<string, AiSdkTool> {
  requireDistinctNames(specs);
  const runner = chest === undefined ? undefined : runnerOf(chest, options, 'toAiSdk');
  return Object.fromEntries(specs.map((spec) => [spec.name, toTool(spec, runner)]));
}

/** The calls of a result or of an assistant message, without those that the provider ran itself. */
export function fromAiSdkCalls(message: unknown): CallRequest[] {
  const parts = entriesOf(memberOf(message, 'content')).filter((part) => memberOf(part, 'type') === 'tool-call');
  const calls = memberOf(message, 'toolCalls');
  return (Array.isArray(calls) ? entriesOf(calls) : parts)
    .filter((call) => memberOf(call, 'providerExecuted') !== true)
    .map((call) =>
      toRequest(memberOf(call, 'toolCallId'), memberOf(call, 'toolName'), parseArguments(memberOf(call, 'input'))),
    );
}

/** The results of calls, for a `tool` message. */
export function toAiSdkResults(answers: readonly CallAnswer[]): AiSdkResult[] {
  return answers.map(({ id, name, result }) => ({
    type: 'tool-result',
    toolCallId: id,
    toolName: name,
    output: toOutput(result),
  }));
}

function toTool({ name, description, input }: ToolSpec, chest: ChestLike | undefined): AiSdkTool {
  const tool: AiSdkTool = {
    type: 'dynamic',
    id: name as never, // `never` in its type
    description,
    inputSchema: toSchema(toObjectSchema(input)),
    toModelOutput: (ended) => toOutput('output' in ended ? ended.output : ended),
  };
  if (chest === undefined) return tool;
  return {
    ...tool,
    execute: (asked, options) => callUnder(chest, name, { input: asked, signal: options.abortSignal }),
  };
}

function toSchema(jsonSchema: JsonSchema): AiSdkSchema {
  const schema: AiSdkSchema = {
    jsonSchema,
    validate: undefined,
    '~standard': { version: 1, vendor: 'toolcrib', validate: (value) => ({ value }) },
  };
  return Object.assign(schema, { [SCHEMA_MARK]: true });
}

function toOutput(result: ToolResult): AiSdkOutput {
  if (!result.ok) return { type: 'error-text', value: plainTextOf(result) };
  const parts = partsOf(result, () => true);
  if (parts.every((part) => part.type === 'text')) return { type: 'text', value: textIn(parts) };
  return { type: 'content', value: parts.map(toContent) };
}

function toContent(part: ResultPart): AiSdkContent {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const file = { type: 'file', mediaType: part.mimeType, data: { type: 'data', data: part.data } } as const;
  return part.name === undefined ? file : { ...file, filename: part.name };
}
