import { isPromise, isRecord } from '../core/json.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { done } from '../core/tool-result.ts';
import type { Parsed } from '../core/tool-spec.ts';
import { type SchemaPair, toSchemaPair } from '../schemas/standard-schema.ts';
import { type ForeignTool, partOf, toContents, toFailure } from './foreign-parts.ts';

/** True for a LangChain tool: `tool()`, `DynamicStructuredTool`, or a class that extends `StructuredTool`. */
export function isLangChain(tool: object): boolean {
  return 'invoke' in tool && typeof tool.invoke === 'function' && 'schema' in tool && 'lc_namespace' in tool;
}

/** Converts a LangChain tool to a plain tool. */
export function fromLangChain(tool: object): object {
  const name = partOf({ tool, about: 'A tool of LangChain' }, 'name');
  const foreign: ForeignTool = { tool, about: `Tool "${String(name)}" of LangChain` };
  const invoke = partOf(foreign, 'invoke') as (input: unknown, config: object) => unknown; // isLangChain has checked it
  const run = async (input: unknown, call: ToolCall): Promise<unknown> =>
    toAnswer(await invoke.call(tool, input, { signal: call.signal }), foreign.about);
  return { name, description: partOf(foreign, 'description') ?? '', input: readSchema(foreign), run };
}

function readSchema(foreign: ForeignTool): object {
  const schema = partOf(foreign, 'schema');
  return isOneText(schema) ? ONE_TEXT : checkOnly(toSchemaPair(schema, 'input'));
}

const ONE_TEXT = { type: 'object', properties: { input: { type: 'string' } } };

/** True for the schema that LangChain builds from zod 3 and a transform for a tool with a single string argument. */
function isOneText(schema: unknown): boolean {
  const inner = isRecord(schema) && isRecord(schema._def) ? schema._def.schema : undefined;
  const shape: unknown = isRecord(inner) ? inner.shape : undefined;
  return isRecord(shape) && Object.keys(shape).join() === 'input' && isTransform(schema);
}

function isTransform(schema: unknown): boolean {
  return isRecord(schema) && isRecord(schema._def) && schema._def.typeName === 'ZodEffects';
}

/** Validates but passes the original value on: LangChain parses arguments itself, and a transform must not run twice. */
function checkOnly({ schema, parse }: SchemaPair): object {
  if (parse === undefined) return schema;
  const settle = (parsed: Parsed, value: unknown) =>
    parsed.ok ? { value } : { issues: parsed.issues.map(({ path, message }) => ({ message, path: keysOf(path) })) };
  const validate = (value: unknown) => {
    const parsed = parse(value);
    return isPromise(parsed) ? parsed.then((ended) => settle(ended, value)) : settle(parsed, value);
  };
  return { '~standard': { version: 1, vendor: 'langchain', validate, jsonSchema: { input: () => schema } } };
}

function keysOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Converts the return value of `invoke`: a value, content, or a tool message with a status. */
function toAnswer(returned: unknown, about: string): unknown {
  if (!isRecord(returned) || returned.lc_direct_tool_output !== true) {
    const contents = toContents(returned);
    return contents === undefined ? returned : done(contents);
  }
  const { type, status, content } = returned;
  if (type !== 'tool')
    throw new ToolcribError(
      'not_json',
      `${about} returned a Command, which only a LangGraph graph can execute; return a value or content instead.`,
    );
  if (status === 'error') return toFailure('tool_error', content);
  const contents = toContents(content);
  return contents === undefined ? content : done(contents);
}
