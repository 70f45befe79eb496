/** The meaning of a string, which decides how it is checked and normalized. */
type TextUse =
  | 'path'
  | 'pathOrUrl'
  | 'command'
  | 'argument'
  | 'module'
  | 'storeUrl'
  | 'secretText'
  | 'secretUrl'
  | 'secretName'
  | 'hostBinding';

/** The JSON types that a node can have. */
export type JsonType = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean';

/** The subset of JSON Schema 2020-12 that describes the configuration. The emitted schema omits our own keys `use`, `decides`, `holds`, `says`, `typeName` and `typeFrom`. */
export interface SchemaNode {
  readonly type?: JsonType;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: false | SchemaNode;
  readonly propertyNames?: { readonly pattern: string };
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly minItems?: number;
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly (string | boolean)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly format?: 'uri';
  readonly use?: TextUse | 'commandLine' | 'selector' | 'spec';
  /** Limits whether the target of a path decides what the crib runs: never, or only if it is a file. If absent, it always does. */
  readonly decides?: 'nothing' | 'file';
  /** The content of the file at a path: secrets, which no command may read, or MCP servers, which name further paths. */
  readonly holds?: 'secrets' | 'servers';
  /** Describes in words the values that `pattern` accepts. */
  readonly says?: string;
  /** Name of the TypeScript type of the value: generated, or imported from `typeFrom`. */
  readonly typeName?: string;
  /** The module under `src` that exports the type. */
  readonly typeFrom?: string;
}

/** The keys of a node that are not part of JSON Schema. */
export const OUR_KEYS = ['use', 'decides', 'holds', 'says', 'typeName', 'typeFrom'] as const;

/** Names the TypeScript type of a node: a generated type, or one that `typeFrom` exports. */
export function typed(typeName: string, node: SchemaNode, typeFrom?: string): SchemaNode {
  return { ...node, typeName, ...(typeFrom !== undefined && { typeFrom }) };
}

/** A string, not empty by default. */
export function text(description: string, more: SchemaNode = {}): SchemaNode {
  return { type: 'string', description, minLength: 1, ...more };
}

/** An http or https URL. */
export function address(description: string, more: SchemaNode = {}): SchemaNode {
  return text(description, { format: 'uri', ...more });
}

/** A boolean. */
export function flag(description: string): SchemaNode {
  return { type: 'boolean', description };
}

/** A whole number of at least `minimum`. */
export function whole(description: string, minimum = 1, maximum?: number): SchemaNode {
  return { type: 'integer', description, minimum, ...(maximum !== undefined && { maximum }) };
}

/** One of several fixed strings. */
export function choice(words: readonly string[], description: string): SchemaNode {
  return { type: 'string', enum: words, description };
}

/** A value of one of several shapes. The type or the required keys decide which. */
export function either(description: string, ...anyOf: readonly SchemaNode[]): SchemaNode {
  return { description, anyOf };
}

/** A list. */
export function list(items: SchemaNode, description: string, minItems = 0): SchemaNode {
  return { type: 'array', description, items, ...(minItems > 0 && { minItems }) };
}

/** One item, or a list of items. */
export function oneOrMany(item: SchemaNode, description: string): SchemaNode {
  return either(description, item, { type: 'array', items: item });
}

/** A map whose keys the author chooses. */
export function mapOf(member: SchemaNode, description: string, more: SchemaNode = {}): SchemaNode {
  return { type: 'object', description, additionalProperties: member, ...more };
}

/** Any JSON. */
export function anything(description: string): SchemaNode {
  return { description };
}

/** An object with exactly these keys. If `T` is given, they must be the keys of `T`. */
export function object<T extends object = Readonly<Record<string, unknown>>>(
  description: string,
  properties: Readonly<Record<keyof T & string, SchemaNode>>,
  required: readonly (keyof T & string)[] = [],
): SchemaNode {
  return {
    type: 'object',
    description,
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Pattern of a name that the author chooses. */
export const NAME_PATTERN = '^[A-Za-z_][A-Za-z0-9_.-]{0,63}$';

/** `NAME_PATTERN` in words. */
export const NAME_SAYS = 'letters, digits, "_", "-" and ".", starting with a letter or "_", at most 64 characters';

/** Restricts the keys of a map to names of sources, bundles, profiles and the like. */
export const NAMES: SchemaNode = { propertyNames: { pattern: NAME_PATTERN } };

/** The name of an environment variable. */
export const VARIABLE_NAME = text('The name of an environment variable.', {
  pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
  says: 'the name of an environment variable',
});
