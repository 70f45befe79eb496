import { hash } from 'node:crypto';
import { isRecord } from '../../../core/json.ts';
import { referenceSegments } from '../../../core/json-pointer.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import { createLinearPatterns } from '../../../schemas/linear-pattern.ts';
import { createWorkLimit } from '../../../schemas/work-limit.ts';
import type { Description, Fields } from './load-description.ts';
import { createRefCircles, followPointer } from './local-refs.ts';
import { type Draft, MAX_ENUM, plainKeywords } from './plain-keywords.ts';
import { type Convert, convertMembers, type Direction, orNull, type SchemaSpot, type Tally } from './schema-members.ts';

/** A schema in JSON Schema 2020-12, with its size and references. */
export type Part = Readonly<Omit<Tally, 'uses'>> & { readonly schema: Draft; readonly uses: ReadonlySet<string> };

/** Converts the schemas of a description for one direction. */
export interface SchemaConversion {
  convert(schema: unknown): Part;
  /** The target of a `$ref` in a converted schema. */
  definition(ref: string): Part;
  readonly cuts: Cuts;
}

/** A definition cut to a depth, with its length as JSON and the references that it still has. */
export interface CutDefinition {
  readonly definition: Draft;
  readonly length: number;
  readonly refs: readonly string[];
}

/** Cut definitions by depth. */
export type Cuts = Map<Part, Map<number, CutDefinition>>;

export interface ConversionOptions {
  readonly direction: Direction;
  /** Reports a part that is left unchecked. */
  onLoss(sentence: string): void;
}

/** Deeper levels are left unchecked. */
const MAX_DEPTH = 30;
const MAX_NODES = 4000;
/** Smaller schemas are inlined; larger ones get a name. */
const MAX_INLINE_NODES = 60;
const MAX_NESTED_REFS = 60;

/** Keywords that add constraints to those of a `$ref`. */
const COMPOSING = ['properties', 'allOf', 'anyOf', 'oneOf', 'items'] as const;

/** The result depends only on the schema and its references, so a tool does not change when others do. */
export function createSchemaConversion(description: Description, options: ConversionOptions): SchemaConversion {
  const { onLoss, direction } = options;
  const leadsToItself = createRefCircles(description);
  const patterns = createLinearPatterns(createWorkLimit());
  const isRunnable = (pattern: string) => typeof patterns(pattern) !== 'string';
  const isHidden = (property: unknown) => goesOtherWay(description, property, direction);
  const definitions = new Map<string, Part>();
  let nested = 0;

  const convert: Convert = (node, spot) => {
    const { depth, tally } = spot;
    countNode(node, spot, description);
    if (!isRecord(node) || depth > MAX_DEPTH || tally.nodes > MAX_NODES) return {};
    const { $ref, ...rest } = node;
    const isComposed = COMPOSING.some((key) => rest[key] !== undefined);
    const allOf = [...(Array.isArray(rest.allOf) ? rest.allOf : []), { $ref }];
    const whole = typeof $ref === 'string' && isComposed ? { ...rest, allOf } : rest;
    const draft =
      typeof $ref === 'string' && !isComposed
        ? convertRef($ref, node, spot)
        : convertMembers(whole, plainKeywords(whole, isRunnable), { ...spot, convert, direction, isHidden });
    return node.nullable === true || node['x-nullable'] === true ? orNull(draft) : draft;
  };

  const convertRef = (ref: string, node: Fields, { depth, tally }: SchemaSpot): Draft => {
    const pointed = followPointer(description, ref);
    if (!pointed.ok) {
      onLoss(`The $ref ${pointed.reason}; any value is accepted in its place.`);
      return {};
    }
    const said = plainKeywords({ description: node.description, deprecated: node.deprecated }, isRunnable);
    const part = leadsToItself(ref) ? undefined : definition(ref);
    if (part === undefined || part.nodes > MAX_INLINE_NODES || depth + part.height > MAX_DEPTH) {
      tally.uses.add(ref);
      return { $ref: `#/$defs/${definitionName(ref)}`, ...said };
    }
    tally.nodes += part.nodes;
    tally.height = Math.max(tally.height, depth + part.height);
    for (const used of part.uses) tally.uses.add(used);
    return { ...part.schema, ...said };
  };

  const definition = (ref: string): Part => {
    const known = definitions.get(ref);
    if (known !== undefined) return known;
    if (nested >= MAX_NESTED_REFS) {
      throw new ToolcribError('invalid_description', `it has a chain of more than ${MAX_NESTED_REFS} $refs`);
    }
    nested += 1;
    try {
      const part = convertWhole(lastOf(description, ref, onLoss), convert);
      definitions.set(ref, part);
      return part;
    } finally {
      nested -= 1;
    }
  };

  return { convert: (schema) => convertWhole(schema, convert), definition, cuts: new Map() };
}

/** Counts a schema. Long lists of choices count like nodes, so that they are written once. */
function countNode(node: unknown, { depth, tally }: SchemaSpot, { work }: Description): void {
  const choices = isRecord(node) && Array.isArray(node.enum) && node.enum.length <= MAX_ENUM ? node.enum : [];
  let characters = 0;
  for (const choice of choices) characters += typeof choice === 'string' ? choice.length : 1;
  const size = 1 + Math.floor(characters / 500);
  work.spend(size);
  tally.nodes += size;
  tally.height = Math.max(tally.height, depth);
}

function convertWhole(schema: unknown, convert: Convert): Part {
  const tally = { nodes: 0, height: 0, uses: new Set<string>() };
  const converted = convert(schema, { depth: 0, tally });
  return { ...tally, schema: converted };
}

function goesOtherWay(description: Description, property: unknown, direction: Direction): boolean {
  const key = direction === 'request' ? 'readOnly' : 'writeOnly';
  if (!isRecord(property)) return false;
  if (property[key] === true || typeof property.$ref !== 'string') return property[key] === true;
  const pointed = followPointer(description, property.$ref);
  return pointed.ok && isRecord(pointed.value) && pointed.value[key] === true;
}

/** Follows a chain of references to its end; a cycle of references accepts anything. */
function lastOf(description: Description, ref: string, onLoss: (sentence: string) => void): unknown {
  const seen = new Set<string>();
  for (let next = ref; !seen.has(next); ) {
    seen.add(next);
    const pointed = followPointer(description, next);
    if (!pointed.ok) return { $ref: next }; // reported where it is converted
    if (!isRecord(pointed.value) || typeof pointed.value.$ref !== 'string') return pointed.value;
    next = pointed.value.$ref;
  }
  onLoss(`The $ref "${ref.slice(0, 120)}" is part of a cycle; any value is accepted in its place.`);
  return {};
}

/** The name of a schema in `$defs`: its usual name, or one made from the reference alone, so that names are stable. */
export function definitionName(ref: string): string {
  const usual = /^#\/(?:components\/schemas|definitions)\/([A-Za-z0-9_.-]{1,64})$/.exec(ref)?.[1];
  if (usual !== undefined && usual !== '__proto__') return usual;
  const last = (referenceSegments(ref).at(-1) ?? '').replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 40);
  return `${last}_${hash('sha256', ref).slice(0, 8)}`;
}
