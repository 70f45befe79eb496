import { isRecord, type JsonSchema, resolveReference } from '../../../core/json.ts';

/** What the values of a schema can be. */
export interface Shape {
  /** Empty where the schema does not say. */
  readonly types: ReadonlySet<string>;
  readonly choices: readonly unknown[];
  readonly items: JsonSchema | undefined;
}

const MAX_DEPTH = 8;

/** The schema of one property, or that of additional ones, or one that says nothing. */
export function propertySchema(schema: JsonSchema | undefined, key: string): JsonSchema {
  const resolved = follow(schema ?? {}, schema);
  const { properties, additionalProperties } = resolved;
  if (isRecord(properties) && Object.hasOwn(properties, key)) return toSchema(properties[key]);
  return toSchema(additionalProperties);
}

/** What a schema says about types, through references and alternatives. */
export function shapeOf(schema: JsonSchema, root: JsonSchema | undefined, depth = 0): Shape {
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

// Only references inside the document, and only so deep: a schema may refer to itself.
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
