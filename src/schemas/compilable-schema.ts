import { isRecord, type JsonSchema } from '../core/json.ts';
import { escapePointer } from '../core/json-pointer.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { LinearPatterns } from './linear-pattern.ts';
import {
  CONTRARY_KEYWORDS,
  createSchemaRefs,
  type Dialect,
  DROPPED_KEYWORDS,
  dialectOf,
  JSON_TYPES,
  MAP_KEYWORDS,
  REF_KEYWORDS,
  ROOT_BASE,
  SCHEMA_KEYWORDS,
  type SchemaRefs,
  WORK_KEYWORD,
} from './schema-keywords.ts';

/** A schema prepared for compiling, with its problems. */
export interface CompilableSchema {
  readonly dialect: Dialect;
  readonly schema: JsonSchema;
  /** True if it names a property that every object inherits (`constructor`), so that only own properties must count. */
  readonly namesInherited: boolean;
  /** Reasons why it cannot be used at all. */
  readonly refusals: readonly string[];
  /** Parts that are not checked. */
  readonly losses: readonly string[];
}

/** Options for the copy. */
export interface CompilableOptions {
  readonly patterns: LinearPatterns;
  /** Defaults are filled into arguments; results are checked unchanged. */
  readonly defaults: 'keep' | 'drop';
}

// Ajv's time grows with the square of the width, and its code nests as deeply as the schema is wide.
const MAX_DEPTH = 200;
const MAX_NODES = 10_000;
const MAX_WIDTH = 1000;
const PATTERN_PART = 50;

interface Walk extends CompilableOptions {
  readonly contrary: 'keep' | 'drop';
  readonly refs: SchemaRefs;
  readonly refusals: string[];
  readonly losses: string[];
  namesInherited: boolean;
  nodes: number;
}

interface Place {
  readonly path: string;
  readonly base: string;
  readonly depth: number;
}

type Copy = Record<string, unknown>;

/** Copies a schema without parts that cannot be used: patterns that the linear engine cannot run, keywords that would change how Ajv works. */
export function toCompilable(schema: JsonSchema, options: CompilableOptions): CompilableSchema {
  if (!isRecord(schema)) throw new ToolcribError('invalid_schema', 'A schema must be an object.');
  const whole = walkSchema(schema, 'keep', options);
  if (whole.losses.length === 0) return whole;
  // Dropping a part must never make the check stricter than the author intended.
  return { ...whole, schema: walkSchema(schema, 'drop', options).schema };
}

function walkSchema(schema: Copy, contrary: Walk['contrary'], options: CompilableOptions): CompilableSchema {
  const dialect = dialectOf(schema.$schema);
  const refs = createSchemaRefs();
  const walk: Walk = { ...options, contrary, refs, refusals: [], losses: [], namesInherited: false, nodes: 0 };
  const copy = copySchema(schema, { path: '', base: ROOT_BASE, depth: 0 }, walk) as Copy; // an object stays one
  for (const ref of refs.remote(dialect)) {
    walk.refusals.push(`$ref "${ref}" points outside the schema; remote references are not fetched`);
  }
  const { namesInherited, refusals, losses } = walk;
  return { dialect, schema: copy, namesInherited, refusals, losses };
}

function copySchema(node: unknown, at: Place, walk: Walk): unknown {
  if (typeof node !== 'object' || node === null) return node;
  enter(at, walk);
  if (Array.isArray(node)) {
    requireNarrow(node.length, at);
    return node.map((item, index) => copySchema(item, below(at, String(index)), walk));
  }
  const source = node as Copy; // an object that is not an array
  const here = { ...at, base: walk.refs.enter(source.$id, at.base) };
  const copy: Copy = {};
  for (const key of Object.keys(source)) copyKeyword(key, source, { copy, here, walk });
  repair(copy, source);
  return copy;
}

interface Target {
  readonly copy: Copy;
  readonly here: Place;
  readonly walk: Walk;
}

function copyKeyword(key: string, source: Copy, { copy, here, walk }: Target): void {
  const value = source[key];
  if (value === undefined || DROPPED_KEYWORDS.has(key)) return;
  if (key === 'default' && walk.defaults === 'drop') return;
  if (walk.contrary === 'drop' && CONTRARY_KEYWORDS.has(key)) {
    if (key === 'oneOf' && source.anyOf === undefined) copy.anyOf = copySchema(value, below(here, key), walk);
    return;
  }
  if (key === 'pattern' && typeof value === 'string' && !isRunnable(value, here.path, walk)) return;
  if (REF_KEYWORDS.has(key) && typeof value === 'string') {
    walk.refs.refer(value, here.base);
    copy[WORK_KEYWORD] ??= 'ref';
  }
  if (key === 'type' && typeof value === 'string' && !JSON_TYPES.has(value)) {
    walk.refusals.push(`type "${value}" at ${here.path || 'the top'} is not a JSON type`);
  }
  if (key === 'required' && Array.isArray(value)) noteInherited(value, walk);
  if (key === 'patternProperties' && isRecord(value)) copy[key] = copyPatternProperties(value, below(here, key), walk);
  else if (MAP_KEYWORDS.has(key) && isRecord(value)) copy[key] = copyMap(value, below(here, key), walk);
  else if (key === 'contains') copyContains(value, { copy, here, walk });
  else if (SCHEMA_KEYWORDS.has(key)) copy[key] = copySchema(value, below(here, key), walk);
  else setOwn({ copy, here, walk }, key, copyData(value, below(here, key), walk));
}

