import { canonicalJson, isRecord, type JsonValue } from '../core/json.ts';
import { ToolcribError } from '../core/tool-error.ts';

/** Our own keyword, put where a schema can be reached again and again: it charges work. */
export const WORK_KEYWORD = 'toolcrib:work';

/** Keywords that hold a schema or a list of schemas. What is not named here or below is data. */
export const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
  ...['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains', 'additionalProperties'],
  ...['unevaluatedProperties', 'propertyNames', 'allOf', 'anyOf', 'oneOf', 'not'],
  ...['if', 'then', 'else', 'contentSchema'],
]);

/** Keywords that hold schemas by name. */
export const MAP_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

/** Keywords that apply a schema from elsewhere. */
export const REF_KEYWORDS: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

/** `$async` would turn the check into a promise; `id` is draft 4's, and Ajv throws at it; `$schema` is known by then. */
export const DROPPED_KEYWORDS: ReadonlySet<string> = new Set(['$async', 'id', '$schema', WORK_KEYWORD]);

/** Keywords that refuse more when what is below them refuses less. */
export const CONTRARY_KEYWORDS: ReadonlySet<string> = new Set(['not', 'if', 'then', 'else', 'maxContains', 'oneOf']);

/** What `type` may say. */
export const JSON_TYPES: ReadonlySet<string> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
]);

/** The dialects of JSON Schema that can be checked. Draft 4 and 6 are read as draft 7. */
export type Dialect = 'draft-07' | '2019-09' | '2020-12';

/** What `$schema` says where it says nothing new: this is the dialect of a schema without one. */
export const DEFAULT_SCHEMA_URI = 'https://json-schema.org/draft/2020-12/schema';

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['http://json-schema.org/draft-04/schema', 'draft-07'],
  ['http://json-schema.org/draft-06/schema', 'draft-07'],
  ['http://json-schema.org/draft-07/schema', 'draft-07'],
  ['https://json-schema.org/draft/2019-09/schema', '2019-09'],
  [DEFAULT_SCHEMA_URI, '2020-12'],
]);

/** The dialect that `$schema` names; an unknown one throws. */
export function dialectOf($schema: unknown): Dialect {
  if ($schema === undefined) return '2020-12';
  const dialect = typeof $schema === 'string' ? findDialect($schema) : undefined;
  if (dialect !== undefined) return dialect;
  throw new ToolcribError(
    'invalid_schema',
    `$schema ${JSON.stringify($schema)} is not a known dialect; use one of ${[...DIALECTS.keys()].join(', ')}, or leave it out for 2020-12.`,
  );
}

/** True if `dialectOf` would not throw. */
export function isKnownDialect($schema: unknown): boolean {
  return $schema === undefined || (typeof $schema === 'string' && findDialect($schema) !== undefined);
}

/** True for the address of a dialect itself, which is known without fetching it. */
function isDialectUri(uri: string, dialect: Dialect): boolean {
  return findDialect(uri) === dialect;
}

// Written with http or https, with or without the empty fragment: all of these are seen.
function findDialect(uri: string): Dialect | undefined {
  const bare = uri.replace(/#$/, '');
  return (
    DIALECTS.get(bare) ??
    DIALECTS.get(bare.replace(/^https:/, 'http:')) ??
    DIALECTS.get(bare.replace(/^http:/, 'https:'))
  );
}

/** The addresses that a schema has and those that it points at. */
export interface SchemaRefs {
  /** The base address below a schema with this `$id`. */
  enter($id: unknown, base: string): string;
  /** Notes that a `$ref` stands in a schema of this base address. */
  refer(ref: string, base: string): void;
  /** How many references there are so far. */
  count(): number;
  /** The references that point outside, as they were written. */
  remote(dialect: Dialect): readonly string[];
}

/** The address of a schema that has none. */
export const ROOT_BASE = 'schema://local/';

/** Follows `$id` and `$ref` as far as it takes to tell inside from outside. */
export function createSchemaRefs(): SchemaRefs {
  const known = new Set([ROOT_BASE]);
  let count = 0;
  const refs: { readonly ref: string; readonly uri: string | undefined }[] = [];
  return {
    enter($id, base) {
      const uri = typeof $id === 'string' ? resolve($id, base) : undefined;
      if (uri === undefined) return base;
      known.add(uri);
      return uri;
    },
    refer(ref, base) {
      count += 1;
      if (!ref.startsWith('#')) refs.push({ ref, uri: resolve(ref, base) });
    },
    count: () => count,
    remote(dialect) {
      const outside = refs.filter(({ uri }) => uri === undefined || !(known.has(uri) || isDialectUri(uri, dialect)));
      return [...new Set(outside.map(({ ref }) => ref))];
    },
  };
}

function resolve(uri: string, base: string): string | undefined {
  const resolved = URL.parse(uri, base);
  if (resolved === null) return undefined;
  resolved.hash = '';
  return resolved.href;
}

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
