import { hash } from 'node:crypto';
import { canonicalJson, copyJson, type JsonSchema, NotJsonError } from '../core/json.ts';
import type { Schemas } from '../core/ports/crib-context.ts';
import { type Issue, ToolcribError } from '../core/tool-error.ts';
import { type Parse, type Parsed, RUN, type ToolSpec, WITHHELD } from '../core/tool-spec.ts';
import { type CompilableSchema, toCompilable } from './compilable-schema.ts';
import { toIssues } from './issues.ts';
import { createLinearPatterns } from './linear-pattern.ts';
import { type CompiledSchema, createSchemaCompiler } from './schema-compiler.ts';
import { isKnownDialect, JSON_TYPES } from './schema-keywords.ts';
import { createWithheldParse } from './withheld-parse.ts';
import { createWorkLimit, TooMuchWorkError, type WorkLimit } from './work-limit.ts';

/** Options for `createSchemas`. */
export interface SchemasOptions {
  /** Number of compiled schemas to cache for tools that come back as new objects, for example after a reload. */
  readonly maxCompiled?: number;
}

type Side = 'input' | 'output';

const MAX_COMPILED = 1000;

// 50 million steps take half a second in the worst case; an ordinary check takes a few hundred.
const CHECK_UNITS = 50_000_000;
const EXPLAIN_UNITS = 2_000_000;
const MAX_EXPLAINED_NODES = 10_000;

const ACCEPT: Parse = (value) => ({ ok: true, value });

/**
 * Checks arguments and results against their schemas. The cost of a hostile schema or value is bounded: patterns run in
 * linear time, references and patterns draw on an allowance, recursion ends in an issue. The largest accepted schema
 * takes Ajv a few seconds to compile, once; the most expensive allowed check takes half a second.
 */
export function createSchemas(options: SchemasOptions = {}): Schemas {
  const work = createWorkLimit();
  const patterns = createLinearPatterns(work);
  const compile = createSchemaCompiler({ work, patterns });
  const maxCompiled = options.maxCompiled ?? MAX_COMPILED;
  const parses: Readonly<Record<Side, WeakMap<JsonSchema, Parse>>> = { input: new WeakMap(), output: new WeakMap() };
  const refused = new WeakMap<JsonSchema, ToolcribError>();
  const byHash = new Map<string, Parse>();

  function prepare(schema: JsonSchema, side: Side): Parse {
    const known = refused.get(schema);
    if (known !== undefined) throw known;
    try {
      const parse = findOrCompile(schema, side);
      parses[side].set(schema, parse);
      return parse;
    } catch (error) {
      if (error instanceof ToolcribError && typeof schema === 'object' && schema !== null) refused.set(schema, error);
      throw error;
    }
  }

  // The shown schema of a tool with withheld arguments belongs to this tool only, so the result is cached under it.
  function prepareInput(spec: ToolSpec): Parse {
    const withheld = spec[RUN][WITHHELD];
    if (withheld === undefined) return prepare(spec.input, 'input');
    const whole = withheld.parse ?? parses.input.get(withheld.input) ?? prepare(withheld.input, 'input');
    const shown = withheld.parse === undefined ? findOrCompile(spec.input, 'input') : undefined;
    const parse = createWithheldParse(withheld, { shown, whole });
    parses.input.set(spec.input, parse);
    return parse;
  }

  function findOrCompile(schema: JsonSchema, side: Side): Parse {
    const compilable = toCompilable(schema, { patterns, defaults: side === 'input' ? 'keep' : 'drop' });
    requireUsable(compilable);
    const text = canonicalJson(compilable.schema);
    const key = hash('sha256', `${side} ${compilable.dialect} ${text}`);
    const known = byHash.get(key);
    if (known !== undefined) return known;
    const parse = createParse(compile(compilable), {
      schema: compilable.schema,
      side,
      work,
      mayFillIn: text.includes('"default":'),
    });
    const [oldest] = byHash.keys();
    if (byHash.size >= maxCompiled && oldest !== undefined) byHash.delete(oldest);
    byHash.set(key, parse);
    return parse;
  }

  return {
    input: (spec) => spec[RUN].parse ?? parses.input.get(spec.input) ?? prepareInput(spec),
    output(spec) {
      if (spec[RUN].parseOutput !== undefined) return spec[RUN].parseOutput;
      if (spec.output === undefined) return ACCEPT;
      return parses.output.get(spec.output) ?? prepare(spec.output, 'output');
    },
    // Like a result, the value is only read: it may be frozen, and it belongs to the caller.
    parser: (schema) => parses.output.get(schema) ?? prepare(schema, 'output'),
    problems(schema) {
      if (isHarmless(schema)) return NO_PROBLEMS;
      try {
        const { refusals, losses } = toCompilable(schema, { patterns, defaults: 'keep' });
        return [...refusals, ...losses];
      } catch (error) {
        if (error instanceof ToolcribError) return [error.message];
        throw error;
      }
    },
  };
}

