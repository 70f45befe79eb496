import { frozenCopy, type JsonSchema, type MaybePromise, NotJsonError } from '../core/json.ts';
import { describe, readMember, readOptions } from '../core/read-options.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';
import {
  createRun,
  EFFECT_KEYS,
  type Effects,
  RUN,
  type Run,
  requireToolName,
  type ToolExample,
  type ToolSpec,
  type When,
} from '../core/tool-spec.ts';
import { listOf } from '../core/visible-text.ts';
import { toSchemaPair } from '../schemas/standard-schema.ts';
import { type PolicyInput, readPolicy } from './read-policy.ts';
import type { EarlyZodSchema, InputOf, OutputOf, StandardSchema } from './schema-types.ts';

/** Any Standard Schema, a schema of an early zod 3, or a raw JSON Schema. */
export type AnySchema = StandardSchema | EarlyZodSchema | JsonSchema;

/** The members that all forms of a tool share. */
export interface ToolDescription {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly effects?: Effects;
  readonly policy?: PolicyInput;
  readonly category?: string;
  readonly tags?: readonly string[];
  readonly version?: string;
  /** Prompt text shown while the tool is active. */
  readonly instructions?: string;
  readonly requires?: string | readonly string[];
  readonly priority?: number;
  readonly examples?: readonly ToolExample[];
  readonly when?: When;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Services (`clock`) and settings (`setting:calendar`) that the tool requires. */
  readonly needs?: string | readonly string[];
}

/** A tool in code: its description, and a function or the data of a kind to run. */
export interface ToolDefinition<Input extends AnySchema, Output extends AnySchema> extends ToolDescription {
  readonly input: Input;
  readonly output?: Output;
  readonly run: ((input: InputOf<Input>, call: ToolCall) => MaybePromise<Returned<Output>>) | Run;
}

type Returned<Output extends AnySchema> =
  | (AnySchema extends Output ? unknown : OutputOf<Output>)
  | AsyncIterable<unknown>
  | ToolResult;

/** A tool that a crib accepts: a spec, or a plain object with `execute`, a `run` function, or `run` data of some kind. */
export type ToolInput =
  | ToolSpec
  | (ToolDescription & {
      readonly input?: AnySchema;
      readonly output?: AnySchema;
      // biome-ignore lint/suspicious/noExplicitAny: the function declares its own argument type
      readonly execute?: (input: any, call: ToolCall) => unknown;
      // biome-ignore lint/suspicious/noExplicitAny: as above
      readonly run?: ((input: any, call: ToolCall) => unknown) | Run;
    });

/** The members of a tool in code. */
export const TOOL_KEYS = [
  'name',
  'title',
  'description',
  'input',
  'output',
  'effects',
  'policy',
  'category',
  'tags',
  'version',
  'instructions',
  'requires',
  'priority',
  'examples',
  'when',
  'meta',
  'needs',
  'run',
  'execute',
] as const;

/** Defines a tool in code. Types are inferred from the schemas. Mistakes throw here, not at the first call. */
export function defineTool<const Input extends AnySchema, const Output extends AnySchema = AnySchema>(
  definition: ToolDefinition<Input, Output>,
): ToolSpec {
  return toToolSpec(definition, 'code');
}

