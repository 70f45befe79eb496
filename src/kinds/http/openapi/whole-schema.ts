import { isRecord, type JsonSchema } from '../../../core/json.ts';
import type { Work } from './local-refs.ts';
import type { Draft } from './plain-keywords.ts';
import {
  type CutDefinition,
  type Cuts,
  definitionName,
  type Part,
  type SchemaConversion,
} from './schema-conversion.ts';

/** Deeper than any schema. */
const UNCUT = 10_000;
/** Size limit of a tool's schema, since a model has to read it. */
const MAX_CHARACTERS = 30_000;
const MAX_DEFINITIONS = 100;
/** Depths to try in turn until the schema fits; deeper levels are left unchecked. */
const DEPTHS = [UNCUT, 8, 6, 5, 4, 3, 2] as const;

/** A schema with only the definitions that it uses, cut to the size limit. */
export function toWholeSchema(schema: Draft, uses: Iterable<string>, reading: WholeReading): JsonSchema {
  for (const depth of DEPTHS) {
    const whole = wholeAt(depth, { schema, uses, ...reading });
    if (whole !== undefined) return whole;
  }
  const flat = cut(schema, 1);
  const { length } = measure(flat, []);
  reading.work.spend(Math.min(length, MAX_CHARACTERS) / CHARACTERS_KEPT);
  return length > MAX_CHARACTERS ? withoutWords(flat) : flat;
}

/** Characters for each step of work: of a schema that is kept, without shared definitions, and of one that is measured. */
const CHARACTERS_KEPT = 10;
const CHARACTERS_MEASURED = 200;
/** A definition is cut and measured once. */
const STEPS_OF_DEFINITION = 0.5;

interface WholeReading {
  readonly conversion: SchemaConversion;
  readonly work: Work;
}

/** With too many arguments, only their types are kept. */
function withoutWords(schema: Draft): JsonSchema {
  const members = Object.entries(asDraft(schema.properties));
  const typed = members.map(([name, member]) => [name, outlineOf({ type: asDraft(member).type })] as const);
  return { ...schema, properties: Object.fromEntries(typed) };
}

interface Whole extends WholeReading {
  readonly schema: Draft;
  readonly uses: Iterable<string>;
}

/** The schema and its definitions cut at a depth; each definition that another one leads to is cut one level earlier. */
function wholeAt(depth: number, { schema, uses, conversion, work }: Whole): JsonSchema | undefined {
  const root = cut(schema, depth);
  const own = measure(root, uses);
  work.spend(own.length / CHARACTERS_MEASURED);
  const definitions = new Map<string, Draft>();
  let { length, refs: open } = own;
  for (let left = depth - 1; open.length > 0 && length <= MAX_CHARACTERS; left--) {
    const next: string[] = [];
    for (const ref of open) {
      if (definitions.has(ref)) continue;
      if (definitions.size >= MAX_DEFINITIONS || length > MAX_CHARACTERS) return undefined;
      const { definition, ...measured } = cutOnce(conversion.definition(ref), left, conversion.cuts);
      work.spend(STEPS_OF_DEFINITION);
      length += measured.length;
      next.push(...measured.refs);
      definitions.set(ref, definition);
    }
    open = next;
  }
  if (length > MAX_CHARACTERS) return undefined;
  work.spend(own.length / CHARACTERS_KEPT);
  return withDefinitions(root, definitions);
}

/** Cuts a definition to a depth once for all operations that use it. */
function cutOnce(part: Part, depth: number, cuts: Cuts): CutDefinition {
  const known = cuts.get(part) ?? new Map<number, CutDefinition>();
  cuts.set(part, known);
  const key = depth > part.height + 1 ? UNCUT : Math.max(depth, 0);
  const found = known.get(key);
  if (found !== undefined) return found;
  const definition = cut(part.schema, key);
  const made = { definition, ...measure(definition, part.uses) };
  known.set(key, made);
  return made;
}

function withDefinitions(schema: Draft, definitions: ReadonlyMap<string, Draft>): JsonSchema {
  if (definitions.size === 0) return schema;
  const named = [...definitions].map(([ref, definition]) => [definitionName(ref), definition] as const);
  return { ...schema, $defs: Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** The length of a schema as JSON, and those of its references that it still has. */
function measure(schema: Draft, uses: Iterable<string>): Omit<CutDefinition, 'definition'> {
  const text = JSON.stringify(schema);
  const refs = new Map<string, string>(); // by their text in a converted schema
  for (const ref of uses) refs.set(`#/$defs/${definitionName(ref)}`, ref);
  const written = new Set(Array.from(text.matchAll(/"\$ref":"([^"]+)"/g), ([, ref]) => ref ?? ''));
  return { length: text.length, refs: [...written].flatMap((ref) => refs.get(ref) ?? []) };
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
