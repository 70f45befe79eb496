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

/** Options that LangChain hands to a tool beside its arguments. */
interface LangChainConfig {
  readonly signal?: AbortSignal;
  /** The call that is answered, where the caller is a model. */
  readonly toolCall?: { readonly id?: string | undefined } | undefined;
}

/**
 * A tool that runs: for `createAgent`, `ToolNode` and wherever LangChain takes a tool of its own. It has the fields that
 * `new DynamicStructuredTool(fields)` takes, too. Its members are those of LangChain's `StructuredToolInterface`.
 */
export interface LangChainRunnableTool extends LangChainTool {
  /** What the model reads, and the whole result beside it. */
  readonly responseFormat: 'content_and_artifact';
  readonly func: (input: unknown, runManager?: unknown, config?: LangChainConfig) => Promise<[unknown, ToolResult]>;
  /** A call of a model is answered with a `ToolMessage` of status `success` or `error`, plain arguments with the content; then a failure is thrown. */
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

/** Definitions for `model.bindTools`; with a chest, tools for `createAgent`, which it runs. */
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

const NAMESPACE = ['langchain', 'tools'];

/** The chest checks arguments and says what is wrong with them; LangChain would throw without a record of the call. */
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

// LangChain is never loaded by who only makes definitions.
const importTools = () => import('@langchain/core/tools').catch(explainMissing);
const importMessages = () => import('@langchain/core/messages').catch(explainMissing);
type LangChainOwnTool = InstanceType<Awaited<ReturnType<typeof importTools>>['DynamicStructuredTool']>;

function explainMissing(cause: unknown): never {
  const message = 'To run tools, toLangChain needs the package @langchain/core: npm install @langchain/core';
  throw new ToolcribError('missing_package', message, { cause });
}

/** LangChain calls whatever a tool returns a success, but for a message that says otherwise; outside of a model's call it throws. */
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
