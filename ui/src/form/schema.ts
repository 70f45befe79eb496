/** A JSON Schema as the server sent it. Nothing about its shape is certain. */
export type Schema = Readonly<Record<string, unknown>>;

const MAX_HOPS = 30;

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schemas of a list keyword; without those that are not schemas. */
export function schemasOf(value: unknown): readonly Schema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** The text of a keyword; undefined if it is absent or not a text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** The own property of a schema's object keyword, such as a name under `properties`. */
export function own(record: unknown, name: string): unknown {
  return isSchema(record) && Object.hasOwn(record, name) ? record[name] : undefined;
}

/** A schema without `$ref` and `allOf` at its top: what they refer to is merged into it. */
export function resolveSchema(schema: unknown, root: Schema): Schema {
  return resolveWithin(schema, root, MAX_HOPS);
}

function resolveWithin(schema: unknown, root: Schema, hops: number): Schema {
  if (!isSchema(schema)) return {};
  const { $ref, allOf, ...rest } = schema;
  if (hops === 0) return rest;
  const target = typeof $ref === 'string' ? findReference($ref, root) : undefined;
  const parts = [...(target === undefined ? [] : [target]), ...schemasOf(allOf)];
  return parts
    .map((part) => resolveWithin(part, root, hops - 1))
    .reduceRight((merged, part) => mergeSchemas(part, merged), rest as Schema);
}

/** The schema that a local reference names; undefined if there is none. */
function findReference(reference: string, root: Schema): Schema | undefined {
  if (!reference.startsWith('#')) return undefined;
  const pointer = decodePointer(reference.slice(1));
  if (pointer !== '' && !pointer.startsWith('/')) return findAnchor(root, pointer);
  let found: unknown = root;
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    found = Array.isArray(found) ? found[Number(name)] : own(found, name);
  }
  return isSchema(found) ? found : undefined;
}

function decodePointer(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}

function findAnchor(root: Schema, anchor: string): Schema | undefined {
  return Object.values({ ...asRecord(root.$defs), ...asRecord(root.definitions) })
    .filter(isSchema)
    .find((schema) => schema.$anchor === anchor);
}

function asRecord(value: unknown): Schema {
  return isSchema(value) ? value : {};
}

/** Both schemas in one: the second one wins where one value is possible, names and demands are joined. */
export function mergeSchemas(first: Schema, second: Schema): Schema {
  const merged: Record<string, unknown> = { ...first, ...second };
  if (isSchema(first.properties) && isSchema(second.properties))
    merged.properties = mergeProperties(first.properties, second.properties);
  const required = [...new Set([...textsOf(first.required), ...textsOf(second.required)])];
  if (required.length > 0) merged.required = required;
  return merged;
}

function mergeProperties(first: Schema, second: Schema): Schema {
  const both = Object.keys(second).filter((name) => Object.hasOwn(first, name));
  const joined = both.map((name) => [name, { allOf: [first[name], second[name]].filter(isSchema) }] as const);
  return { ...first, ...second, ...Object.fromEntries(joined) };
}
