import { canonicalJson, copyJson, isRecord, type JsonSchema } from '../core/json.ts';
import { resolveReference } from '../core/json-pointer.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { MAP_KEYWORDS, SCHEMA_KEYWORDS } from '../schemas/schema-keywords.ts';

/** A schema with `type: object` at its root, which every vendor requires for arguments. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/**
 * Copies a schema with an object at its root and without the root keywords that a vendor forbids.
 * Alternatives are merged into one list of properties, as a hint for the model: a property is required only if all
 * alternatives require it, and keeps the types of all alternatives. The crib validates with the full schema.
 */
export function toObjectSchema(schema: JsonSchema, forbidden: readonly string[] = []): ObjectSchema {
  const root = inlineRootReference(copySchema(schema));
  if (!forbidden.some((keyword) => Object.hasOwn(root, keyword))) return { ...root, type: 'object' };
  // After merging, `unevaluatedProperties` has no meaning.
  const gone = new Set([...forbidden, 'properties', 'required', 'unevaluatedProperties']);
  const rest = Object.fromEntries(Object.entries(root).filter(([keyword]) => !gone.has(keyword)));
  return { ...rest, type: 'object', ...keywordsOf(createFolder(root)(root)) };
}

/** The merged part of a schema: each property with its distinct schemas, and the required properties. */
interface Shape {
  readonly properties: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
  readonly required: readonly string[];
}
const NOTHING: Shape = { properties: new Map(), required: [] };
const MAX_REFERENCES_DEEP = 50;

/** Merges the schemas of one document. Follows each reference once, so that cycles end. */
function createFolder(root: JsonSchema): (schema: unknown) => Shape {
  const known = new Map<string, Shape>();
  let deep = 0;

  function follow(reference: unknown): Shape {
    if (typeof reference !== 'string' || deep >= MAX_REFERENCES_DEEP) return NOTHING;
    const before = known.get(reference);
    if (before !== undefined) return before;
    known.set(reference, NOTHING);
    deep += 1;
    const shape = fold(resolveReference(reference, root));
    deep -= 1;
    known.set(reference, shape);
    return shape;
  }

  function fold(schema: unknown): Shape {
    if (!isRecord(schema)) return NOTHING;
    return joinShapes([
      ownShape(schema),
      follow(schema.$ref),
      ...listIn(schema, 'allOf').map(fold),
      eitherOf(listIn(schema, 'anyOf').map(fold)),
      eitherOf(listIn(schema, 'oneOf').map(fold)),
    ]);
  }
  return fold;
}

function ownShape(schema: JsonSchema): Shape {
  const properties = Object.entries(isRecord(schema.properties) ? schema.properties : {});
  return {
    properties: new Map(properties.map(([name, property]) => [name, new Map([[canonicalJson(property), property]])])),
    required: listIn(schema, 'required').filter((name) => typeof name === 'string'),
  };
}

function joinShapes(shapes: readonly Shape[]): Shape {
  const properties = new Map<string, ReadonlyMap<string, unknown>>();
  for (const shape of shapes) {
    for (const [name, variants] of shape.properties) {
      properties.set(name, new Map([...(properties.get(name) ?? []), ...variants]));
    }
  }
  return { properties, required: [...new Set(shapes.flatMap((shape) => shape.required))] };
}

function eitherOf(branches: readonly Shape[]): Shape {
  const [first, ...others] = branches;
  if (first === undefined) return NOTHING;
  const required = first.required.filter((name) => others.every((other) => other.required.includes(name)));
  return { properties: joinShapes(branches).properties, required };
}

function keywordsOf(shape: Shape): { readonly properties?: unknown; readonly required?: readonly string[] } {
  const properties = Object.fromEntries(
    Array.from(shape.properties, ([name, variants]) => [name, anyOf([...variants.values()])]),
  );
  return {
    ...(shape.properties.size > 0 && { properties }),
    ...(shape.required.length > 0 && { required: shape.required }),
  };
}

function anyOf(schemas: readonly unknown[]): unknown {
  return schemas.length === 1 ? schemas[0] : { anyOf: schemas };
}

function listIn(schema: JsonSchema, keyword: string): readonly unknown[] {
  const list = schema[keyword];
  return Array.isArray(list) ? list : [];
}

const JOINABLE = new Set(['default', 'description', 'examples', 'properties', 'required', 'title', 'type']);

// The target of a root reference becomes the root; the definitions stay, so that deeper references still resolve.
function inlineRootReference(root: JsonSchema): JsonSchema {
  const seen = new Set<string>();
  let schema = root;
  while (typeof schema.$ref === 'string' && !seen.has(schema.$ref)) {
    const { $ref, ...beside } = schema;
    seen.add(schema.$ref);
    const target = resolveReference(schema.$ref, root);
    if (!isRecord(target)) return schema;
    const joinable = Object.keys(beside).every((keyword) => keyword.startsWith('$') || JOINABLE.has(keyword));
    if (!joinable) return { ...beside, allOf: [...listIn(beside, 'allOf'), target] };
    schema = { ...target, ...beside, ...keywordsOf(joinShapes([ownShape(target), ownShape(beside)])) };
  }
  return schema;
}

/** A deep copy, so that changes to a definition do not affect the crib. */
export function copySchema(schema: JsonSchema): JsonSchema {
  return copyJson(schema) as JsonSchema; // the copy of an object is an object
}

/** Applies `change` to a schema and every schema inside it, innermost first. References are not followed, so recursive schemas are safe. */
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

/** Rewrites tuples for draft 2020-12, where `items: [...]` of older drafts is invalid. */
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

/** Throws if two specs have the same name; the error names both sources. */
export function requireDistinctNames(specs: readonly Pick<ToolSpec, 'name' | 'source'>[]): void {
  const owners = new Map<string, string>();
  for (const { name, source } of specs) {
    const owner = owners.get(name);
    if (owner !== undefined) {
      throw new ToolcribError(
        'duplicate',
        `"${name}" comes from both ${owner} and ${source}, but a model needs unique tool names. Remove or rename one of them.`,
      );
    }
    owners.set(name, source);
  }
}

/** Throws if a vendor would reject the request because of too many tools. */
export function requireAtMost(specs: readonly unknown[], maxTools: number, vendor: string): void {
  if (specs.length <= maxTools) return;
  throw new ToolcribError(
    'too_many_tools',
    `${vendor} accepts at most ${maxTools} tools, but ${specs.length} were given. Narrow the profile, deactivate bundles, or let the model search with "expose: search".`,
  );
}

/** The text, cut with an ellipsis if it is longer than the vendor allows. */
export function shorten(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const kept = text.slice(0, maxCharacters - 1).replace(/[\uD800-\uDBFF]$/, ''); // never half of a surrogate pair
  return `${kept}…`;
}
