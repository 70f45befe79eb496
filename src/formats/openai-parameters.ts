import { isRecord, type JsonSchema } from '../core/json.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { mapSchema, toPrefixItems } from './map-schema.ts';
import { type ObjectSchema, toObjectSchema } from './object-schema.ts';
import { entriesOf } from './read-calls.ts';
import { requireAtMost, requireDistinctNames } from './vendor-limits.ts';

const MAX_TOOLS = 128;
const FORBIDDEN_AT_ROOT = ['allOf', 'anyOf', 'const', 'enum', 'not', 'oneOf'];

/** Throws where either API would refuse the whole request. */
export function requireExportable(specs: readonly ToolSpec[]): void {
  requireDistinctNames(specs);
  requireAtMost(specs, MAX_TOOLS, 'OpenAI');
}

/** A schema of arguments as both APIs take it. */
export function toParameters(input: JsonSchema): ObjectSchema {
  const schema = mapSchema(toPrefixItems(toObjectSchema(input, FORBIDDEN_AT_ROOT)), giveItems);
  return { ...schema, type: 'object', properties: schema.properties ?? {} };
}

// OpenAI refuses arrays without a schema for their items, and takes no boolean there.
function giveItems(schema: JsonSchema): JsonSchema {
  const isArray = schema.type === 'array' || (Array.isArray(schema.type) && schema.type.includes('array'));
  if (!isArray || isRecord(schema.items)) return schema;
  const closed = schema.items === false && schema.maxItems === undefined;
  return { ...schema, items: {}, ...(closed && { maxItems: entriesOf(schema.prefixItems).length }) };
}
