import { isSchema, mergeSchemas, own, resolveSchema, type Schema, schemasOf, textOf, textsOf } from './schema.ts';

/** What a form shows for a schema. */
export type Field =
  | (FieldWords & { readonly kind: 'text'; readonly format: string | undefined; readonly isLong: boolean })
  | (FieldWords & { readonly kind: 'number'; readonly isInteger: boolean })
  | (FieldWords & { readonly kind: 'boolean' | 'any' })
  | (FieldWords & { readonly kind: 'choice'; readonly choices: readonly Choice[] })
  | (FieldWords & { readonly kind: 'constant'; readonly raw: string })
  | (FieldWords & { readonly kind: 'union'; readonly variants: readonly Variant[] })
  | (FieldWords & { readonly kind: 'list'; readonly first: readonly unknown[]; readonly items: unknown })
  | (FieldWords & ObjectParts);

interface FieldWords {
  /** The schema without references. */
  readonly schema: Schema;
  /** The type in words, such as "integer" or "list of text". */
  readonly type: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** The default as JSON. It is shown, never sent. */
  readonly preset: string | undefined;
  readonly isNullable: boolean;
  readonly isDeprecated: boolean;
  /** Limits in words, such as "at least 1". */
  readonly limits: readonly string[];
}

interface ObjectParts {
  readonly kind: 'object';
  readonly members: readonly Member[];
  /** The schema of members that are not named; undefined if there can be none. */
  readonly others: unknown;
}

export interface Member {
  readonly name: string;
  readonly schema: unknown;
  readonly isRequired: boolean;
}

export interface Choice {
  /** The value as JSON. */
  readonly raw: string;
  readonly label: string;
}

export interface Variant {
  readonly label: string;
  readonly schema: Schema;
}

/** Describes the form field of a schema. References are followed one step at a time, so a schema may contain itself. */
export function describeField(schema: unknown, root: Schema): Field {
  const resolved = resolveSchema(schema, root);
  const { variants, isNullable, base } = splitUnion(resolved, root);
  const only = variants.length === 1 ? variants[0] : undefined;
  if (only !== undefined) {
    const inner = describeField(mergeSchemas(base, only), root);
    return { ...inner, isNullable: inner.isNullable || isNullable, ...wordsOver(base, inner) };
  }
  const words = toWords(base, isNullable);
  const choices = choicesOf(base, variants);
  if (choices !== undefined) {
    const [first] = choices;
    if (choices.length === 1 && first !== undefined && !isNullable)
      return { ...words, kind: 'constant', raw: first.raw };
    return { ...words, type: 'choice', kind: 'choice', choices: choices.filter(({ raw }) => raw !== 'null') };
  }
  if (variants.length > 1) {
    const merged = variants.map((variant) => mergeSchemas(base, variant));
    return {
      ...words,
      type: 'one of',
      kind: 'union',
      variants: merged.map((one, index) => toVariant(one, index, root)),
    };
  }
  return describePlain(base, words, root);
}

function wordsOver(base: Schema, inner: Field) {
  return { title: textOf(base.title) ?? inner.title, description: textOf(base.description) ?? inner.description };
}

function describePlain(schema: Schema, words: FieldWords, root: Schema): Field {
  const type = typeOf(schema);
  if (type === 'string') {
    const format = textOf(schema.format);
    const isLong = Number(schema.maxLength ?? 0) > 300 || format === 'multiline' || format === 'textarea';
    return { ...words, type: format ?? 'text', kind: 'text', format, isLong };
  }
  if (type === 'integer' || type === 'number') return { ...words, type, kind: 'number', isInteger: type === 'integer' };
  if (type === 'boolean') return { ...words, type: 'true or false', kind: 'boolean' };
  if (type === 'null') return { ...words, type: 'null', kind: 'constant', raw: 'null' };
  if (type === 'array') {
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
    const items = schema.items === undefined && first.length === 0 ? {} : schema.items;
    const inside = isSchema(items) ? typeWord(resolveSchema(items, root)) : undefined;
    return { ...words, type: inside === undefined ? 'list' : `list of ${inside}`, kind: 'list', first, items };
  }
  if (type === 'object') return { ...words, type: 'object', ...objectParts(schema) };
  return { ...words, type: 'any JSON', kind: 'any' };
}

function objectParts(schema: Schema): ObjectParts {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const required = textsOf(schema.required);
  const names = [...Object.keys(properties), ...required.filter((name) => !Object.hasOwn(properties, name))];
  const patterns = isSchema(schema.patternProperties) ? Object.values(schema.patternProperties) : [];
  const extra = schema.additionalProperties;
  const others = isSchema(extra) ? extra : (patterns[0] ?? (names.length === 0 && extra !== false ? {} : undefined));
  return {
    kind: 'object',
    members: names.map((name) => ({ name, schema: own(properties, name), isRequired: required.includes(name) })),
    others,
  };
}

interface SplitUnion {
  readonly variants: readonly Schema[];
  readonly isNullable: boolean;
  readonly base: Schema;
}

