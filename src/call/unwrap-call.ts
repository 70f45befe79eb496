import { isJsonObject, type JsonObject } from '../core/json.ts';
import { type ToolError, toolError } from '../core/tool-error.ts';

/** A call by name and arguments. */
interface NamedCall {
  readonly name: string;
  readonly input: JsonObject;
}

const NO_INPUT: JsonObject = Object.freeze({});
const KEYS: readonly string[] = ['name', 'arguments'];
/** Of a name that is wrong: whoever sent it knows the rest. */
const MOST_REPEATED = 100;

/**
 * The call that a call of `call_tool` stands for, or what is wrong with it. It is made in its place, not inside of it:
 * guards, records and approvals see the tool that runs, once, with everything that came along with the call.
 */
export function unwrapCall(given: JsonObject): NamedCall | ToolError {
  const { name, arguments: input = NO_INPUT } = given;
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key));
  if (unknown !== undefined)
    return wrong(`/${unknown.slice(0, MOST_REPEATED)}`, 'is not known; the arguments of the tool stand in "arguments"');
  if (typeof name !== 'string' || name === '') return wrong('/name', 'must be the name of a tool');
  if (name === 'call_tool') return wrong('/name', 'must be another tool than call_tool itself');
  if (!isJsonObject(input)) return wrong('/arguments', 'must be an object');
  return { name, input };
}

function wrong(path: string, message: string): ToolError {
  return toolError('invalid_input', `call_tool: ${path.slice(1)} ${message}.`, { issues: [{ path, message }] });
}
