import { frozenCopy, isPromise, type JsonSchema, NotJsonError } from '../core/json.ts';
import { escapePointer } from '../core/json-pointer.ts';
import { describe, readMember } from '../core/read-options.ts';
import { type Issue, messageOf, ToolcribError } from '../core/tool-error.ts';
import type { Parse, Parsed } from '../core/tool-spec.ts';
import { cut } from './issue-words.ts';
import { limitIssues } from './issues.ts';
import { DEFAULT_SCHEMA_URI } from './schema-keywords.ts';
import { zod3Standard, zodConversion } from './zod-schema.ts';

const MAX_MESSAGE = 1000;

/** A JSON Schema to show, with the author's own validation if there is one. */
export interface SchemaPair {
  readonly schema: JsonSchema;
  readonly parse?: Parse;
}

type JsonSchemaOf = (options: { readonly target: string }) => unknown;

/** The members of Standard Schema, and of Standard JSON Schema 1.1, that are used here. */
interface Standard {
  readonly vendor?: unknown;
  validate(value: unknown): unknown;
  readonly jsonSchema?: { readonly input?: JsonSchemaOf };
}

/** Reads a schema given by an author: a Standard Schema with JSON Schema support, a zod schema, or a JSON Schema. */
export function toSchemaPair(schema: unknown, side: 'input' | 'output'): SchemaPair {
  const standard = standardOf(schema);
  const shown = toShown(standard === undefined ? schema : toJsonSchema(schema as object, standard, side), side); // an object or function
  if (side === 'input') requireObjectType(shown);
  return standard === undefined ? { schema: shown } : { schema: shown, parse: createParse(standard) };
}

function standardOf(schema: unknown): Standard | undefined {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return undefined;
  const standard = readMember(schema, '~standard', 'A schema') as Standard | undefined; // checked on the next line
  return typeof standard?.validate === 'function' ? standard : zod3Standard(schema);
}

// Both sides show the schema of the *input* of validation. A result is checked and passed on as the tool returned it, so
// callers see it without the defaults and transformations of the validation.
function toJsonSchema(schema: object, standard: Standard, side: string): unknown {
  const { jsonSchema } = standard;
  const conversion =
    typeof jsonSchema?.input === 'function'
      ? () => jsonSchema.input?.({ target: 'draft-2020-12' })
      : zodConversion(schema);
  if (typeof conversion !== 'function') {
    const vendor = typeof standard.vendor === 'string' ? standard.vendor : 'unknown vendor';
    throw new ToolcribError(
      'invalid_schema',
      `The ${side} schema (${vendor}) cannot be converted to JSON Schema. ${conversion?.advice ?? adviceFor(vendor)}`,
    );
  }
  try {
    return conversion();
  } catch (cause) {
    throw new ToolcribError(
      'invalid_schema',
      `The ${side} schema cannot be converted to JSON Schema: ${messageOf(cause)}. Use JSON types, or give a JSON Schema.`,
      { cause },
    );
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  valibot: 'Wrap it: toStandardJsonSchema(schema), from @valibot/to-json-schema@^1.5.',
  zod: 'Install zod@^4.2, or give a JSON Schema.',
  arktype: 'Install arktype@^2.2, or give a JSON Schema.',
};

function adviceFor(vendor: string): string {
  return ADVICE[vendor] ?? 'Use a version with Standard JSON Schema, or give a JSON Schema.';
}

function requireObject(schema: unknown, side: string): object {
  if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return schema;
  throw new ToolcribError(
    'invalid_schema',
    `The ${side} schema must be a Standard Schema (zod, arktype, valibot) or a JSON Schema object, got ${describe(schema)}.`,
  );
}

function toShown(schema: unknown, side: string): JsonSchema {
  const given = requireObject(schema, side);
  try {
    const { '~standard': _, ...data } = given as Record<string, unknown>; // an object
    // The default dialect is dropped, to save tokens in every prompt.
    if (data.$schema === DEFAULT_SCHEMA_URI) delete data.$schema;
    return frozenCopy(data) as JsonSchema; // a copy of an object
  } catch (cause) {
    const why = cause instanceof NotJsonError ? cause.message : 'a getter throws';
    throw new ToolcribError('invalid_schema', `The ${side} schema is not plain JSON: ${why}.`, { cause });
  }
}

function requireObjectType({ type }: JsonSchema): void {
  if (type === undefined || type === 'object' || (Array.isArray(type) && type.length === 1 && type[0] === 'object'))
    return;
  throw new ToolcribError(
    'invalid_schema',
    `The input schema must describe an object, because arguments have names; its type is ${JSON.stringify(type)}.`,
  );
}

function createParse(standard: Standard): Parse {
  return function parseByStandard(value) {
    try {
      const result = standard.validate(value);
      return isPromise(result) ? result.then(toParsed, toFailure) : toParsed(result);
    } catch (error) {
      return toFailure(error);
    }
  };
}

function toParsed(result: unknown): Parsed {
  const { issues, value } = result as { issues?: readonly StandardIssue[]; value?: unknown }; // guaranteed by Standard Schema
  if (issues === undefined) return { ok: true, value };
  return { ok: false, issues: limitIssues([...issues].map(toIssue)) };
}

// The message of a foreign error may contain anything, even a password; its name is enough to find the cause.
function toFailure(error: unknown): Parsed {
  const name = error instanceof Error ? error.name : typeof error;
  return { ok: false, issues: [{ path: '', message: `could not be checked: its schema threw a ${name}` }] };
}

interface StandardIssue {
  readonly message: unknown;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[];
}

function toIssue({ message, path = [] }: StandardIssue): Issue {
  const segments = path.map((segment) => (typeof segment === 'object' ? segment.key : segment));
  return {
    path: segments.map((key) => `/${escapePointer(String(key))}`).join(''),
    message: cut(String(message), MAX_MESSAGE),
  };
}
