import { isRecord, type JsonSchema } from '../../../core/json.ts';
import type { Draft } from './plain-keywords.ts';
import { definitionName, type SchemaConversion } from './schema-conversion.ts';

/** Deeper than any schema. */
const UNCUT = 10_000;
/** Size limit of a tool's schema, since a model has to read it. */
const MAX_CHARACTERS = 30_000;
const MAX_DEFINITIONS = 100;
/** Depths to try in turn until the schema fits; deeper levels are left unchecked. */
const DEPTHS = [UNCUT, 8, 6, 5, 4, 3, 2] as const;

/** A schema with only the definitions that it uses, cut to the size limit. */
export function toWholeSchema(schema: Draft, uses: Iterable<string>, conversion: SchemaConversion): JsonSchema {
  for (const depth of DEPTHS) {
    const whole = wholeAt(depth, { schema, uses, conversion });
    if (whole !== undefined) return whole;
  }
  const flat = cut(schema, 1);
  return measure(flat).length > MAX_CHARACTERS ? withoutWords(flat) : flat;
}

/** With too many arguments, only their types are kept. */
function withoutWords(schema: Draft): JsonSchema {
  const members = Object.entries(asDraft(schema.properties));
  const typed = members.map(([name, member]) => [name, outlineOf({ type: asDraft(member).type })] as const);
  return { ...schema, properties: Object.fromEntries(typed) };
}

interface Whole {
  readonly schema: Draft;
  readonly uses: Iterable<string>;
  readonly conversion: SchemaConversion;
}

/** The schema and its definitions cut at a depth; each definition that another one leads to is cut one level earlier. */
function wholeAt(depth: number, { schema, uses, conversion }: Whole): JsonSchema | undefined {
  const refs = new Map<string, string>(); // by their text in a converted schema
  const learn = (known: Iterable<string>) => {
    for (const ref of known) refs.set(`#/$defs/${definitionName(ref)}`, ref);
  };
  learn(uses);
  const root = cut(schema, depth);
  let { length, written: open } = measure(root);
  const definitions = new Map<string, Draft>();
  for (let left = depth - 1; open.length > 0 && length <= MAX_CHARACTERS; left--) {
    const next: string[] = [];
    for (const written of open) {
      const ref = refs.get(written);
      if (ref === undefined || definitions.has(ref)) continue;
      if (definitions.size >= MAX_DEFINITIONS || length > MAX_CHARACTERS) return undefined;
      const part = conversion.definition(ref);
      learn(part.uses);
      const definition = cut(part.schema, left);
      const measured = measure(definition);
      length += measured.length;
      next.push(...measured.written);
      definitions.set(ref, definition);
    }
    open = next;
  }
  return length > MAX_CHARACTERS ? undefined : withDefinitions(root, definitions);
}

function withDefinitions(schema: Draft, definitions: ReadonlyMap<string, Draft>): JsonSchema {
  if (definitions.size === 0) return schema;
  const named = [...definitions].map(([ref, definition]) => [definitionName(ref), definition] as const);
  return { ...schema, $defs: Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** The length of a schema as JSON, and the references in it. */
function measure(schema: Draft): { readonly length: number; readonly written: readonly string[] } {
  const text = JSON.stringify(schema);
  const written = Array.from(text.matchAll(/"\$ref":"([^"]+)"/g), ([, ref]) => ref ?? '');
  return { length: text.length, written: [...new Set(written)] };
}

/** Cuts deeper levels; a cut schema keeps its type and description. */
function cut(schema: Draft, depth: number): Draft {
  if (depth > UNCUT / 2) return schema;
  if (depth <= 0) return outlineOf(schema);
  const copy: Draft = { ...schema };
  const { properties } = schema;
  if (isRecord(properties)) {
    const members = Object.entries(properties).map(([name, member]) => [name, cut(asDraft(member), depth - 1)]);
    copy.properties = Object.fromEntries(members);
  }
  for (const key of ['anyOf', 'allOf', 'prefixItems']) {
    const list = schema[key];
    if (Array.isArray(list)) copy[key] = list.map((member) => cut(asDraft(member), depth - 1));
  }
  for (const key of ['items', 'additionalProperties']) {
    if (isRecord(schema[key])) copy[key] = cut(asDraft(schema[key]), depth - 1);
  }
  return copy;
}

function outlineOf({ type, description }: Draft): Draft {
  return { ...(type !== undefined && { type }), ...(description !== undefined && { description }) };
}

function asDraft(value: unknown): Draft {
  return isRecord(value) ? value : {};
}
