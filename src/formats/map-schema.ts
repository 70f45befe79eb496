import { copyJson, type JsonSchema } from '../core/json.ts';

const HOLDS_SCHEMA = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const HOLDS_LIST = new Set(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']);
const HOLDS_MAP = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/** True for an object that is no list. `true` and `false` are schemas too; they are none, and pass through everywhere. */
export function isRecord(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A copy of its own, so that whoever gets a definition cannot change the crib. */
export function copySchema(schema: JsonSchema): JsonSchema {
  return copyJson(schema) as JsonSchema; // the copy of an object is an object
}

/** Applies `change` to a schema and to every schema inside it, innermost first. References are not followed, so recursion is no loop. */
export function mapSchema(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const mapped: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) mapped[keyword] = mapKeyword(keyword, value, change);
  return change(mapped);
}

function mapKeyword(keyword: string, value: unknown, change: (schema: JsonSchema) => JsonSchema): unknown {
  const each = (inner: unknown) => (isRecord(inner) ? mapSchema(inner, change) : inner);
  if (Array.isArray(value)) return HOLDS_LIST.has(keyword) ? value.map(each) : value;
  if (!isRecord(value)) return value;
  if (HOLDS_SCHEMA.has(keyword)) return each(value);
  if (!HOLDS_MAP.has(keyword)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, each(inner)]));
}

/** Tuples as draft 2020-12 writes them: `items: [...]` of older drafts is no valid schema there. */
export function toPrefixItems(schema: JsonSchema): JsonSchema {
  let changed = false;
  const mapped = mapSchema(schema, (inner) => {
    if (!Array.isArray(inner.items)) return inner;
    changed = true;
    const { items, additionalItems, ...rest } = inner;
    return additionalItems === undefined
      ? { ...rest, prefixItems: items }
      : { ...rest, prefixItems: items, items: additionalItems };
  });
  if (!changed) return schema;
  const { $schema, ...modern } = mapped; // it named the older draft
  return modern;
}
