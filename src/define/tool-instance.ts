import { readMember } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { isClass, nameOfClass } from '../system/modules/tool-class.ts';
import { TOOL_KEYS } from './define-tool.ts';

/** Names under which authors and other libraries keep what a tool takes, what it returns, and its prompt text. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  input: ['inputSchema', 'input_schema', 'parameters', 'parametersSchema', 'parameters_schema', 'schema'],
  output: ['outputSchema', 'output_schema'],
};
/** Methods that return the prompt text. */
const INSTRUCTIONS = ['get_ai_prompt_instructions', 'getAiPromptInstructions'];

/** An instance of a class as a plain tool; its methods keep their `this`. Members that no tool has are its own affair. */
export function fromInstance(tool: object): object {
  const read = createReader(tool);
  const name = read('name');
  const about = typeof name === 'string' && name !== '' ? `Tool "${name}"` : 'A tool';
  const definition: Record<string, unknown> = {};
  for (const key of TOOL_KEYS) {
    const value = readOne([key, ...(OTHER_NAMES[key] ?? [])], read, about);
    if (value !== undefined) definition[key] = bindMethod(tool, value, { key, about });
  }
  requireParts(definition, tool);
  for (const key of INSTRUCTIONS) {
    definition.instructions ??= callInstructions(tool, read(key), `${about}: ${key}`);
  }
  return definition;
}

/** Reads members of the instance, then of its class; a member that is null says nothing. */
function createReader(tool: object): (key: string) => unknown {
  return (key) => {
    const own = readMember(tool, key, 'a tool') ?? undefined;
    if (typeof tool === 'function' && key === 'name') return staticName(tool);
    if (own !== undefined) return own;
    const owner: unknown = readMember(tool, 'constructor', 'a tool');
    if (!isClass(owner)) return undefined;
    return (key === 'name' ? staticName(owner) : readMember(owner, key, nameOfClass(owner))) ?? undefined;
  };
}

/** The name that an author gave to a class as a member; every function has one of its own, which is not enumerable. */
function staticName(owner: object): unknown {
  for (let at: object | null = owner; typeof at === 'function'; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, 'name');
    if (found?.enumerable === true || found?.get !== undefined) return readMember(owner, 'name', 'a class');
  }
  return undefined;
}

/** The one value under several names; two that differ are a mistake. */
function readOne(names: readonly string[], read: (key: string) => unknown, about: string): unknown {
  const found = names.flatMap((name) => {
    const value = read(name);
    return value === undefined ? [] : [{ name, value }];
  });
  const [first, ...others] = found;
  const other = others.find(({ value }) => value !== first?.value);
  if (other !== undefined)
    throw new ToolcribError('not_a_tool', `${about} has both ${first?.name} and ${other.name}; keep one.`);
  const isMethod = typeof first?.value === 'function' && !('~standard' in first.value); // a schema may be a function
  if (isMethod && names[0] !== 'run' && names[0] !== 'execute')
    throw new ToolcribError('not_a_tool', `${about}: ${first?.name} is a method; make it a field or a getter.`);
  return first?.value;
}

function bindMethod(tool: object, value: unknown, { key, about }: { key: string; about: string }): unknown {
  if (key !== 'run' && key !== 'execute') return value;
  if (typeof value === 'function') return value.bind(tool);
  if (key === 'run') return value; // data of a kind
  throw new ToolcribError('not_a_tool', `${about}: execute must be a method.`);
}

function callInstructions(tool: object, method: unknown, what: string): unknown {
  if (typeof method !== 'function') return undefined;
  try {
    return method.call(tool) ?? undefined;
  } catch (cause) {
    throw new ToolcribError('not_a_tool', `${what} throws when it is called.`, { cause });
  }
}

/** Without a name, a description or a way to run, it was hardly written as a tool. */
function requireParts(found: Readonly<Record<string, unknown>>, tool: object): void {
  const missing = [
    ...(['name', 'description'] as const).filter((key) => found[key] === undefined),
    ...(found.run === undefined && found.execute === undefined ? ['execute or run'] : []),
  ].map((part) => `no ${part}`);
  if (missing.length === 0) return;
  const list = missing.length === 1 ? missing[0] : `${missing.slice(0, -1).join(', ')} and ${missing.at(-1)}`;
  const owner = typeof tool === 'function' ? tool : tool.constructor;
  throw new ToolcribError('not_a_tool', `${nameOfClass(owner)} is not a tool: an instance has ${list}.`);
}
