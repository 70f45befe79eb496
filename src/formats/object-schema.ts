import { canonicalJson, copyJson, isRecord, type JsonSchema, resolveReference } from '../core/json.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { MAP_KEYWORDS, SCHEMA_KEYWORDS } from '../schemas/schema-keywords.ts';

/** A schema whose root says `type: object`, as every vendor asks for arguments. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/**
 * A copy with an object at its root and without the keywords that a vendor forbids there.
 * Alternatives are folded into one list of properties, a hint for the model: no property is demanded that some alternative
 * does without, and each keeps the types that any of them gives it. The pipeline judges by the whole schema.
 */
export function toObjectSchema(schema: JsonSchema, forbidden: readonly string[] = []): ObjectSchema {
  const root = inlineRootReference(copySchema(schema));
  if (!forbidden.some((keyword) => Object.hasOwn(root, keyword))) return { ...root, type: 'object' };
  // Folded alternatives no longer say what `unevaluatedProperties` would count.
  const gone = new Set([...forbidden, 'properties', 'required', 'unevaluatedProperties']);
  const rest = Object.fromEntries(Object.entries(root).filter(([keyword]) => !gone.has(keyword)));
  return { ...rest, type: 'object', ...keywordsOf(createFolder(root)(root)) };
}

/** The part of a schema that can be folded: each property with its distinct schemas, and what is required. */
interface Shape {
  readonly properties: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
  readonly required: readonly string[];
}
const NOTHING: Shape = { properties: new Map(), required: [] };
const MAX_REFERENCES_DEEP = 50;

/** Folds the schemas of one document, each reference once: one that leads back to where it came from adds nothing new. */
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

// What the root points at becomes the root; the definitions stay, so deeper references still lead somewhere.
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

/** Throws where two specs would be exported under one name, naming the sources of both. */
export function requireDistinctNames(specs: readonly Pick<ToolSpec, 'name' | 'source'>[]): void {
  const owners = new Map<string, string>();
  for (const { name, source } of specs) {
    const owner = owners.get(name);
    if (owner !== undefined) {
      throw new ToolcribError(
        'duplicate',
        `"${name}" is given twice, from ${owner} and from ${source}; a model needs one tool per name, so leave one out.`,
      );
    }
    owners.set(name, source);
  }
}

/** Throws where a vendor would refuse the whole request because of too many tools. */
export function requireAtMost(specs: readonly unknown[], maxTools: number, vendor: string): void {
  if (specs.length <= maxTools) return;
  throw new ToolcribError(
    'too_many_tools',
    `${vendor} takes at most ${maxTools} tools and ${specs.length} were given; narrow the profile, deactivate bundles, or let the model search with "expose: search".`,
  );
}

/** The text, cut with an ellipsis where it is longer than a vendor allows. */
export function shorten(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const kept = text.slice(0, maxCharacters - 1).replace(/[\uD800-\uDBFF]$/, ''); // never half of a surrogate pair
  return `${kept}…`;
}
