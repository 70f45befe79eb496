import { isRecord, type JsonSchema } from '../core/json.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { REF_KEYWORDS } from './schema-keywords.ts';

const MAX_DEPTH = 200;
const MAX_NODES = 20_000;

/** Keywords whose schemas apply to the same arguments, as a list, by name, or alone. */
const SAME_PLACE = ['allOf', 'anyOf', 'oneOf', 'dependentSchemas', 'dependencies', 'if', 'then', 'else', 'not'];

/** All arguments that a schema names anywhere. Throws if it may name others that cannot be seen. */
export function argumentsOf(schema: JsonSchema): ReadonlySet<string> {
  requireReadable(schema);
  const names = new Set<string>();
  for (const { properties, required } of partsOf(schema)) {
    if (isRecord(properties)) for (const name of Object.keys(properties)) names.add(name);
    if (Array.isArray(required)) for (const name of required) if (typeof name === 'string') names.add(name);
  }
  return names;
}

/** The default that validation fills in for an argument. */
export function defaultOf(schema: unknown, name: string): { readonly value: unknown } | undefined {
  if (!isRecord(schema)) return undefined;
  const { properties, allOf } = schema;
  const own = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (isRecord(own) && own.default !== undefined) return { value: own.default };
  if (!Array.isArray(allOf)) return undefined;
  return allOf.map((branch) => defaultOf(branch, name)).find((found) => found !== undefined);
}

// Arguments cannot be removed from a schema that is only referenced, or that refers to itself.
function requireReadable(schema: JsonSchema): void {
  for (const { keyword, value } of wordsOf(schema)) {
    // Definitions are not changed; a reference elsewhere may point at a part that is.
    if (REF_KEYWORDS.has(keyword) && typeof value === 'string' && !/^#\/(\$defs|definitions)\//.test(value))
      throw unreadable(`its schema refers to itself by ${keyword} "${value}"`);
  }
  for (const part of partsOf(schema)) {
    const ref = [...REF_KEYWORDS].find((keyword) => part[keyword] !== undefined);
    if (ref !== undefined) throw unreadable(`its schema names arguments behind a ${ref}`);
    if (part.const !== undefined || part.enum !== undefined)
      throw unreadable('its schema lists whole sets of arguments by const or enum');
  }
}

/** Returns a condition that does not mention these arguments; throws for any other. */
export function requireSilent(keyword: string, condition: unknown, names: ReadonlyMap<string, unknown>): unknown {
  for (const { keyword: word, value } of wordsOf(condition)) {
    const listed = Array.isArray(value) ? value.find((item) => names.has(item)) : undefined;
    const name = names.has(word) ? word : listed;
    if (name !== undefined) throw unreadable(`"${name}" is used in a condition (${keyword}) of its schema`);
    if (COUNTING.has(word))
      throw unreadable(`a condition (${keyword}) of its schema applies to all arguments (${word})`);
  }
  return condition;
}

const COUNTING: ReadonlySet<string> = new Set([
  ...['minProperties', 'maxProperties', 'additionalProperties', 'unevaluatedProperties'],
  ...['propertyNames', 'patternProperties'],
]);

function unreadable(why: string): ToolcribError {
  return new ToolcribError('invalid_config', why);
}

/** The schema itself and every schema in it that applies to the same object. */
function* partsOf(schema: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (!isRecord(schema)) return;
  yield schema;
  for (const keyword of SAME_PLACE) {
    const inner = schema[keyword];
    const isByName = keyword.startsWith('depend') && isRecord(inner);
    for (const part of Array.isArray(inner) ? inner : isByName ? Object.values(inner) : [inner]) yield* partsOf(part);
  }
}

/** Every key of a schema with its value, at any depth. Throws for shared and circular objects that are too large. */
function* wordsOf(schema: unknown): Generator<{ readonly keyword: string; readonly value: unknown }> {
  const open = [{ value: schema, depth: 0 }];
  let nodes = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    nodes += 1;
    if (nodes > MAX_NODES || next.depth > MAX_DEPTH) throw unreadable('its schema is too large, or contains itself');
    for (const [keyword, value] of Object.entries(next.value)) {
      yield { keyword, value };
      open.push({ value, depth: next.depth + 1 });
    }
  }
}
