import type { JsonSchema } from '../../core/json.ts';

/** Which revisions of the protocol a client speaks: 2026-07-28, or one before it. */
export type Era = 'modern' | 'legacy';

/** How the answers of a tool are shaped on the wire. */
export interface OutputShape {
  readonly era: Era;
  /** True if a large answer may be kept, and only a note of it handed over. */
  readonly mayBeKept: boolean;
}

/** The member under which a note stands in the place of a large answer. */
export const KEPT_KEY = 'toolcrib/result';

const KEPT: JsonSchema = {
  type: 'object',
  description: 'Stands in the place of an answer that is too large to be handed over; read_result reads parts of it.',
  properties: {
    [KEPT_KEY]: {
      type: 'object',
      properties: { id: { type: 'string' }, bytes: { type: 'integer' }, expiresAt: { type: 'integer' } },
      required: ['bytes'],
    },
  },
  required: [KEPT_KEY],
};

/** The output schema to list: what is sent as structured content must meet it, or clients refuse the answer. */
export function listedOutput(output: JsonSchema, { era, mayBeKept }: OutputShape): JsonSchema {
  const shaped = isWrapped(output, era) ? wrap(output) : output;
  return mayBeKept ? orKept(shaped) : shaped;
}

/** True if older clients get the answer as the member `result` of an object: they take nothing but objects. */
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

/** The same schema further down in another one: what points at its root points there. */
function moved({ $schema: _dialect, ...schema }: JsonSchema, pointer: string): JsonSchema {
  return isBase(schema) ? schema : (withReferences(schema, pointer, 'schema') as JsonSchema); // a schema stays one
}

/** Values of these are data, whatever they look like. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
/** Values of these are schemas by names that somebody chose, which may read like keywords. */
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

/** A schema with an id of its own is the root of what it points at, wherever it stands. */
function isBase(schema: object): boolean {
  const id = '$id' in schema ? schema.$id : undefined;
  return typeof id === 'string' && !id.startsWith('#');
}
