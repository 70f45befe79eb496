import { canonicalJson, isRecord, type JsonValue } from '../core/json.ts';
import { ToolcribError } from '../core/tool-error.ts';

/** A keyword of our own, added where a schema can be entered repeatedly: it charges work. */
export const WORK_KEYWORD = 'toolcrib:work';

/** Keywords that hold a schema or a list of schemas. Keywords that are neither here nor below hold data. */
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

/** Keywords that apply another schema. */
export const REF_KEYWORDS: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

/** `$async` would turn the check into a promise; `id` is from draft 4, and Ajv throws for it; `$schema` has been evaluated by then. */
export const DROPPED_KEYWORDS: ReadonlySet<string> = new Set(['$async', 'id', '$schema', WORK_KEYWORD]);

/** Keywords that accept less when the schema below them accepts more. */
export const CONTRARY_KEYWORDS: ReadonlySet<string> = new Set(['not', 'if', 'then', 'else', 'maxContains', 'oneOf']);

/** The values of `type`. */
export const JSON_TYPES: ReadonlySet<string> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
]);

/** Supported dialects of JSON Schema. Draft 4 and 6 are read as draft 7. */
export type Dialect = 'draft-07' | '2019-09' | '2020-12';

/** The dialect of a schema without `$schema`. */
export const DEFAULT_SCHEMA_URI = 'https://json-schema.org/draft/2020-12/schema';

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['http://json-schema.org/draft-04/schema', 'draft-07'],
  ['http://json-schema.org/draft-06/schema', 'draft-07'],
  ['http://json-schema.org/draft-07/schema', 'draft-07'],
  ['https://json-schema.org/draft/2019-09/schema', '2019-09'],
  [DEFAULT_SCHEMA_URI, '2020-12'],
]);

/** The dialect in `$schema`; throws for an unknown one. */
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

/** True for the address of a dialect itself, which need not be fetched. */
function isDialectUri(uri: string, dialect: Dialect): boolean {
  return findDialect(uri) === dialect;
}

// It may be written with http or https, with or without an empty fragment.
function findDialect(uri: string): Dialect | undefined {
  const bare = uri.replace(/#$/, '');
  return (
    DIALECTS.get(bare) ??
    DIALECTS.get(bare.replace(/^https:/, 'http:')) ??
    DIALECTS.get(bare.replace(/^http:/, 'https:'))
  );
}

/** The addresses that a schema defines and refers to. */
export interface SchemaRefs {
  /** The base address below a schema with this `$id`. */
  enter($id: unknown, base: string): string;
  /** Records a `$ref` in a schema with this base address. */
  refer(ref: string, base: string): void;
  /** Number of references so far. */
  count(): number;
  /** References that point outside the schema, as written. */
  remote(dialect: Dialect): readonly string[];
}

/** The base address of a schema without `$id`. */
export const ROOT_BASE = 'schema://local/';

/** Tracks `$id` and `$ref`, to tell local references from remote ones. */
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

/** Keywords that can be decided without a validator, and annotations. */
const PLAIN_KEYWORDS: ReadonlySet<string> = new Set([
  ...['type', 'const', 'enum', 'title', 'description', 'default', 'examples', 'deprecated'],
  ...['readOnly', 'writeOnly', '$comment'],
]);

/** True or false if it can be decided without a validator whether a schema accepts a value; otherwise undefined. */
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
      return undefined; // not a JSON type: the schema is refused elsewhere
  }
}
