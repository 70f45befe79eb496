import type { JsonSchema } from '../../core/json.ts';

/** The era of a client's protocol revision: modern is 2026-07-28, legacy is older. */
export type Era = 'modern' | 'legacy';

/** The form of a tool's results in the protocol. */
export interface OutputShape {
  readonly era: Era;
  /** True if a large result may be stored and replaced by a note. */
  readonly mayBeKept: boolean;
}

/** The key of the note that replaces a large result. */
export const KEPT_KEY = 'toolcrib/result';

const KEPT: JsonSchema = {
  type: 'object',
  description: 'Replaces a result that is too large to return; read_result reads parts of it.',
  properties: {
    [KEPT_KEY]: {
      type: 'object',
      properties: { id: { type: 'string' }, bytes: { type: 'integer' }, expiresAt: { type: 'integer' } },
      required: ['bytes'],
    },
  },
  required: [KEPT_KEY],
};

/** The output schema to list. Clients reject structured content that does not match it. */
export function listedOutput(output: JsonSchema, { era, mayBeKept }: OutputShape): JsonSchema {
  const shaped = isWrapped(output, era) ? wrap(output) : output;
  return mayBeKept ? orKept(shaped) : shaped;
}

/** True if the data is wrapped as `{ result }` for older clients, which accept only objects. */
export function isWrapped(output: JsonSchema | undefined, era: Era): boolean {
  return era === 'legacy' && output !== undefined && output.type !== 'object';
}

function wrap(schema: JsonSchema): JsonSchema {
  const properties = { result: moved(schema, '#/properties/result') };
  return { ...dialectOf(schema), type: 'object', properties, required: ['result'] };
}

function orKept(schema: JsonSchema): JsonSchema {
  const type = schema.type === 'object' ? { type: 'object' } : {};
  return { ...dialectOf(schema), ...type, anyOf: [moved(schema, '#/anyOf/0'), KEPT] };
}

function dialectOf({ $schema }: JsonSchema): JsonSchema {
  return typeof $schema === 'string' ? { $schema } : {};
}

/** The schema for use inside another schema: its references are rewritten to the new place. */
function moved({ $schema: _dialect, ...schema }: JsonSchema, pointer: string): JsonSchema {
  return isBase(schema) ? schema : (withReferences(schema, pointer, 'schema') as JsonSchema); // a schema stays one
}

/** Keywords whose values are data, not schemas. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
/** Keywords whose values map free names to schemas; a name can look like a keyword. */
const NAMED: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

function withReferences(value: unknown, pointer: string, place: 'schema' | 'names'): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withReferences(item, pointer, 'schema'));
  if (place === 'schema' && isBase(value)) return value;
  const entries = Object.entries(value).map(([key, member]): readonly [string, unknown] => {
    if (place === 'names') return [key, withReferences(member, pointer, 'schema')];
    if (key === '$ref' || key === '$dynamicRef') return [key, redirected(member, pointer)];
    if (DATA.has(key)) return [key, member];
    return [key, withReferences(member, pointer, NAMED.has(key) ? 'names' : 'schema')];
  });
  return Object.fromEntries(entries);
}

function redirected(reference: unknown, pointer: string): unknown {
  if (reference === '#') return pointer;
  return typeof reference === 'string' && reference.startsWith('#/') ? `${pointer}${reference.slice(1)}` : reference;
}

/** True if the schema has its own `$id`: its references are relative to itself. */
function isBase(schema: object): boolean {
  const id = '$id' in schema ? schema.$id : undefined;
  return typeof id === 'string' && !id.startsWith('#');
}
