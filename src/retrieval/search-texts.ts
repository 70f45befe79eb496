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
const MAX_TEXT_LENGTH = 20_000;
const MAX_DEPTH = 5;
const MAX_PARAMETERS = 200;
/** A schema may contain itself, in memory even a hundred times. */
const MAX_SCHEMAS = 1000;

/** What of a spec is searched. A spec may come from anywhere: what is not text counts as none. */
export function searchTextsOf(spec: ToolSpec, bundles: readonly string[] = []): SearchTexts {
  const parameters = { names: [] as string[], texts: [] as string[], schemas: 0 };
  collectParameters(spec.input, parameters, 0);
  return {
    name: textOf(spec.name),
    title: textOf(spec.title),
    description: textOf(spec.description),
    source: textOf(spec.source),
    bundle: textOf(bundles),
    category: textOf(spec.category),
    tags: textOf(spec.tags),
    parameters: textOf(parameters.names),
    parameterTexts: textOf(parameters.texts),
    examples: textOf(Array.isArray(spec.examples) ? spec.examples.map((example) => example?.request) : []),
  };
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, MAX_TEXT_LENGTH);
  if (!Array.isArray(value)) return '';
  return value
    .filter((part) => typeof part === 'string')
    .join(' \n')
    .slice(0, MAX_TEXT_LENGTH);
}

interface Parameters {
  readonly names: string[];
  readonly texts: string[];
  schemas: number;
}

function collectParameters(schema: unknown, found: Parameters, depth: number): void {
  if (!isSchemaObject(schema) || depth > MAX_DEPTH || found.schemas >= MAX_SCHEMAS) return;
  found.schemas += 1;
  const { properties, items, anyOf, oneOf, allOf } = schema;
  for (const [name, property] of Object.entries(isSchemaObject(properties) ? properties : {})) {
    if (found.names.length >= MAX_PARAMETERS) return;
    found.names.push(name);
    if (!isSchemaObject(property)) continue;
    for (const text of [property.title, property.description]) if (typeof text === 'string') found.texts.push(text);
    if (Array.isArray(property.enum))
      found.texts.push(...property.enum.filter((value) => typeof value === 'string').slice(0, 20));
    collectParameters(property, found, depth + 1);
  }
  for (const part of [items, anyOf, oneOf, allOf].flat()) collectParameters(part, found, depth + 1);
}
