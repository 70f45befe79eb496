import { describe, readOptions } from '../core/read-options.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolDescription } from './define-tool.ts';
import { type ForeignTool, ownParts, partOf } from './foreign-parts.ts';

/** A function in the format of OpenAI. */
interface OpenAIFunction {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly parameters?: object | null | undefined;
  readonly strict?: boolean | null | undefined;
  /** The implementation, as for `runTools` of the OpenAI library. */
  // biome-ignore lint/suspicious/noExplicitAny: the function declares its own argument type
  readonly function?: (input: any, call: any) => unknown;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly parse?: (input: any) => unknown;
}

/** A definition for the chat completions API or the responses API, with its implementation. */
export type OpenAIDefinition = Partial<Omit<ToolDescription, 'name' | 'description'>> & {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: the function declares its own argument type
  readonly execute?: (input: any, call: ToolCall) => unknown;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly run?: (input: any, call: ToolCall) => unknown;
} & ({ readonly function: OpenAIFunction } | Omit<OpenAIFunction, 'function' | 'parse'>);

const FUNCTION_KEYS = ['name', 'description', 'parameters', 'strict', 'function', 'parse'] as const;
/** Members of the outer object that Toolcrib's own tools do not have. */
const OUTER_KEYS = ['type', 'function', 'parameters', 'strict'];

/** True for a definition for the chat completions API or the responses API of OpenAI. */
export function isOpenAI(tool: object): boolean {
  if (!('type' in tool) || typeof tool.type !== 'string' || tool.type === 'provider') return false;
  return tool.type === 'function' ? 'function' in tool || 'parameters' in tool : !('inputSchema' in tool);
}

/** Converts an OpenAI definition with its implementation to a plain tool. */
export function fromOpenAI(tool: object): object {
  const definition: unknown = partOf({ tool, about: 'A tool' }, 'function') ?? tool;
  const name = typeof definition === 'object' && definition !== null && 'name' in definition ? definition.name : '';
  const foreign: ForeignTool = { tool, about: `Tool ${describe(name)}` };
  const type = partOf(foreign, 'type');
  if (type !== 'function')
    throw new ToolcribError(
      'not_a_tool',
      `Definitions of type ${describe(type)} run at OpenAI; a crib accepts only type "function".`,
    );
  const outer = ownParts(foreign, OUTER_KEYS);
  const inner =
    definition === tool
      ? { name, parameters: partOf(foreign, 'parameters') }
      : readOptions<OpenAIFunction>(definition, FUNCTION_KEYS, foreign.about);
  const { parameters, strict: _strict, parse: _parse, function: work, ...described } = inner as OpenAIFunction; // readOptions has checked the keys
  const callback = work ?? partOf(foreign, '$callback');
  const run = outer.run ?? outer.execute ?? callback;
  if (run === undefined)
    throw new ToolcribError(
      'not_a_tool',
      `${foreign.about} has no implementation: add execute next to its definition.`,
    );
  const { execute: _execute, ...rest } = outer;
  return { ...rest, ...withoutNull(described), ...(parameters && { input: parameters }), run };
}

function withoutNull(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));
}
