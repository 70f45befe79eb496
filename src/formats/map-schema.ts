import { copyJson, isRecord, type JsonSchema } from '../core/json.ts';
import { MAP_KEYWORDS, SCHEMA_KEYWORDS } from '../schemas/schema-keywords.ts';

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
  if (SCHEMA_KEYWORDS.has(keyword)) return Array.isArray(value) ? value.map(each) : each(value);
  if (!MAP_KEYWORDS.has(keyword) || !isRecord(value)) return value;
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
