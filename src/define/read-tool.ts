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

/** A tool in any of the shapes that a crib takes: its own, a class or an instance, a definition of OpenAI with what runs it, a tool of LangChain; or tools by name, as the AI SDK keeps them. */
export type AnyTool =
  | ToolInput
  | ToolObject
  | ToolClass
  | OpenAIDefinition
  | LangChainToolObject
  | (AiSdkToolObject & { readonly name: string })
  | MastraToolObject
  | NamedTools;

// biome-ignore lint/suspicious/noExplicitAny: a method states its own argument type
type Method = (input: any, call: ToolCall) => unknown;

/** An instance of a class that is a tool. Its schema has one of several names; what else it has is its own affair. */
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

/** A class that is a tool: made by `new` without arguments, or by its `create()`. */
export type ToolClass = (new () => ToolMade) | { readonly prototype: object; create(): ToolMade };
type ToolMade = ToolObject | LangChainToolObject;

/** A tool of LangChain, as far as a crib needs it. */
interface LangChainToolObject {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
  readonly lc_namespace: string[];
  // biome-ignore lint/suspicious/noExplicitAny: its types are LangChain's
  invoke(input: any, config?: any): Promise<any>;
}

/** A tool of the AI SDK, as far as a crib needs it. */
interface AiSdkToolObject {
  readonly inputSchema: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: its types are those of the AI SDK
  readonly execute?: ((input: any, options: any) => any) | undefined;
}

/** A tool of Mastra: one of the AI SDK with an id, which is its name. */
interface MastraToolObject extends Partial<AiSdkToolObject> {
  readonly id: string;
}

/** Tools by name. The name counts for those that have none of their own: tools of the AI SDK. */
export interface NamedTools {
  readonly [name: string]: AiSdkToolObject | MastraToolObject | ToolSpec | ToolObject | ToolClass | LangChainToolObject;
}

const NAME: unique symbol = Symbol('toolcrib.name');

/** A tool and the name it is given under. */
interface NamedTool {
  readonly [NAME]: string;
  readonly tool: unknown;
}

/** The tools of a list, or one, or those of a record, each by itself. */
export function listTools(tools: unknown): readonly unknown[] {
  const list: readonly unknown[] = Array.isArray(tools) ? Array.from(tools) : [tools]; // holes included
  return list.flatMap((entry) => (isNamedTools(entry) ? namedTools(entry) : [entry]));
}

/** True for a record of tools, as an entry of a list. */
export function isNamedTools(value: unknown): value is Readonly<Record<string, unknown>> {
  try {
    if (!isRecord(value) || !isPlain(value) || isToolSpec(value)) return false;
    const members = Object.values(value);
    return members.length > 0 && members.every(isToolShaped);
  } catch {
    return false; // a getter or a proxy that throws is reported where the tool is read
  }
}

/** The tools of a record, each with the name it has there. */
export function namedTools(tools: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Object.entries(tools).map(([name, tool]): NamedTool => ({ [NAME]: name, tool }));
}

/** The tools of an option: a list, or a record of tools; undefined for anything else. */
export function toolsOption(tools: unknown): readonly unknown[] | undefined {
  if (Array.isArray(tools)) return listTools(tools);
  if (!isRecord(tools) || !isPlain(tools) || isToolSpec(tools)) return undefined;
  const isOne = TOOL_KEYS.some((key) => key in tools && !isRecord(tools[key]) && !isClass(tools[key]));
  return isOne ? undefined : namedTools(tools); // one tool that is not in a list
}

/** Whatever may stand for a tool, as a spec of `source`. */
export function readTool(given: unknown, source: string): ToolSpec {
  try {
    const { name, tool } = isNamed(given) ? { name: given[NAME], tool: given.tool } : { name: undefined, tool: given };
    if (name !== undefined && !isRecord(tool) && !isClass(tool))
      throw new ToolcribError('not_a_tool', `"${name}" is ${describe(tool)}, not a tool.`);
    return toToolSpec(toDefinition(isClass(tool) ? madeOf(tool) : tool, name), source);
  } catch (cause) {
    if (cause instanceof ToolcribError) throw cause;
    throw new ToolcribError('invalid_option', `A tool cannot be read: ${messageOf(cause)}.`, { cause }); // a proxy or a schema may throw anywhere
  }
}

/** The name of a tool, as far as it can be told without taking it; '' for none. */
export function nameOfTool(given: unknown): string {
  try {
    if (isNamed(given)) return nameOfTool(given.tool) || given[NAME];
    if (isClass(given)) return given.name;
    if (!isRecord(given)) return '';
    const name = readMember(isRecord(given.function) ? given.function : given, 'name', 'A tool');
    return typeof name === 'string' ? name : '';
  } catch {
    return ''; // the reason of the rejection says that it cannot be read
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
    const why = 'its create() returns a promise; await it, and give the instance';
    throw new ToolcribError('not_a_tool', `${nameOfClass(given)} cannot be made here: ${why}.`);
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
  return parent === null || Object.hasOwn(parent, 'isPrototypeOf'); // what every object inherits, of any realm
}
