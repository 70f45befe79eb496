import { isSchemaObject } from '../core/plain-schema.ts';
import type { ToolSpec } from '../core/tool-spec.ts';

/** What of a tool is searched, in the order of the bits that say where a word stands. */
export const FIELDS = [
  'name',
  'title',
  'description',
  'source',
  'bundle',
  'category',
  'tags',
  'parameters',
  'parameterTexts',
  'examples',
] as const;
export type Field = (typeof FIELDS)[number];

/** The texts of one tool, by field. */
export type SearchTexts = Readonly<Record<Field, string>>;

/** More than this of a text is not searched: a description is no place for a book. */
export const MAX_TEXT_LENGTH = 20_000;
const MAX_DEPTH = 5;
const MAX_PARAMETERS = 200;
const MAX_CHOICES = 20;
/** A schema may contain itself, in memory even a hundred times. */
const MAX_SCHEMAS = 1000;

/** What of a spec is searched. A spec may come from anywhere: what is not text counts as none. */
export function searchTextsOf(spec: ToolSpec, bundles: readonly string[] = []): SearchTexts {
  const found: Parameters = { names: '', texts: '', count: 0, schemas: 0, depth: 0 };
  if (isSchemaObject(spec.input)) collectSchema(spec.input, found);
  return {
    name: textOf(spec.name),
    title: textOf(spec.title),
    description: textOf(spec.description),
    source: textOf(spec.source),
    bundle: textOf(bundles),
    category: textOf(spec.category),
    tags: textOf(spec.tags),
    parameters: textOf(found.names),
    parameterTexts: textOf(found.texts),
    examples: textOf(Array.isArray(spec.examples) ? spec.examples.map((example) => example?.request) : ''),
  };
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value.length > MAX_TEXT_LENGTH ? value.slice(0, MAX_TEXT_LENGTH) : value;
  if (!Array.isArray(value) || value.length === 0) return '';
  return value
    .filter((part) => typeof part === 'string')
    .join(BETWEEN)
    .slice(0, MAX_TEXT_LENGTH);
}

/** What separates texts that were not written as one. */
const BETWEEN = ' \n';

/** What is collected of the parameters of a tool: their names and texts, one behind the other. */
interface Parameters {
  names: string;
  texts: string;
  count: number;
  schemas: number;
  depth: number;
}

type Schema = Readonly<Record<string, unknown>>;

// Only the keys that a schema has are looked at: asking thousands of shapes for keys they lack takes longer than all the rest.
function collectSchema(schema: Schema, found: Parameters): void {
  if (!enter(found)) return;
  for (const key in schema) if (HOLDS_SCHEMAS.has(key)) collectInner(key, schema[key], found);
  found.depth -= 1;
}

function collectProperty(property: Schema, found: Parameters): void {
  const isWithinLimits = enter(found);
  for (const key in property) {
    const value = property[key];
    if (key === 'title' || key === 'description') {
      if (typeof value === 'string') found.texts += value + BETWEEN;
    } else if (key === 'enum') collectChoices(value, found);
    else if (isWithinLimits && HOLDS_SCHEMAS.has(key)) collectInner(key, value, found);
  }
  if (isWithinLimits) found.depth -= 1;
}

const HOLDS_SCHEMAS: ReadonlySet<string> = new Set(['properties', 'items', 'anyOf', 'oneOf', 'allOf']);

function enter(found: Parameters): boolean {
  if (found.depth > MAX_DEPTH || found.schemas >= MAX_SCHEMAS) return false;
  found.schemas += 1;
  found.depth += 1;
  return true;
}

function collectInner(key: string, value: unknown, found: Parameters): void {
  if (key !== 'properties') collectParts(value, found);
  else if (isSchemaObject(value)) collectProperties(value, found);
}

function collectProperties(properties: Schema, found: Parameters): void {
  for (const name in properties) {
    if (found.count >= MAX_PARAMETERS) return;
    found.count += 1;
    found.names += name + BETWEEN;
    const property = properties[name];
    if (isSchemaObject(property)) collectProperty(property, found);
  }
}

function collectChoices(choices: unknown, found: Parameters): void {
  if (!Array.isArray(choices)) return;
  for (const text of choices.filter((one) => typeof one === 'string').slice(0, MAX_CHOICES))
    found.texts += text + BETWEEN;
}

function collectParts(parts: unknown, found: Parameters): void {
  if (isSchemaObject(parts)) collectSchema(parts, found);
  if (!Array.isArray(parts)) return;
  for (const part of parts) if (isSchemaObject(part)) collectSchema(part, found);
}
