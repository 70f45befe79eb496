import { isRecord } from '../../../core/json.ts';
import { JSON_TYPES } from '../../../schemas/schema-keywords.ts';
import type { Fields } from './load-description.ts';
import { joinNotes, shortText } from './reading.ts';

/** A schema under construction. */
export type Draft = Record<string, unknown>;

/** Longer enums are not checked here; the API checks them. */
export const MAX_ENUM = 1000;
const MAX_DESCRIPTION = 300;
const MAX_SHOWN = 100;

/** Converts the keywords without subschemas to JSON Schema 2020-12; keeps only those that can be checked. */
export function plainKeywords(node: Fields, isRunnable: (pattern: string) => boolean): Draft {
  const draft: Draft = {};
  const types = typesOf(node);
  if (types.length > 0) draft.type = types.length === 1 ? types[0] : types;
  const format = formatOf(node);
  if (format !== undefined) draft.format = format;
  if (typeof node.pattern === 'string' && isRunnable(node.pattern)) draft.pattern = node.pattern;
  if (typeof node.uniqueItems === 'boolean') draft.uniqueItems = node.uniqueItems;
  for (const key of SIZES) if (isSize(node[key])) draft[key] = node[key];
  addBounds(node, draft);
  addChoices(node, draft);
  const description = describeSchema(node, draft);
  if (description !== '') draft.description = description;
  const example = exampleOf(node);
  if (example !== undefined) draft.examples = [example];
  return draft;
}

const SIZES = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'] as const;

function isSize(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0; // checked to be a number
}

function typesOf({ type, properties, items }: Fields): readonly string[] {
  const given = (Array.isArray(type) ? type : [type]).filter((one) => JSON_TYPES.has(one));
  if (given.length > 0 || type !== undefined) return [...new Set<string>(given)];
  if (isRecord(properties)) return ['object'];
  return isRecord(items) ? ['array'] : [];
}

/** OpenAPI 3.1 marks a file by its media type. */
function formatOf({ format, contentMediaType, contentEncoding }: Fields): string | undefined {
  if (typeof format === 'string') return format;
  const isFile = typeof contentMediaType === 'string' && !/^text\/|json$/.test(contentMediaType);
  return isFile || contentEncoding === 'base64' ? 'binary' : undefined;
}

/** OpenAPI 3.0 marks an exclusive limit with `true`. */
function addBounds(node: Fields, draft: Draft): void {
  for (const [limit, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (isNumber(node[limit])) draft[node[exclusive] === true ? exclusive : limit] = node[limit];
    if (isNumber(node[exclusive])) draft[exclusive] = node[exclusive];
  }
  if (isNumber(node.multipleOf) && node.multipleOf > 0) draft.multipleOf = node.multipleOf;
}

function addChoices(node: Fields, draft: Draft): void {
  if (isScalar(node.const)) draft.const = node.const;
  const { enum: given } = node;
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_ENUM || !given.every(isScalar)) return;
  draft.enum = [...new Set(given.map((value) => asTyped(value, draft.type)))];
}

/** Authors quote numbers, and forget to quote texts that look like numbers. */
function asTyped(value: unknown, type: unknown): unknown {
  if (type === 'string' && value !== null) return String(value);
  if ((type === 'integer' || type === 'number') && typeof value === 'string' && isNumber(Number(value)))
    return Number(value);
  return value;
}

/** A default is described, not filled in: the API applies its own, and a filled default would change a partial update. */
function describeSchema(node: Fields, draft: Draft): string {
  const said = shortText(node.description ?? node.title, MAX_DESCRIPTION);
  const isLong = Array.isArray(node.enum) && node.enum.length > MAX_ENUM;
  const notes = [
    node.deprecated === true ? 'Deprecated.' : '',
    said,
    isLong ? `One of ${(node.enum as readonly unknown[]).length} values.` : '', // checked to be a list
    isScalar(node.default) && node.default !== null && draft.const === undefined
      ? `Default: ${shortText(String(node.default), MAX_SHOWN)}.`
      : '',
  ];
  return joinNotes(notes.filter((note) => note !== 'Default: .'));
}

function exampleOf({ example, examples }: Fields): unknown {
  const [first] = Array.isArray(examples) ? examples : [example];
  return isScalar(first) && first !== null && String(first).length <= MAX_SHOWN ? first : undefined;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || isNumber(value);
}
