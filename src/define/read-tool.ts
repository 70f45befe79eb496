import { isPromise, isRecord } from '../core/json.ts';
import { describe, readMember } from '../core/read-options.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { type Class, isClass, makeTool, nameOfClass } from '../system/modules/tool-class.ts';
import { fromAiSdk, isAiSdk } from './ai-sdk-tools.ts';
import { isToolSpec, TOOL_KEYS, type ToolDescription, type ToolInput, toToolSpec } from './define-tool.ts';
import { fromLangChain, isLangChain } from './langchain-tools.ts';
import { fromOpenAI, isOpenAI, type OpenAIDefinition } from './openai-tools.ts';
import { fromInstance } from './tool-instance.ts';

/** A tool in any form that a crib accepts: its own, a class or an instance, an OpenAI definition with its implementation, a LangChain tool; or tools by name, as in the AI SDK. */
export type AnyTool =
  | ToolInput
  | ToolObject
  | ToolClass
  | OpenAIDefinition
  | LangChainToolObject
  | (AiSdkToolObject & { readonly name: string })
  | MastraToolObject
  | NamedTools;

// biome-ignore lint/suspicious/noExplicitAny: the method declares its own argument type
type Method = (input: any, call: ToolCall) => unknown;

/** An instance of a tool class. Its schema may have one of several names. Other members are ignored. */
export type ToolObject = {
  readonly [Key in Exclude<keyof ToolDescription, 'name' | 'description'>]?: ToolDescription[Key] | null | undefined;
} & {
  readonly name: string;
  readonly description: string;
  readonly input?: object | null | undefined;
  readonly inputSchema?: object | null | undefined;
  readonly input_schema?: object | null | undefined;
  readonly parameters?: object | null | undefined;
  readonly parametersSchema?: object | null | undefined;
  readonly parameters_schema?: object | null | undefined;
  readonly schema?: object | null | undefined;
} & ({ readonly execute: Method } | { readonly run: Method });

/** A tool class. Its instance is created by `new` without arguments, or by its static `create()`. */
export type ToolClass = (new () => ToolMade) | { readonly prototype: object; create(): ToolMade };
type ToolMade = ToolObject | LangChainToolObject;

/** The part of a LangChain tool that a crib uses. */
interface LangChainToolObject {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
  readonly lc_namespace: string[];
  // biome-ignore lint/suspicious/noExplicitAny: its types are LangChain's
  invoke(input: any, config?: any): Promise<any>;
}

/** The part of an AI SDK tool that a crib uses. */
interface AiSdkToolObject {
  readonly inputSchema: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: its types are those of the AI SDK
  readonly execute?: ((input: any, options: any) => any) | undefined;
}

/** A Mastra tool: an AI SDK tool whose id is its name. */
interface MastraToolObject extends Partial<AiSdkToolObject> {
  readonly id: string;
}

/** Tools by name. The key names tools without a name of their own, such as AI SDK tools. */
export interface NamedTools {
  readonly [name: string]: AiSdkToolObject | MastraToolObject | ToolSpec | ToolObject | ToolClass | LangChainToolObject;
}

const NAME: unique symbol = Symbol('toolcrib.name');

/** A tool and its key in a record. */
interface NamedTool {
  readonly [NAME]: string;
  readonly tool: unknown;
}

/** Flattens a tool, a list of tools, or a record of tools to a list. */
export function listTools(tools: unknown): readonly unknown[] {
  const list: readonly unknown[] = Array.isArray(tools) ? Array.from(tools) : [tools]; // holes become undefined
  return list.flatMap((entry) => (isNamedTools(entry) ? namedTools(entry) : [entry]));
}

/** True for a record of tools inside a list. */
export function isNamedTools(value: unknown): value is Readonly<Record<string, unknown>> {
  try {
    if (!isRecord(value) || !isPlain(value) || isToolSpec(value)) return false;
    const members = Object.values(value);
    return members.length > 0 && members.every(isToolShaped);
  } catch {
    return false; // a throwing getter or proxy is reported when the tool is read
  }
}

