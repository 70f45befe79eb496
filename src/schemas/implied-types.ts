import { isRecord, type JsonSchema } from '../core/json.ts';
import { resolveReference } from '../core/json-pointer.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { MAP_KEYWORDS, SCHEMA_KEYWORDS } from './schema-keywords.ts';

type Schema = Readonly<Record<string, unknown>>;
type JsonType = 'number' | 'string' | 'array' | 'object';

/** Keywords that apply to values of one type and accept every other value. */
const BOUNDS: Readonly<Record<JsonType, readonly string[]>> = {
  number: ['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'multipleOf'],
  string: ['maxLength', 'minLength', 'pattern', 'format'],
  array: [
    ...['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'maxItems', 'minItems', 'uniqueItems'],
    ...['contains', 'maxContains', 'minContains'],
  ],
  object: [
    ...['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'propertyNames'],
    ...['maxProperties', 'minProperties', 'required', 'dependentRequired', 'dependentSchemas', 'dependencies'],
  ],
};
const TYPE_OF = new Map(
  Object.entries(BOUNDS).flatMap(([type, keywords]) => keywords.map((keyword) => [keyword, type] as const)),
);
const NUMBER_FORMATS: readonly unknown[] = ['int32', 'int64', 'float', 'double'];

/** Keywords whose schemas do not apply where they stand. */
const APART: readonly string[] = ['$defs', 'definitions', 'contentSchema'];
/** Keywords that are rewritten together with others of the same schema. */
const REWRITTEN: readonly string[] = [
  ...['oneOf', 'if', 'then', 'else', 'contains', 'maxContains'],
  ...['$anchor', '$dynamicAnchor', '$recursiveAnchor'],
];

/**
 * How a bound treats a value of another type: `narrow` refuses it, `wide` accepts it as JSON Schema does. Under `not` the
 * two are swapped, so that no type is a way around a rule.
 */
type Width = 'narrow' | 'wide';

interface Reading {
  readonly root: JsonSchema;
  /** Referenced schemas, by width and pointer. */
  readonly names: Map<string, string>;
  readonly definitions: Record<string, unknown>;
}

/** Rewrites a schema so that a bound implies a type: `maximum: 100` accepts only numbers. An explicit type stays. */
export function withImpliedTypes(root: JsonSchema): JsonSchema {
  const written = isRecord(root.$defs) ? root.$defs : {};
  const reading: Reading = { root, names: new Map(), definitions: { ...written } };
  const made = readPlace(root, 'narrow', reading) as Schema; // an object stays one
  return { ...made, $defs: reading.definitions };
}

/** Rewrites a schema and adds the type implied by all schemas that apply at the same place. */
function readPlace(schema: unknown, width: Width, reading: Reading): unknown {
  const made = readPart(schema, width, reading);
  if (width === 'wide' || !isRecord(schema) || !isRecord(made) || isTyped(schema, reading)) return made;
  const types = [...new Set(partsOf(schema, reading).flatMap(impliedBy))];
  if (types.length === 0) return made;
  return { ...made, type: types.length === 1 ? types[0] : types };
}

/** Rewrites a schema without adding a type, which is decided at its place. */
function readPart(schema: unknown, width: Width, reading: Reading): unknown {
  if (!isRecord(schema)) return schema;
  const at: At = { width, reading, isRoot: schema === reading.root };
  const kept = Object.entries(schema).filter(([key]) => !REWRITTEN.includes(key));
  const made: Schema = Object.fromEntries(kept.map(([key, value]) => [key, readKeyword(key, value, at)]));
  const added = [
    ...readContains(schema, width, reading),
    ...readOneOf(schema, width, reading),
    ...readIf(schema, width, reading),
  ];
  if (added.length === 0) return made;
  return { ...made, allOf: [...(Array.isArray(made.allOf) ? made.allOf : []), ...added] };
}

interface At {
  readonly width: Width;
  readonly reading: Reading;
  readonly isRoot: boolean;
}

function readKeyword(key: string, value: unknown, { width, reading, isRoot }: At): unknown {
  const place = (one: unknown) => readPlace(one, width, reading);
  if (key === 'not') return readPlace(value, other(width), reading);
  if (key === 'allOf' && Array.isArray(value)) return value.map((one) => readPart(one, width, reading));
  if (key === '$ref') return `#/$defs/${define(value, width, reading)}`;
  if (key === '$dynamicRef' || key === '$recursiveRef' || (key === '$id' && !isRoot)) throw notFollowed(key, value);
  if (APART.includes(key)) return value;
  if (MAP_KEYWORDS.has(key) && isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, place(one)]));
  if (!SCHEMA_KEYWORDS.has(key)) return value;
  return Array.isArray(value) ? value.map(place) : place(value);
}

function readContains(schema: Schema, width: Width, reading: Reading): readonly Schema[] {
  const { contains, minContains, maxContains } = schema;
  if (contains === undefined) return [];
  const least = { contains: readPlace(contains, width, reading), ...(minContains !== undefined && { minContains }) };
  if (maxContains === undefined) return [least];
  // An upper limit on matches: counting fewer of them would accept more.
  return [least, { contains: readPlace(contains, other(width), reading), minContains: 0, maxContains }];
}

function readOneOf({ oneOf }: Schema, width: Width, reading: Reading): readonly Schema[] {
  if (!Array.isArray(oneOf)) return [];
  const narrow = oneOf.map((one) => readPlace(one, 'narrow', reading));
  const wide = oneOf.map((one) => readPlace(one, 'wide', reading));
  if (width === 'narrow') return [{ oneOf: wide }, { anyOf: narrow }];
  const alone = wide.map((one, index) => ({ allOf: [one, ...narrow.toSpliced(index, 1).map((not) => ({ not }))] }));
  return [{ anyOf: alone }];
}

/** If the condition says nothing about a value, the value must satisfy both branches. */
function readIf(schema: Schema, width: Width, reading: Reading): readonly Schema[] {
  if (schema.if === undefined) return [];
  const met = readPlace(schema.if, other(width), reading);
  const unmet = readPlace(schema.if, width, reading);
  return [
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    ...(schema.then === undefined ? [] : [{ if: met, then: readPlace(schema.then, width, reading) }]),
    ...(schema.else === undefined ? [] : [{ if: unmet, else: readPlace(schema.else, width, reading) }]),
  ];
}

function other(width: Width): Width {
  return width === 'narrow' ? 'wide' : 'narrow';
}

/** The name of the definition for a referenced schema. */
function define(ref: unknown, width: Width, reading: Reading): string {
  const key = `${width} ${String(ref)}`;
  const known = reading.names.get(key);
  if (known !== undefined) return known;
  const target = follow(ref, reading);
  let count = reading.names.size;
  while (Object.hasOwn(reading.definitions, `typed_${count}`)) count++;
  const name = `typed_${count}`;
  reading.names.set(key, name);
  reading.definitions[name] = {}; // reserved before its content is read, because it may refer to itself
  reading.definitions[name] = readPart(target, width, reading);
  return name;
}

function follow(ref: unknown, { root }: Reading): unknown {
  const target = typeof ref === 'string' ? resolveReference(ref, root) : undefined;
  if (target === undefined) throw notFollowed('$ref', ref);
  return target;
}

function notFollowed(key: string, value: unknown): ToolcribError {
  return new ToolcribError(
    'invalid_schema',
    `${key} ${JSON.stringify(value)} cannot be resolved here; refer to a part of the rule itself, as in "#/$defs/name".`,
  );
}

/** All schemas that apply at one place: the schema itself, those under `allOf`, and referenced ones. */
function partsOf(schema: unknown, reading: Reading, seen: readonly unknown[] = []): readonly Schema[] {
  if (!isRecord(schema) || seen.includes(schema)) return [];
  const inner = [
    ...(Array.isArray(schema.allOf) ? schema.allOf : []),
    ...(schema.$ref === undefined ? [] : [follow(schema.$ref, reading)]),
  ];
  return [schema, ...inner.flatMap((one) => partsOf(one, reading, [...seen, schema]))];
}

/** True if the author restricts the values: by type, by listing them, or in each of several forms. */
function isTyped(schema: unknown, reading: Reading, seen: readonly unknown[] = []): boolean {
  if (seen.includes(schema)) return false;
  const isTypedInside = (one: unknown) => isTyped(one, reading, [...seen, schema]);
  return partsOf(schema, reading).some((part) => {
    if (part.type !== undefined || part.const !== undefined || part.enum !== undefined) return true;
    const forms = [part.anyOf, part.oneOf].filter((list): list is unknown[] => Array.isArray(list) && list.length > 0);
    return forms.some((list) => list.every(isTypedInside));
  });
}

function impliedBy(schema: Schema): readonly string[] {
  return Object.keys(schema).flatMap((key) => {
    if (key === 'format' && NUMBER_FORMATS.includes(schema.format)) return 'number';
    return TYPE_OF.get(key) ?? [];
  });
}
