import { isPromise, isRecord, type JsonValue } from '../core/json.ts';
import { readMember } from '../core/read-options.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { done, toResult } from '../core/tool-result.ts';
import { type ForeignTool, ownParts, partOf, toContents, toFailure } from './foreign-parts.ts';

/** Members of an AI SDK tool that a crib does not use as its own. */
const THEIRS = [
  ...['type', 'id', 'name', 'args', 'inputSchema', 'parameters', 'outputSchema', 'contextSchema', 'inputExamples'],
  ...['execute', 'toModelOutput', 'needsApproval', 'requireApproval', 'strict', 'metadata', 'providerOptions'],
  ...[
    'onInputStart',
    'onInputDelta',
    'onInputAvailable',
    'supportsDeferredResults',
    'deferLoading',
    'isProviderExecuted',
  ],
];

/** True for the result of `tool()` of the AI SDK. Versions before 5 name the schema `parameters`. */
export function isAiSdk(tool: object): boolean {
  return 'inputSchema' in tool || ('parameters' in tool && 'execute' in tool);
}

/** Converts an AI SDK tool to a plain tool. It has no name of its own, so the caller passes one. */
export function fromAiSdk(tool: object, name: unknown): object {
  const foreign: ForeignTool = {
    tool,
    about: `Tool ${typeof name === 'string' ? `"${name}"` : 'without a name'} of the AI SDK`,
  };
  if (name === undefined)
    throw new ToolcribError('invalid_name', `${foreign.about}: pass it as { my_tool: tool } or { name, ...tool }.`);
  const execute = partOf(foreign, 'execute');
  if (typeof execute !== 'function') {
    const isTheirs = /^provider/.test(String(partOf(foreign, 'type')));
    const why = isTheirs ? 'is run by its provider' : 'has no execute';
    throw new ToolcribError('not_a_tool', `${foreign.about} ${why}, so a crib cannot run it.`);
  }
  const { policy, ...own } = ownParts(foreign, THEIRS);
  return {
    description: '',
    ...own,
    name,
    input: readSchema(foreign),
    ...readApproval(foreign, policy),
    run: createRun(foreign, (input, options) => execute.call(tool, input, options)),
  };
}

/** A tool that may need approval always requires it, because its own check would come too late. */
function readApproval(foreign: ForeignTool, policy: unknown): object {
  const needs = partOf(foreign, 'needsApproval') ?? partOf(foreign, 'requireApproval') ?? false;
  if (needs === false) return policy === undefined ? {} : { policy };
  return { policy: { ...(isRecord(policy) && policy), approval: 'always' } };
}

/** The second argument of `execute`. */
interface ExecuteOptions {
  readonly toolCallId: string;
  readonly messages: readonly never[];
  readonly abortSignal: AbortSignal;
  readonly context: unknown;
  readonly experimental_context: unknown;
}

function createRun(foreign: ForeignTool, execute: (input: unknown, options: ExecuteOptions) => unknown) {
  const toModelOutput = partOf(foreign, 'toModelOutput');
  const finish = async (input: unknown, call: ToolCall, output: unknown): Promise<unknown> => {
    if (typeof toModelOutput !== 'function' || toResult(output) === output) return output; // a ToolResult is passed on unchanged
    return toAnswer(await toModelOutput.call(foreign.tool, { toolCallId: call.id, input, output }), output);
  };
  return async function run(input: unknown, call: ToolCall): Promise<unknown> {
    const { id: toolCallId, signal: abortSignal, context } = call;
    const options = { toolCallId, messages: [], abortSignal, context, experimental_context: context };
    const returned = await execute(input, options);
    if (!isAsyncIterable(returned)) return finish(input, call, returned);
    return (async function* stream() {
      let last: unknown;
      for await (last of returned) yield last; // each value replaces the previous one
      return finish(input, call, last);
    })();
  };
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** A result with the content for the model and the output as data. */
function toAnswer(shown: unknown, output: unknown): unknown {
  if (!isRecord(shown)) return output;
  const { type, value, reason } = shown;
  if (type === 'execution-denied') return toFailure('denied', reason ?? 'The tool denied this call.');
  if (type === 'error-text' || type === 'error-json') return toFailure('tool_error', value);
  const contents = type === 'content' ? toContents(value) : undefined;
  const text = type === 'text' && typeof value === 'string' ? value : undefined;
  if (contents === undefined && text === undefined) return type === 'json' ? value : output;
  const plain = toResult(output);
  return done(contents ?? text ?? '', plain.ok ? (plain.data as JsonValue | undefined) : undefined); // toResult has checked it
}

/** Reads a schema of the AI SDK: a Standard Schema, the result of `jsonSchema()`, or a function that returns either. */
function readSchema(foreign: ForeignTool): unknown {
  const given = partOf(foreign, 'inputSchema') ?? partOf(foreign, 'parameters');
  const isLazy = typeof given === 'function' && !('~standard' in given);
  const schema: unknown = isLazy ? given.call(undefined) : given;
  if (!isRecord(schema) || !('jsonSchema' in schema)) return schema;
  const json = readMember(schema, 'jsonSchema', `the schema of ${foreign.about}`);
  if (isPromise(json))
    throw new ToolcribError(
      'invalid_schema',
      `The schema of ${foreign.about} is a promise; await it, or pass a JSON Schema.`,
    );
  const { validate } = schema;
  if (typeof validate !== 'function') return json;
  const check = async (value: unknown): Promise<unknown> => {
    const checked: unknown = await validate.call(schema, value);
    if (!isRecord(checked) || checked.success === true) return { value: isRecord(checked) ? checked.value : value };
    return { issues: [{ message: messageOf(checked.error, 'does not match the schema') }] };
  };
  return { '~standard': { version: 1, vendor: 'ai', validate: check, jsonSchema: { input: () => json } } };
}