const NO_PROBLEMS: readonly string[] = Object.freeze([]);

function requireUsable({ refusals }: CompilableSchema): void {
  if (refusals.length > 0)
    throw new ToolcribError('invalid_schema', `The schema cannot be used: ${refusals.join('; ')}.`);
}

interface ParseContext {
  readonly schema: JsonSchema;
  readonly side: Side;
  readonly work: WorkLimit;
  /** True if a default may be written into the value, which must then be a copy. */
  readonly mayFillIn: boolean;
}

function createParse(compiled: CompiledSchema, context: ParseContext): Parse {
  const { check } = compiled;
  const { work, mayFillIn } = context;
  return function parseBySchema(given): Parsed {
    work.start(CHECK_UNITS);
    try {
      const value = mayFillIn ? copyJson(given) : given;
      return check(value) ? { ok: true, value } : { ok: false, issues: explain(value, compiled, context) };
    } catch (error) {
      return { ok: false, issues: [toLimitIssue(error)] };
    }
  };
}

// The check stops at the first error, so that a million wrong items cost no more than one. For a small value, a second
// pass collects the rest.
function explain(value: unknown, compiled: CompiledSchema, { schema, side, work }: ParseContext): readonly Issue[] {
  const first = compiled.check.errors ?? [];
  const options = { noun: side === 'input' ? 'argument' : 'property', schema };
  if (!isSmall(value)) return toIssues(first, options);
  const all = compiled.explain();
  work.start(EXPLAIN_UNITS);
  try {
    return toIssues(all(value) ? first : (all.errors ?? first), options);
  } catch (error) {
    // Ajv fails for some schemas when it collects all errors; the value is invalid in any case.
    if (error instanceof TooMuchWorkError || error instanceof TypeError) return toIssues(first, options);
    throw error;
  }
}

function toLimitIssue(error: unknown): Issue {
  if (error instanceof NotJsonError) return { path: error.path, message: 'is not JSON' };
  if (error instanceof TooMuchWorkError) return { path: '', message: 'takes too much work to check; make it smaller' };
  if (error instanceof RangeError) {
    return {
      path: '',
      message: 'cannot be checked: it is nested too deeply, or its schema refers to itself endlessly',
    };
  }
  throw error;
}

function isSmall(value: unknown): boolean {
  let nodes = 0;
  const open = [value];
  while (open.length > 0) {
    const node = open.pop();
    if (typeof node !== 'object' || node === null) continue;
    const members: readonly unknown[] = Array.isArray(node) ? node : Object.values(node);
    nodes += members.length;
    if (nodes > MAX_EXPLAINED_NODES) return false;
    open.push(...members);
  }
  return true;
}

const MAX_DEPTH = 50;
const MAX_NODES = 2000;

/**
 * True for most schemas: small plain data without a keyword that could cause trouble. A start checks ten thousand tools,
 * so this fast check comes first; false only means that a closer look is needed.
 */
function isHarmless(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return false;
  const { $schema } = schema as { $schema?: unknown }; // read as unknown
  return isKnownDialect($schema) && isHarmlessAt(schema, 0, { nodes: MAX_NODES });
}

function isHarmlessAt(node: object, depth: number, left: { nodes: number }): boolean {
  left.nodes -= 1;
  if (depth > MAX_DEPTH || left.nodes < 0) return false;
  if (Array.isArray(node)) {
    for (const item of node) {
      if (typeof item === 'object' && item !== null && !isHarmlessAt(item, depth + 1, left)) return false;
    }
    return true;
  }
  for (const key in node) {
    if (isSuspicious(key)) return false;
    const member = (node as Record<string, unknown>)[key]; // a key of it
    if (key === 'type' && typeof member === 'string' && !JSON_TYPES.has(member)) return false;
    if (typeof member === 'object' && member !== null && !isHarmlessAt(member, depth + 1, left)) return false;
  }
  return true;
}

function isSuspicious(key: string): boolean {
  switch (key) {
    case 'pattern':
    case 'patternProperties':
    case '$ref':
    case '$dynamicRef':
    case '$recursiveRef':
    case '__proto__':
      return true;
    default:
      return false;
  }
}