/** Takes the branches of a union apart. `null` among them makes the field nullable. */
function splitUnion(schema: Schema, root: Schema): SplitUnion {
  const { oneOf, anyOf, nullable, ...rest } = schema;
  const branches = schemasOf(oneOf ?? anyOf).map((branch) => resolveSchema(branch, root));
  if (branches.length > 0) {
    const variants = branches.filter((branch) => branch.type !== 'null' && branch.const !== null);
    const isNullable = nullable === true || variants.length < branches.length;
    return { variants, isNullable, base: oneOf !== undefined && anyOf !== undefined ? { ...rest, anyOf } : rest };
  }
  if (!Array.isArray(schema.type)) return { variants: [], isNullable: nullable === true, base: rest };
  const types = textsOf(schema.type).filter((type) => type !== 'null');
  const isNullable = types.length < schema.type.length;
  if (Array.isArray(rest.enum)) return { variants: [], isNullable, base: { ...rest, type: types[0] } };
  return { variants: types.map((type) => ({ type })), isNullable, base: rest };
}

function choicesOf(base: Schema, variants: readonly Schema[]): readonly Choice[] | undefined {
  if (Array.isArray(base.enum)) return base.enum.map((value) => toChoice(value));
  if ('const' in base) return [toChoice(base.const)];
  if (variants.length < 2 || !variants.every((variant) => 'const' in variant && typeOf(variant) !== 'object'))
    return undefined;
  return variants.map((variant) => toChoice(variant.const, textOf(variant.title) ?? textOf(variant.description)));
}

function toChoice(value: unknown, says?: string): Choice {
  const raw = JSON.stringify(value) ?? 'null';
  const label = typeof value === 'string' && value !== '' ? value : raw;
  return { raw, label: says === undefined ? label : `${label} · ${says}` };
}

function toVariant(schema: Schema, index: number, root: Schema): Variant {
  return { schema, label: textOf(schema.title) ?? variantWords(schema, root) ?? `form ${index + 1}` };
}

function variantWords(schema: Schema, root: Schema): string | undefined {
  const type = typeWord(schema);
  if (type !== 'object') return type;
  const properties = isSchema(schema.properties) ? schema.properties : {};
  for (const [name, property] of Object.entries(properties)) {
    const { const: fixed } = resolveSchema(property, root);
    if (fixed !== undefined) return `${name}: ${typeof fixed === 'string' ? fixed : JSON.stringify(fixed)}`;
  }
  const required = textsOf(schema.required);
  const names = required.length > 0 ? required : Object.keys(properties);
  return names.length === 0 ? undefined : `with ${names.slice(0, 3).join(', ')}`;
}

/** The type of a schema; where it is not given, what the other keywords imply. */
function typeOf(schema: Schema): string | undefined {
  const { type } = schema;
  if (typeof type === 'string') return type;
  const implied: readonly (readonly [string, readonly string[]])[] = [
    ['object', ['properties', 'additionalProperties', 'patternProperties', 'required']],
    ['array', ['items', 'prefixItems', 'minItems', 'maxItems']],
    ['string', ['pattern', 'minLength', 'maxLength', 'format']],
    ['number', ['minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum']],
  ];
  return implied.find(([, keywords]) => keywords.some((keyword) => schema[keyword] !== undefined))?.[0];
}

function typeWord(schema: Schema): string | undefined {
  if (Array.isArray(schema.enum)) return 'choices';
  const type = typeOf(schema);
  return type === 'string' ? (textOf(schema.format) ?? 'text') : type === 'array' ? 'list' : type;
}

function toWords(schema: Schema, isNullable: boolean): FieldWords {
  return {
    schema,
    type: typeWord(schema) ?? 'any JSON',
    title: textOf(schema.title),
    description: textOf(schema.description),
    preset: schema.default === undefined ? undefined : JSON.stringify(schema.default),
    isNullable: isNullable || (Array.isArray(schema.enum) && schema.enum.includes(null)),
    isDeprecated: schema.deprecated === true,
    limits: limitsOf(schema),
  };
}

const LIMITS: readonly (readonly [string, (value: string) => string])[] = [
  ['minimum', (value) => `at least ${value}`],
  ['exclusiveMinimum', (value) => `more than ${value}`],
  ['maximum', (value) => `at most ${value}`],
  ['exclusiveMaximum', (value) => `less than ${value}`],
  ['multipleOf', (value) => `a multiple of ${value}`],
  ['minLength', (value) => `at least ${counted(value, 'character')}`],
  ['maxLength', (value) => `at most ${counted(value, 'character')}`],
  ['pattern', (value) => `matches ${value}`],
  ['minItems', (value) => `at least ${counted(value, 'item')}`],
  ['maxItems', (value) => `at most ${counted(value, 'item')}`],
];

/** 1 item, 2 items. */
export function counted(value: string, word: string): string {
  return `${value} ${word}${value === '1' ? '' : 's'}`;
}

function limitsOf(schema: Schema): readonly string[] {
  const limits = LIMITS.flatMap(([keyword, says]) => {
    const value = schema[keyword];
    return typeof value === 'number' || typeof value === 'string' ? [says(String(value))] : [];
  });
  return schema.uniqueItems === true ? [...limits, 'no item twice'] : limits;
}
