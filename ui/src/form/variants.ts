import type { JsonNode } from '../json/json-text.ts';
import { printJson } from '../json/json-value.ts';
import { describeField, type Field, type Variant } from './field.ts';
import { isSchema, own, type Schema, textsOf } from './schema.ts';

/** The index of the variant that fits a value best; undefined if none fits. */
export function fittingVariant(node: JsonNode, variants: readonly Variant[], root: Schema): number | undefined {
  const scores = variants.map(({ schema }) => fitOf(node, schema, root));
  const best = Math.max(...scores);
  return best < 0 ? undefined : scores.indexOf(best);
}

/** How well a value fits: negative if it cannot, more for each member that the schema knows and demands. */
function fitOf(node: JsonNode, schema: Schema, root: Schema): number {
  const field = describeField(schema, root);
  if (!fitsKind(node, field)) return -1;
  if (field.kind !== 'object' || node.type !== 'object') return 1;
  let score = 1;
  for (const { name, schema: inner, isRequired } of field.members) {
    const value = node.members.find(({ key }) => key === name)?.value;
    if (value === undefined) {
      if (isRequired) score -= 0.1;
      continue;
    }
    const member = describeField(inner, root);
    if (member.kind === 'constant') {
      if (printJson(value, 'sorted') !== member.raw) return -1;
      score += 10;
    } else score += fitsKind(value, member) ? 1 : 0.2;
  }
  const known = new Set(field.members.map(({ name }) => name));
  return score - 0.2 * node.members.filter(({ key }) => !known.has(key)).length;
}

function fitsKind(node: JsonNode, field: Field): boolean {
  const isNull = node.type === 'literal' && node.value === null;
  if (isNull && field.isNullable) return true;
  switch (field.kind) {
    case 'text':
      return node.type === 'string';
    case 'number':
      return node.type === 'number';
    case 'boolean':
      return node.type === 'literal' && !isNull;
    case 'object':
      return node.type === 'object';
    case 'list':
      return node.type === 'array';
    case 'choice':
      return field.choices.some(({ raw }) => raw === printJson(node));
    case 'constant':
      return printJson(node) === field.raw;
    default:
      return true;
  }
}

/** The first value of a schema where one must be there, such as a new item of a list. Defaults are not used. */
export function firstValue(schema: unknown, root: Schema): string {
  const field = describeField(schema, root);
  if (field.kind === 'constant') return field.raw;
  if (field.kind === 'choice') return field.choices[0]?.raw ?? 'null';
  if (field.kind === 'object') return constantsOf(field.schema, root);
  const values = { text: '""', number: '0', boolean: 'false', list: '[]', any: 'null' } as const;
  if (field.kind === 'union') {
    const [variant] = field.variants;
    return variant === undefined ? 'null' : firstValue(variant.schema, root);
  }
  return values[field.kind];
}

/** An object with the members that can have one value only, such as the kind of a variant. */
function constantsOf(schema: Schema, root: Schema): string {
  const members = fixedMembers(schema, root);
  return `{${members.map(([name, raw]) => `${JSON.stringify(name)}: ${raw}`).join(', ')}}`;
}

/** The required members of a schema that can have one value only. */
function fixedMembers(schema: Schema, root: Schema): readonly (readonly [string, string])[] {
  const { properties } = schema;
  if (!isSchema(properties)) return [];
  return textsOf(schema.required).flatMap((name) => {
    const field = describeField(own(properties, name), root);
    return field.kind === 'constant' ? [[name, field.raw] as const] : [];
  });
}

/** The value after another variant was chosen: members of the old variant go, fixed members of the new one come. Undefined: absent. */
export function switchVariant(
  node: JsonNode | undefined,
  [from, to]: readonly [Variant | undefined, Variant],
  root: Schema,
) {
  const field = describeField(to.schema, root);
  if (field.kind === 'constant') return field.raw;
  if (field.kind !== 'object') return undefined;
  const known = new Set(field.members.map(({ name }) => name));
  const fixed = new Map(fixedMembers(to.schema, root));
  const before = isSchema(from?.schema.properties) ? from.schema.properties : {};
  const kept = (node?.type === 'object' ? node.members : []).filter(
    ({ key }) => !fixed.has(key) && (known.has(key) || !Object.hasOwn(before, key)),
  );
  const members = [...fixed, ...kept.map(({ key, value }) => [key, printJson(value)] as const)];
  return members.length === 0
    ? undefined
    : `{${members.map(([key, raw]) => `${JSON.stringify(key)}: ${raw}`).join(', ')}}`;
}
