import { isPromise } from '../core/json.ts';
import { readMember } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { isClass, nameOfClass } from '../system/modules/tool-class.ts';
import { TOOL_KEYS } from './define-tool.ts';

/** Other names of the input and output schemas, used by authors and other libraries. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  input: ['inputSchema', 'input_schema', 'parameters', 'parametersSchema', 'parameters_schema', 'schema'],
  output: ['outputSchema', 'output_schema'],
};
/** Methods that return the instructions. */
const INSTRUCTIONS = ['get_ai_prompt_instructions', 'getAiPromptInstructions'];

/** Converts a class instance to a plain tool. Methods keep their `this`. Unknown members are ignored. */
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

/** Reads members of the instance, then static members of its class. Null counts as absent. */
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

/** The static member `name` of a class. The built-in name of a function is not enumerable and does not count. */
function staticName(owner: object): unknown {
  for (let at: object | null = owner; typeof at === 'function'; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, 'name');
    if (found?.enumerable === true || found?.get !== undefined) return readMember(owner, 'name', 'a class');
  }
  return undefined;
}

/** Reads a value that may have several names. Throws if two of them differ. */
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
  if (key === 'run') return value; // run data
  throw new ToolcribError('not_a_tool', `${about}: execute must be a method.`);
}

function callInstructions(tool: object, method: unknown, what: string): unknown {
  if (typeof method !== 'function') return undefined;
  try {
    const text: unknown = method.call(tool) ?? undefined;
    if (isPromise(text)) text.then(undefined, () => {}); // refused below, because instructions are text; its failure is not left unhandled
    return text;
  } catch (cause) {
    throw new ToolcribError('not_a_tool', `${what} threw an error.`, { cause });
  }
}

/** Throws unless the instance has a name, a description, and execute or run. */
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
