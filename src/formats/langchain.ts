import type { CallRequest } from '../core/tool-call.ts';
import type { CallAnswer, ToolResult } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { type ObjectSchema, requireDistinctNames, toObjectSchema } from './object-schema.ts';
import {
  type ChestLike,
  callUnder,
  entriesOf,
  memberOf,
  parseArguments,
  partsOf,
  type ResultPart,
  textIn,
  toRequest,
} from './vendor-messages.ts';

/** A tool for `model.bindTools`. */
export interface LangChainTool {
  readonly name: string;
  readonly description: string;
  readonly schema: ObjectSchema;
}

/** A tool that runs: the fields that `new DynamicStructuredTool(fields)` takes, for agents. */
export interface LangChainRunnableTool extends LangChainTool {
  /** What the model reads, and the whole result beside it: LangChain itself calls whatever returns a success. */
  readonly responseFormat: 'content_and_artifact';
  readonly func: (
    input: unknown,
    runManager?: unknown,
    config?: { readonly signal?: AbortSignal },
  ) => Promise<[LangChainContent, ToolResult]>;
}

/** What the model reads of a result. */
export type LangChainContent = string | LangChainBlock[];
type LangChainBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio' | 'file'; readonly mimeType: string; readonly data: string };

/** What LangChain makes a ToolMessage of. An alias, since an interface does not count as a record there. */
export type LangChainToolMessage = {
  readonly role: 'tool';
  readonly tool_call_id: string;
  readonly name: string;
  readonly content: LangChainContent;
  readonly status: 'success' | 'error';
};

/** Definitions for `model.bindTools`; with a chest, also what runs them. */
export function toLangChain(specs: readonly ToolSpec[]): LangChainTool[];
export function toLangChain(specs: readonly ToolSpec[], chest: ChestLike): LangChainRunnableTool[];
export function toLangChain(specs: readonly ToolSpec[], chest?: ChestLike): LangChainTool[] {
  requireDistinctNames(specs);
  return specs.map(({ name, description, input }) => {
    const tool: LangChainTool = { name, description, schema: toObjectSchema(input) };
    return chest === undefined ? tool : toRunnable(tool, chest);
  });
}

/** The calls of an AIMessage, those whose arguments LangChain could not parse included. */
export function fromLangChainCalls(message: unknown): CallRequest[] {
  const calls = [...entriesOf(memberOf(message, 'tool_calls')), ...entriesOf(memberOf(message, 'invalid_tool_calls'))];
  return calls.map((call) =>
    toRequest(memberOf(call, 'id'), memberOf(call, 'name'), parseArguments(memberOf(call, 'args'))),
  );
}

/** The messages that answer those calls. */
export function toLangChainResults(answers: readonly CallAnswer[]): LangChainToolMessage[] {
  return answers.map(({ id, name, result }) => ({
    role: 'tool',
    tool_call_id: id,
    name,
    content: toContent(result),
    status: result.ok ? 'success' : 'error',
  }));
}

function toRunnable(tool: LangChainTool, chest: ChestLike): LangChainRunnableTool {
  return {
    ...tool,
    responseFormat: 'content_and_artifact',
    func: async (input, _runManager, config) => {
      const result = await callUnder(chest, tool.name, { input, signal: config?.signal });
      return [toContent(result), result];
    },
  };
}

function toContent(result: ToolResult): LangChainContent {
  const parts = partsOf(result, () => true);
  return parts.every((part) => part.type === 'text') ? textIn(parts) : parts.map(toBlock);
}

function toBlock(part: ResultPart): LangChainBlock {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const kind = part.mimeType.split('/')[0];
  return { type: kind === 'image' || kind === 'audio' ? kind : 'file', mimeType: part.mimeType, data: part.data };
}
