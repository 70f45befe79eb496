import { ToolcribError } from '../core/tool-error.ts';

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
export function isDialectUri(uri: string, dialect: Dialect): boolean {
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
