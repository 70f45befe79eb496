import { isRecord as isObject } from '../core/json.ts';
import { JSON_TYPES } from './schema-keywords.ts';

type Keyword = (value: unknown, argument: never, schema: Schema) => boolean;
type Schema = Readonly<Record<string, unknown>>;

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
  array: Array.isArray,
  null: (value) => value === null,
};

/** The supported keywords; each accepts values that it does not apply to. */
const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: (value, types: string | readonly string[]) => [types].flat().some((type) => TYPES[type]?.(value) === true),
  const: (value, wanted: unknown) => isPlain(wanted) && value === wanted,
  enum: (value, wanted: readonly unknown[]) => wanted.some((one) => isPlain(one) && one === value),
  minLength: (value, least: number) => typeof value !== 'string' || [...value].length >= least,
  // Schemas of runs come with the code that runs them, so their patterns are trusted.
  pattern: (value, pattern: string) => typeof value !== 'string' || new RegExp(pattern, 'u').test(value),
  minItems: (value, least: number) => !Array.isArray(value) || value.length >= least,
  uniqueItems: (value, isWanted: boolean) =>
    !isWanted || !Array.isArray(value) || (value.every(isPlain) && new Set(value).size === value.length),
  minProperties: (value, least: number) => !isObject(value) || Object.keys(value).length >= least,
  maxProperties: (value, most: number) => !isObject(value) || Object.keys(value).length <= most,
  minimum: (value, least: number) => typeof value !== 'number' || value >= least,
  maximum: (value, most: number) => typeof value !== 'number' || value <= most,
  required: (value, names: readonly string[]) => !isObject(value) || names.every((name) => Object.hasOwn(value, name)),
  properties: (value, properties: Schema) =>
    !isObject(value) ||
    Object.entries(properties).every(
      ([name, schema]) => !Object.hasOwn(value, name) || isSurelyValid(value[name], schema),
    ),
  additionalProperties: (value, schema: unknown, { properties = {} }) =>
    !isObject(value) ||
    Object.keys(value).every((name) => Object.hasOwn(properties as Schema, name) || isSurelyValid(value[name], schema)),
  propertyNames: (value, schema: unknown) =>
    !isObject(value) || Object.keys(value).every((name) => isSurelyValid(name, schema)),
  items: (value, schema: unknown) => !Array.isArray(value) || value.every((item) => isSurelyValid(item, schema)),
  anyOf: (value, schemas: readonly unknown[]) => schemas.some((schema) => isSurelyValid(value, schema)),
  description: () => true,
};

/**
 * True for a value that is certainly valid. False means unknown: a keyword is not supported here, or the value is invalid.
 * The full validator then decides. It takes long to load, and most values are valid.
 */
export function isSurelyValid(value: unknown, schema: unknown): boolean {
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return false;
  return Object.entries(schema).every(([name, argument]) =>
    Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name]?.(value, argument as never, schema) === true : false,
  );
}

/** Values for which `===` is equality in JSON Schema. */
function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

const ANY: Schema = {};
const TEXT: Schema = { type: 'string' };
const NUMBER: Schema = { type: 'number' };
const COUNT: Schema = { type: 'integer', minimum: 0 };
const FLAG: Schema = { type: 'boolean' };
const TYPE: Schema = { enum: [...JSON_TYPES] };

/** The schema of schemas with common keywords: what it accepts, every supported dialect accepts. It refers to itself. */
const PLAIN_SCHEMA: { readonly type: 'object'; properties: Schema; readonly additionalProperties: false } = {
  type: 'object',
  properties: ANY,
  additionalProperties: false,
};
const VALUES: Schema = { type: 'array', minItems: 1, uniqueItems: true };
const SCHEMAS: Schema = { type: 'array', minItems: 1, items: PLAIN_SCHEMA };
PLAIN_SCHEMA.properties = {
  ...{ type: { anyOf: [TYPE, { type: 'array', minItems: 1, uniqueItems: true, items: TYPE }] }, format: TEXT },
  ...{ title: TEXT, description: TEXT, $comment: TEXT, default: ANY, const: ANY, enum: VALUES },
  ...{ properties: { type: 'object', additionalProperties: PLAIN_SCHEMA } },
  ...{ required: { type: 'array', uniqueItems: true, items: TEXT } },
  ...{ additionalProperties: { anyOf: [FLAG, PLAIN_SCHEMA] }, items: PLAIN_SCHEMA },
  ...{ anyOf: SCHEMAS, allOf: SCHEMAS, oneOf: SCHEMAS, examples: { type: 'array' } },
  ...{ minimum: NUMBER, maximum: NUMBER, exclusiveMinimum: NUMBER, exclusiveMaximum: NUMBER, uniqueItems: FLAG },
  ...{ minLength: COUNT, maxLength: COUNT, minItems: COUNT, maxItems: COUNT },
  ...{ minProperties: COUNT, maxProperties: COUNT },
};

/** True for a schema that is certainly valid, as most are. Compiling the schema of schemas takes longer than all else of a first call. */
export function isPlainSchema(schema: unknown): boolean {
  return isSurelyValid(schema, PLAIN_SCHEMA);
}
