import type { CallRequest } from '../core/tool-call.ts';
import { ToolcribError } from '../core/tool-error.ts';
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
  plainTextOf,
  type ResultPart,
  type RunOptions,
  runnerOf,
  textIn,
  toRequest,
} from './vendor-messages.ts';

/** A tool for `model.bindTools`. */
export interface LangChainTool {
  readonly name: string;
  readonly description: string;
  readonly schema: ObjectSchema;
}

/** Options that LangChain passes to a tool with its arguments. */
interface LangChainConfig {
  readonly signal?: AbortSignal;
  /** The call of the model, if a model made it. */
  readonly toolCall?: { readonly id?: string | undefined } | undefined;
}

/**
 * A runnable tool for `createAgent`, `ToolNode` and everything else that takes a LangChain tool. It implements LangChain's
 * `StructuredToolInterface`, and also has the fields of `new DynamicStructuredTool(fields)`.
 */
export interface LangChainRunnableTool extends LangChainTool {
  /** Returns the content for the model, and the full result as artifact. */
  readonly responseFormat: 'content_and_artifact';
  readonly func: (input: unknown, runManager?: unknown, config?: LangChainConfig) => Promise<[unknown, ToolResult]>;
  /** For a call of a model, returns a `ToolMessage` with status `success` or `error`. For plain arguments, returns the content and throws failures. */
  readonly invoke: LangChainRun;
  readonly call: LangChainRun;
  readonly batch: LangChainRun;
  readonly stream: LangChainRun;
  // biome-ignore lint/suspicious/noExplicitAny: its types are LangChain's, which cannot be imported here
  readonly transform: (inputs: AsyncGenerator<any>, options?: any) => AsyncGenerator<any>;
  readonly getName: (suffix?: string) => string;
  readonly returnDirect: boolean;
  readonly lc_runnable: true;
  readonly lc_serializable: boolean;
  readonly lc_namespace: string[];
  readonly lc_id: string[];
}

// biome-ignore lint/suspicious/noExplicitAny: its types are LangChain's, which cannot be imported here
type LangChainRun = (input: any, ...options: any[]) => Promise<any>;

/** The result as the model sees it. */
export type LangChainContent = string | LangChainBlock[];
type LangChainBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio' | 'file'; readonly mimeType: string; readonly data: string };

/** Fields from which LangChain creates a ToolMessage. A type alias, because an interface is not assignable to a record. */
export type LangChainToolMessage = {
  readonly role: 'tool';
  readonly tool_call_id: string;
  readonly name: string;
  readonly content: LangChainContent;
  readonly status: 'success' | 'error';
};

/** Definitions for `model.bindTools`; with a chest, tools for `createAgent` that run through the chest. */
export function toLangChain(specs: readonly ToolSpec[]): LangChainTool[];
export function toLangChain(
  specs: readonly ToolSpec[],
  chest: ChestLike,
  options?: RunOptions,
): LangChainRunnableTool[];
export function toLangChain(specs: readonly ToolSpec[], chest?: ChestLike, options: RunOptions = {}): LangChainTool[] {
  requireDistinctNames(specs);
  const runner = chest === undefined ? undefined : runnerOf(chest, options, 'toLangChain');
  return specs.map(({ name, description, input }) => {
    const tool: LangChainTool = { name, description, schema: toObjectSchema(input) };
    return runner === undefined ? tool : toRunnable(tool, runner);
  });
}

/** The calls of an AIMessage, including those whose arguments LangChain could not parse. */
export function fromLangChainCalls(message: unknown): CallRequest[] {
  const calls = [...entriesOf(memberOf(message, 'tool_calls')), ...entriesOf(memberOf(message, 'invalid_tool_calls'))];
  return calls.map((call) =>
    toRequest(memberOf(call, 'id'), memberOf(call, 'name'), parseArguments(memberOf(call, 'args'))),
  );
}

/** The results of calls as messages. */
export function toLangChainResults(answers: readonly CallAnswer[]): LangChainToolMessage[] {
  return answers.map(({ id, name, result }) => ({
    role: 'tool',
    tool_call_id: id,
    name,
    content: toContent(result),
    status: result.ok ? 'success' : 'error',
  }));
}

const NAMESPACE = ['langchain', 'tools'];

/** A schema that accepts everything: the chest validates arguments. LangChain would throw, and the call would not be recorded. */
const UNCHECKED = { type: 'object' } as const;

function toRunnable(tool: LangChainTool, chest: ChestLike): LangChainRunnableTool {
  const { name } = tool;
  const fields = {
    ...tool,
    responseFormat: 'content_and_artifact',
    func: async (input: unknown, _runManager?: unknown, config?: LangChainConfig): Promise<[unknown, ToolResult]> => {
      const result = await callUnder(chest, name, { input, signal: config?.signal });
      if (result.status !== 'failed') return [toContent(result), result];
      return [await toFailure(result, name, config?.toolCall?.id), result];
    },
  } as const;
  let made: Promise<LangChainOwnTool> | undefined;
  const load = (): Promise<LangChainOwnTool> => {
    made ??= importTools().then(
      ({ DynamicStructuredTool }) => new DynamicStructuredTool({ ...fields, schema: UNCHECKED }),
    );
    return made;
  };
  return {
    ...fields,
    invoke: async (input, config) => (await load()).invoke(input, config),
    call: async (input, config) => (await load()).invoke(input, config),
    batch: async (inputs, options, batchOptions) => (await load()).batch(inputs, options, batchOptions),
    stream: async (input, options) => (await load()).stream(input, options),
    async *transform(inputs, options) {
      yield* (await load()).transform(inputs, options);
    },
    getName: (suffix = '') => `${name}${suffix}`,
    returnDirect: false,
    lc_runnable: true,
    lc_serializable: false,
    lc_namespace: NAMESPACE,
    lc_id: [...NAMESPACE, name],
  };
}

// LangChain is loaded lazily: creating definitions does not need it.
const importTools = () => import('@langchain/core/tools').catch(explainMissing);
const importMessages = () => import('@langchain/core/messages').catch(explainMissing);
type LangChainOwnTool = InstanceType<Awaited<ReturnType<typeof importTools>>['DynamicStructuredTool']>;

function explainMissing(cause: unknown): never {
  const message = 'toLangChain needs the package @langchain/core to run tools. Install it: npm install @langchain/core';
  throw new ToolcribError('missing_package', message, { cause });
}

/** A failure as a message with status `error`, because LangChain treats every other return value as success. Throws if no model made the call. */
async function toFailure(result: ToolResult, name: string, id: string | undefined): Promise<unknown> {
  const content = toContent(result);
  if (id === undefined) throw new Error(plainTextOf(result));
  const { ToolMessage } = await importMessages();
  return new ToolMessage({ status: 'error', content, artifact: result, tool_call_id: id, name });
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
