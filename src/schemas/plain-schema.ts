import { canonicalJson, isRecord, type JsonValue } from '../core/json.ts';

/** Keywords that a look decides, and those that decide nothing. */
const PLAIN_KEYWORDS: ReadonlySet<string> = new Set([
  ...['type', 'const', 'enum', 'title', 'description', 'default', 'examples', 'deprecated'],
  ...['readOnly', 'writeOnly', '$comment'],
]);

/** Whether a schema accepts a value, as far as a look can tell; undefined where it takes a validator. */
export function acceptsPlainly(schema: unknown, value: JsonValue): boolean | undefined {
  if (typeof schema === 'boolean') return schema;
  if (!isRecord(schema)) return undefined;
  const isEqual = (other: unknown) => canonicalJson(other) === canonicalJson(value);
  if (Object.hasOwn(schema, 'const') && !isEqual(schema.const)) return false;
  if (Array.isArray(schema.enum) && !schema.enum.some(isEqual)) return false;
  const fits = schema.type === undefined ? true : hasType(schema.type, value);
  if (fits === false && schema.nullable !== true) return false;
  return fits === true && Object.keys(schema).every((key) => PLAIN_KEYWORDS.has(key)) ? true : undefined;
}

function hasType(type: unknown, value: JsonValue): boolean | undefined {
  if (!Array.isArray(type)) return isOfType(type, value);
  const verdicts = type.map((one) => isOfType(one, value));
  return verdicts.includes(true) ? true : verdicts.includes(undefined) ? undefined : false;
}

function isOfType(type: unknown, value: JsonValue): boolean | undefined {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isRecord(value);
    case 'integer':
      return Number.isInteger(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    default:
      return undefined; // not a type of JSON: the schema is refused elsewhere
  }
}