function copyMap(source: Copy, at: Place, walk: Walk): Copy {
  enter(at, walk);
  const names = Object.keys(source);
  requireNarrow(names.length, at);
  noteInherited(names, walk);
  const copy: Copy = {};
  for (const key of names) {
    const member = copySchema(source[key], below(at, key), walk);
    // For an inherited name, a default would count as present; without it, the name is optional.
    if (key in Object.prototype && isRecord(member)) delete (member as Copy).default; // our own copy
    setOwn({ copy, here: at, walk }, key, member);
  }
  return copy;
}

function copyPatternProperties(source: Copy, at: Place, walk: Walk): Copy {
  const kept = Object.entries(source).filter(([pattern]) => isRunnable(pattern, at.path, walk));
  return copyMap(Object.fromEntries(kept), at, walk);
}

function copyContains(value: unknown, { copy, here, walk }: Target): void {
  const before = walk.refs.count();
  copy.contains = copySchema(value, below(here, 'contains'), walk);
  if (walk.refs.count() > before) copy[WORK_KEYWORD] = 'contains';
}

function isRunnable(pattern: string, path: string, walk: Walk): boolean {
  // A long pattern takes as long to compile as many small parts.
  walk.nodes += Math.ceil(pattern.length / PATTERN_PART);
  const found = walk.patterns(pattern);
  if (typeof found !== 'string') return true;
  const shown = pattern.length > 100 ? `${pattern.slice(0, 100)}…` : pattern;
  walk.losses.push(`pattern "${shown}" at ${path === '' ? 'the top' : path} ${found}`);
  return false;
}

function copyData(value: unknown, at: Place, walk: Walk): unknown {
  if (typeof value !== 'object' || value === null) return value;
  enter(at, walk);
  if (Array.isArray(value)) return value.map((item, index) => copyData(item, below(at, String(index)), walk));
  const copy: Copy = {};
  for (const [key, member] of Object.entries(value))
    setOwn({ copy, here: at, walk }, key, copyData(member, below(at, key), walk));
  return copy;
}

// A default for `__proto__` would be written into the prototype of every object.
function setOwn({ copy, here, walk }: Target, key: string, value: unknown): void {
  if (key !== '__proto__') copy[key] = value;
  else walk.refusals.push(`"__proto__" at ${here.path === '' ? 'the top' : here.path} is not allowed as a name`);
}

function noteInherited(names: readonly unknown[], walk: Walk): void {
  walk.namesInherited ||= names.some((name) => typeof name === 'string' && name in Object.prototype);
}

// In draft 4 and OpenAPI 3.0, `true` makes a limit exclusive; Ajv throws for `nullable` without `type`.
function repair(copy: Copy, source: Copy): void {
  for (const [exclusive, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof copy[exclusive] !== 'boolean') continue;
    const isExclusive = copy[exclusive] && copy[limit] !== undefined;
    if (isExclusive) copy[exclusive] = copy[limit];
    else delete copy[exclusive];
    if (isExclusive) delete copy[limit];
  }
  if (copy.type === undefined) delete copy.nullable;
  // Without one of the patterns it is unknown which names are additional, so none is refused.
  if (countKeys(copy.patternProperties) < countKeys(source.patternProperties)) copy.additionalProperties = true;
}

function countKeys(value: unknown): number {
  return isRecord(value) ? Object.keys(value).length : 0;
}

// Shared and circular objects end here, too: unrolled, they are too deep or too large.
function enter(at: Place, walk: Walk): void {
  walk.nodes += 1;
  if (at.depth <= MAX_DEPTH && walk.nodes <= MAX_NODES) return;
  throw new ToolcribError(
    'invalid_schema',
    `The schema is nested deeper than ${MAX_DEPTH} levels, has more than ${MAX_NODES} parts, or contains itself.`,
  );
}

function requireNarrow(members: number, at: Place): void {
  if (members <= MAX_WIDTH) return;
  throw new ToolcribError(
    'invalid_schema',
    `The schema has ${members} members at ${at.path}; at most ${MAX_WIDTH} can be checked.`,
  );
}

function below(at: Place, key: string): Place {
  return { path: `${at.path}/${escapePointer(key)}`, base: at.base, depth: at.depth + 1 };
}
