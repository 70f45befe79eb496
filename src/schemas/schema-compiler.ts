import type { Ajv, ValidateFunction } from 'ajv';
import type { JsonSchema } from '../core/json.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { CompilableSchema } from './compilable-schema.ts';
import { type AjvFlavour, type AjvOptions, createAjv } from './create-ajv.ts';
import { toIssues } from './issues.ts';
import { TooMuchWorkError } from './work-limit.ts';

/** A compiled schema. */
export interface CompiledSchema {
  /** Stops at the first error. Fills in defaults. */
  readonly check: ValidateFunction;
  /** Collects all errors; compiled on first use, because most schemas never need it. */
  readonly explain: () => ValidateFunction;
}

// An Ajv instance keeps every function that it ever made; a new one now and then lets go of those nobody uses.
const MAX_COMPILED_BY_ONE = 500;
const COMPILE_UNITS = 50_000_000;

/** Compiles schemas with Ajv, which is loaded on first use. */
export function createSchemaCompiler(options: AjvOptions): (schema: CompilableSchema) => CompiledSchema {
  const instances = new Map<string, { readonly ajv: Ajv; compiled: number }>();

  function instanceOf(flavour: AjvFlavour): Ajv {
    const key = `${flavour.dialect} ${flavour.namesInherited} ${flavour.errors}`;
    let instance = instances.get(key);
    if (instance === undefined || instance.compiled >= MAX_COMPILED_BY_ONE) {
      instance = { ajv: createAjv(flavour, options), compiled: 0 };
      instances.set(key, instance);
    }
    instance.compiled += 1;
    return instance.ajv;
  }

  return function compileSchema({ dialect, namesInherited, schema }) {
    const first = instanceOf({ dialect, namesInherited, errors: 'first' });
    options.work.start(COMPILE_UNITS);
    const check = attempt(first, () => {
      requireValid(first, schema);
      return first.compile(schema);
    });
    let explain: ValidateFunction | undefined;
    return {
      check,
      explain: () => {
        if (explain !== undefined) return explain;
        const all = instanceOf({ dialect, namesInherited, errors: 'all' });
        explain = attempt(all, () => all.compile(schema));
        return explain;
      },
    };
  };
}

function requireValid(ajv: Ajv, schema: JsonSchema): void {
  if (ajv.validateSchema(schema) === true) return;
  const issues = toIssues(ajv.errors ?? [], { noun: 'keyword' });
  const words = issues.map(({ path, message }) => `${path === '' ? 'the top' : path} ${message}`);
  throw new ToolcribError('invalid_schema', `The schema is not valid: ${words.join('; ')}.`);
}

function attempt(ajv: Ajv, compile: () => ValidateFunction): ValidateFunction {
  try {
    return compile();
  } catch (cause) {
    // Ajv throws plain errors for whatever it cannot compile; here that is always the schema's fault.
    if (cause instanceof ToolcribError) throw cause;
    throw new ToolcribError('invalid_schema', `The schema does not compile: ${toReason(cause)}.`, { cause });
  } finally {
    // Nothing of one schema may be seen by the next: two tools may use the same `$id`.
    ajv.removeSchema();
  }
}

function toReason(cause: unknown): string {
  if (cause instanceof RangeError || cause instanceof TooMuchWorkError) return 'it is nested too deeply, or too large';
  const { missingRef } = cause as { missingRef?: unknown }; // only Ajv's MissingRefError has it
  if (typeof missingRef !== 'string') return cause instanceof Error ? cause.message : String(cause);
  return `$ref "${missingRef}" points at nothing inside it, and is never fetched`;
}
