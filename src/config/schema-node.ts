/** What a text is for, beyond being a text: how it is brought into its one form when it is read. */
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

/** The types of JSON that the schema speaks of. */
export type JsonType = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean';

/** The part of JSON Schema 2020-12 that the configuration is written in; `use`, `decides`, `holds`, `says`, `typeName` and `typeFrom` are ours and are not emitted. */
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
  /** How far what a path names decides what the crib runs: not at all, or only where it is a file. If absent it does, whatever it is. */
  readonly decides?: 'nothing' | 'file';
  /** What lies at a path, where that matters: secrets, which no command may read, or servers, which name paths themselves. */
  readonly holds?: 'secrets' | 'servers';
  /** What the value must be, in words, where there is a pattern. */
  readonly says?: string;
  /** The TypeScript type of what it describes: generated under this name, or imported from `typeFrom`. */
  readonly typeName?: string;
  /** The module under `src` that has the type. */
  readonly typeFrom?: string;
}

/** The parts of a node that only our own code reads. */
export const OUR_KEYS = ['use', 'decides', 'holds', 'says', 'typeName', 'typeFrom'] as const;

/** A node whose type has a name: one to be generated, or that of a type which `typeFrom` exports. */
export function typed(typeName: string, node: SchemaNode, typeFrom?: string): SchemaNode {
  return { ...node, typeName, ...(typeFrom !== undefined && { typeFrom }) };
}

/** A text. */
export function text(description: string, more: SchemaNode = {}): SchemaNode {
  return { type: 'string', description, minLength: 1, ...more };
}

/** An address of http or https. */
export function address(description: string, more: SchemaNode = {}): SchemaNode {
  return text(description, { format: 'uri', ...more });
}

/** True or false. */
export function flag(description: string): SchemaNode {
  return { type: 'boolean', description };
}

/** A whole number of at least `minimum`. */
export function whole(description: string, minimum = 1, maximum?: number): SchemaNode {
  return { type: 'integer', description, minimum, ...(maximum !== undefined && { maximum }) };
}

/** One word of a few. */
export function choice(words: readonly string[], description: string): SchemaNode {
  return { type: 'string', enum: words, description };
}

/** Something of several shapes, told apart by type or by the keys they require. */
export function either(description: string, ...anyOf: readonly SchemaNode[]): SchemaNode {
  return { description, anyOf };
}

/** A list. */
export function list(items: SchemaNode, description: string, minItems = 0): SchemaNode {
  return { type: 'array', description, items, ...(minItems > 0 && { minItems }) };
}

/** One of something, or a list of it. */
export function oneOrMany(item: SchemaNode, description: string): SchemaNode {
  return either(description, item, { type: 'array', items: item });
}

/** A map of names that the author chooses. */
export function mapOf(member: SchemaNode, description: string, more: SchemaNode = {}): SchemaNode {
  return { type: 'object', description, additionalProperties: member, ...more };
}

/** Any JSON. */
export function anything(description: string): SchemaNode {
  return { description };
}

/** An object of these keys; of exactly those of `T`, where a type of the vocabulary is named. */
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

/** What a chosen name must match. */
export const NAME_PATTERN = '^[A-Za-z_][A-Za-z0-9_.-]{0,63}$';

/** What a chosen name must be, in words. */
export const NAME_SAYS = 'letters, digits, "_", "-" and ".", starting with a letter or "_", at most 64';

/** Names that the author chooses for sources, bundles, profiles and the like. */
export const NAMES: SchemaNode = { propertyNames: { pattern: NAME_PATTERN } };

/** The name of an environment variable. */
export const VARIABLE_NAME = text('The variable.', {
  pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
  says: 'the name of an environment variable',
});