/** The tools of a record with their keys. */
export function namedTools(tools: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Object.entries(tools).map(([name, tool]): NamedTool => ({ [NAME]: name, tool }));
}

/** The tools of an option that is a list or a record; undefined for anything else. */
export function toolsOption(tools: unknown): readonly unknown[] | undefined {
  if (Array.isArray(tools)) return listTools(tools);
  if (!isRecord(tools) || !isPlain(tools) || isToolSpec(tools)) return undefined;
  const isOne = TOOL_KEYS.some((key) => key in tools && !isRecord(tools[key]) && !isClass(tools[key]));
  return isOne ? undefined : namedTools(tools); // a single tool is not accepted here
}

/** Converts any accepted form of a tool to a spec of `source`. */
export function readTool(given: unknown, source: string): ToolSpec {
  try {
    const { name, tool } = isNamed(given) ? { name: given[NAME], tool: given.tool } : { name: undefined, tool: given };
    if (name !== undefined && !isRecord(tool) && !isClass(tool))
      throw new ToolcribError('not_a_tool', `"${name}" is ${describe(tool)}, not a tool.`);
    return toToolSpec(toDefinition(isClass(tool) ? madeOf(tool) : tool, name), source);
  } catch (cause) {
    if (cause instanceof ToolcribError) throw cause;
    throw new ToolcribError('invalid_option', `A tool cannot be read: ${messageOf(cause)}.`, { cause }); // a proxy or a schema may throw
  }
}

/** The name of a tool that may be invalid; '' if it has none. */
export function nameOfTool(given: unknown): string {
  try {
    if (isNamed(given)) return nameOfTool(given.tool) || given[NAME];
    if (isClass(given)) return given.name;
    if (!isRecord(given)) return '';
    const name = readMember(isRecord(given.function) ? given.function : given, 'name', 'A tool');
    return typeof name === 'string' ? name : '';
  } catch {
    return ''; // reading the tool reports the error
  }
}

function toDefinition(tool: unknown, name: string | undefined): unknown {
  if ((typeof tool !== 'object' && !isClass(tool)) || tool === null || Array.isArray(tool) || isToolSpec(tool))
    return tool;
  if (isLangChain(tool)) return fromLangChain(tool);
  const own = readMember(tool, 'name', 'A tool');
  const other = name ?? (isAiSdk(tool) ? readMember(tool, 'id', 'A tool') : undefined); // Mastra names tools by id
  const isUnnamed = own === undefined && other !== undefined;
  if (!isPlain(tool)) return isUnnamed && isAiSdk(tool) ? fromAiSdk(tool, other) : fromInstance(tool);
  if (isOpenAI(tool)) return fromOpenAI(tool);
  if (isAiSdk(tool)) return fromAiSdk(tool, own ?? other);
  return isUnnamed ? { ...tool, name } : tool;
}

function madeOf(given: Class): unknown {
  const made = makeTool(given);
  if (isPromise(made)) {
    const why = 'its create() returns a promise; await it and pass the instance';
    throw new ToolcribError('not_a_tool', `${nameOfClass(given)} cannot be created here: ${why}.`);
  }
  if (typeof made === 'object' || made === given) return made;
  throw new ToolcribError('not_a_tool', `create() of ${nameOfClass(given)} returns ${describe(made)}, not a tool.`);
}

function isNamed(value: unknown): value is NamedTool {
  return isRecord(value) && NAME in value;
}

function isToolShaped(value: unknown): boolean {
  if (isClass(value)) return true;
  return (
    isRecord(value) && (isToolSpec(value) || ['execute', 'run', 'invoke', 'inputSchema'].some((key) => key in value))
  );
}

function isPlain(value: object): boolean {
  if (typeof value === 'function') return false;
  const parent: object | null = Object.getPrototypeOf(value);
  return parent === null || Object.hasOwn(parent, 'isPrototypeOf'); // Object.prototype of any realm
}
