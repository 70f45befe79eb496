import { type Dialect, isDialectUri } from './schema-dialect.ts';

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