/** Converts a tool to a spec of `source`. */
export function toToolSpec(tool: unknown, source: string): ToolSpec {
  if (isToolSpec(tool)) {
    requireToolName(tool.name);
    return tool.source === source && Object.isFrozen(tool) ? tool : Object.freeze({ ...tool, source });
  }
  if (typeof tool !== 'object' || tool === null) {
    throw new ToolcribError(
      'not_a_tool',
      `${describe(tool)} is not a tool; a tool has name, description, input and run.`,
    );
  }
  const name = readMember(tool, 'name', 'A tool');
  requireToolName(name);
  const what = `Tool "${name}"`;
  const given = readOptions<Record<(typeof TOOL_KEYS)[number], unknown>>(tool, TOOL_KEYS, what);
  const input = toSchemaPair(given.input ?? { type: 'object', properties: {} }, 'input');
  const output = given.output === undefined ? undefined : toSchemaPair(given.output, 'output');
  const needs = readNames(given.needs, `${what}: needs`);
  const run: Run = {
    ...readRun(given, what),
    ...(needs !== undefined && { needs }),
    ...(input.parse !== undefined && { parse: input.parse }),
    ...(output?.parse !== undefined && { parseOutput: output.parse }),
  };
  const requires = readNames(given.requires, `${what}: requires`);
  return Object.freeze({
    name,
    description: readText(given.description, `${what}: description`) ?? '',
    ...optional('title', readText(given.title, `${what}: title`)),
    input: input.schema,
    ...optional('output', output?.schema),
    effects: readEffects(given.effects, what),
    policy: readPolicy(given.policy, `tool "${name}"`),
    tags: readNames(given.tags, `${what}: tags`) ?? NO_TAGS,
    ...optional('category', readText(given.category, `${what}: category`)),
    ...optional('version', readText(given.version, `${what}: version`)),
    ...optional('instructions', readText(given.instructions, `${what}: instructions`)),
    ...optional('requires', requires),
    ...optional('priority', given.priority as number | undefined), // only compared
    ...optional('examples', readData(given.examples, `${what}: examples`) as readonly ToolExample[] | undefined), // only shown
    ...optional('when', given.when === undefined ? undefined : readWhen(given.when, what)),
    ...optional('meta', readData(given.meta, `${what}: meta`) as Readonly<Record<string, unknown>> | undefined), // free data
    source,
    origin: name,
    [RUN]: createRun(run),
  });
}

const NO_TAGS: readonly string[] = Object.freeze([]);
const NO_EFFECTS: Effects = Object.freeze({});

/** True for a spec. */
export function isToolSpec(tool: unknown): tool is ToolSpec {
  return typeof tool === 'object' && tool !== null && Object.hasOwn(tool, RUN);
}

function readRun(given: { readonly run?: unknown; readonly execute?: unknown }, what: string): Run {
  const { run, execute } = given;
  if (run !== undefined && execute !== undefined)
    throw new ToolcribError('not_a_tool', `${what} has both run and execute; keep one.`);
  const work = run ?? execute;
  if (typeof work === 'function') return { kind: 'function', run: work };
  if (typeof work === 'object' && work !== null && 'kind' in work && typeof work.kind === 'string') {
    return { ...(readData(work, `${what}: run`) as object), kind: work.kind }; // a copied object is an object
  }
  throw new ToolcribError(
    'not_a_tool',
    `${what} has no run: pass a function, or data with a kind; got ${describe(work)}.`,
  );
}

function readEffects(value: unknown, what: string): Effects {
  if (value === undefined) return NO_EFFECTS;
  const effects = readOptions<Effects>(value, EFFECT_KEYS, `${what}: effects`);
  for (const [key, claim] of Object.entries(effects)) {
    if (typeof claim !== 'boolean')
      throw new ToolcribError(
        'invalid_option',
        `${what}: effects.${key} must be true, false or absent, got ${describe(claim)}.`,
      );
  }
  return Object.freeze(effects);
}

const WHEN_KEYS = ['env', 'platform', 'service', 'predicate'] as const;

/** Reads and copies the conditions of a tool or bundle. */
export function readWhen(value: unknown, what: string): When {
  const { predicate, ...named } = readOptions<When>(value, WHEN_KEYS, `${what}: when`);
  if (predicate !== undefined && typeof predicate !== 'function') {
    throw new ToolcribError(
      'invalid_option',
      `${what}: when.predicate must be a function, got ${describe(predicate)}.`,
    );
  }
  const lists = Object.entries(named).map(([key, names]) => [key, readNames(names, `${what}: when.${key}`)]);
  return Object.freeze({ ...Object.fromEntries(lists), ...(predicate !== undefined && { predicate }) });
}

/** Reads and copies a name or a list of names. */
export function readNames(value: unknown, what: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const names = typeof value === 'string' ? listOf(value) : value;
  if (Array.isArray(names) && names.every((name) => typeof name === 'string' && name !== ''))
    return Object.freeze([...names]);
  throw new ToolcribError('invalid_option', `${what} must be a name or a list of names, got ${describe(value)}.`);
}

function readText(value: unknown, what: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new ToolcribError('invalid_option', `${what} must be a string, got ${describe(value)}.`);
}

/** Copies and freezes plain JSON. */
export function readData(value: unknown, what: string): unknown {
  if (value === undefined) return undefined;
  try {
    return frozenCopy(value);
  } catch (cause) {
    if (!(cause instanceof NotJsonError)) throw cause;
    throw new ToolcribError('invalid_option', `${what} must be plain JSON: ${cause.message}.`, { cause });
  }
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]: Value }); // one key, one value
}
