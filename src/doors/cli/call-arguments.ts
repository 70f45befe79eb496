import { text } from 'node:stream/consumers';
import { isRecord, type JsonSchema } from '../../core/json.ts';
import { resolveReference } from '../../core/json-pointer.ts';
import { messageOf } from '../../core/tool-error.ts';
import { exactNumber, parseExact } from '../../system/exact-json.ts';
import { usage } from './flags.ts';

/** Parses `--args` into an object; `-` reads it from stdin. */
export async function readArguments(args: string | undefined): Promise<object> {
  if (args === undefined) return {};
  const value = parse(args === '-' ? await text(process.stdin) : args);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw usage('--args must be a JSON object.');
}

function parse(json: string): unknown {
  try {
    return parseExact(json).value;
  } catch (cause) {
    throw usage(`--args must be a JSON object: ${messageOf(cause)}.`);
  }
}

/** Converts `key=value` words by the types of the tool's schema. A value of the wrong type stays text, and validation rejects it. */
export function parseArguments(pairs: readonly string[], schema: JsonSchema | undefined): Record<string, unknown> {
  const byKey = new Map<string, string[]>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw usage(`"${pair}" is not an argument; write key=value.`);
    const key = pair.slice(0, at);
    byKey.set(key, [...(byKey.get(key) ?? []), pair.slice(at + 1)]);
  }
  return Object.fromEntries(
    [...byKey].map(([key, texts]) => [
      key,
      parseTexts(key, texts, { schema: propertySchema(schema, key), root: schema }),
    ]),
  );
}

/** A schema, and the document that its references point into. */
interface Described {
  readonly schema: JsonSchema;
  readonly root: JsonSchema | undefined;
}

function parseTexts(key: string, texts: readonly string[], described: Described): unknown {
  const { root } = described;
  const { types, items } = shapeOf(described.schema, root);
  const [first = ''] = texts;
  const isList = types.has('array') && !(types.has('string') && texts.length === 1);
  if (isList && !(texts.length === 1 && /^\s*\[/.test(first))) {
    return texts.map((text) => parseText(key, text, { schema: items ?? {}, root }));
  }
  if (texts.length === 1) return parseText(key, first, described);
  if (types.size > 0) throw usage(`${key} is given ${texts.length} times, but it is not a list.`);
  return texts.map((text) => parseText(key, text, { schema: {}, root }));
}

function parseText(key: string, text: string, { schema, root }: Described): unknown {
  const { types, choices } = shapeOf(schema, root);
  const choice = choices.find((candidate) => String(candidate) === text);
  if (choice !== undefined) return choice;
  if (types.has('string')) return text;
  if (types.size === 0) return guess(text);
  if (types.has('null') && text === 'null') return null;
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if ((types.has('number') || types.has('integer')) && isNumber(text)) return exactNumber(text.trim());
  if (types.has('object') || types.has('array')) return parseJson(key, text);
  return text;
}

// Without a type in the schema, JSON is parsed and everything else stays text.
function guess(text: string): unknown {
  try {
    return parseExact(text).value;
  } catch {
    return text;
  }
}

function parseJson(key: string, text: string): unknown {
  try {
    return parseExact(text).value;
  } catch (cause) {
    throw usage(`${key} must be JSON: ${messageOf(cause)}.`);
  }
}

function isNumber(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text));
}

/** The values that a schema allows. */
interface Shape {
  /** Empty if the schema names no type. */
  readonly types: ReadonlySet<string>;
  readonly choices: readonly unknown[];
  readonly items: JsonSchema | undefined;
}

const MAX_DEPTH = 8;

/** The schema of a property, else of additional properties, else an empty schema. */
function propertySchema(schema: JsonSchema | undefined, key: string): JsonSchema {
  const resolved = follow(schema ?? {}, schema);
  const { properties, additionalProperties } = resolved;
  if (isRecord(properties) && Object.hasOwn(properties, key)) return toSchema(properties[key]);
  return toSchema(additionalProperties);
}

/** Collects the types of a schema through references and alternatives. */
function shapeOf(schema: JsonSchema, root: JsonSchema | undefined, depth = 0): Shape {
  const { type, enum: listed, const: only, items, anyOf, oneOf, allOf } = follow(schema, root);
  const choices = [...(Array.isArray(listed) ? listed : []), ...(only === undefined ? [] : [only])];
  const named = Array.isArray(type) ? type : type === undefined ? choices.map(typeName) : [type];
  const parts = depth < MAX_DEPTH ? [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list : [])) : [];
  const shapes = parts.map((part) => shapeOf(toSchema(part), root, depth + 1));
  return {
    types: new Set([...named.map(String), ...shapes.flatMap((shape) => [...shape.types])]),
    choices: [...choices, ...shapes.flatMap((shape) => shape.choices)],
    items: isRecord(items) ? items : shapes.find((shape) => shape.items !== undefined)?.items,
  };
}

// Follows only references inside the document, to a limited depth: a schema may refer to itself.
function follow(schema: JsonSchema, root: JsonSchema | undefined, depth = 0): JsonSchema {
  const { $ref } = schema;
  if (typeof $ref !== 'string' || !$ref.startsWith('#/') || depth >= MAX_DEPTH) return schema;
  return follow(toSchema(resolveReference($ref, root)), root, depth + 1);
}

function typeName(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

function toSchema(value: unknown): JsonSchema {
  return isRecord(value) ? value : {};
}
