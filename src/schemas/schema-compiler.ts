import { createRequire } from 'node:module';
import { extname } from 'node:path';
import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv';
import { canonicalJson, type JsonSchema } from '../core/json.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { CompilableSchema } from './compilable-schema.ts';
import { toIssues } from './issues.ts';
import type { LinearPatterns } from './linear-pattern.ts';
import { type Dialect, WORK_KEYWORD } from './schema-keywords.ts';
import { isPlainSchema } from './surely-valid.ts';
import { TooMuchWorkError, type WorkLimit } from './work-limit.ts';

/** A compiled schema. */
export interface CompiledSchema {
  /** Stops at the first error. Fills in defaults. */
  readonly check: ValidateFunction;
  /** Collects all errors; compiled on first use, because most schemas never need it. */
  readonly explain: () => ValidateFunction;
}

// An Ajv instance keeps every function it ever compiled; a new instance now and then frees the unused ones.
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
  if (isPlainSchema(schema) || ajv.validateSchema(schema) === true) return;
  const issues = toIssues(ajv.errors ?? [], { noun: 'keyword' });
  const words = issues.map(({ path, message }) => `${path === '' ? 'the top' : path} ${message}`);
  throw new ToolcribError('invalid_schema', `The schema is not valid: ${words.join('; ')}.`);
}

function attempt(ajv: Ajv, compile: () => ValidateFunction): ValidateFunction {
  try {
    return compile();
  } catch (cause) {
    // Ajv throws plain errors for schemas it cannot compile; here the cause is always the schema.
    if (cause instanceof ToolcribError) throw cause;
    throw new ToolcribError('invalid_schema', `The schema does not compile: ${toReason(cause)}.`, { cause });
  } finally {
    // One schema must not affect the next: two tools may use the same `$id`.
    ajv.removeSchema();
  }
}

function toReason(cause: unknown): string {
  if (cause instanceof RangeError || cause instanceof TooMuchWorkError) return 'it is nested too deeply, or too large';
  const { missingRef } = cause as { missingRef?: unknown }; // only Ajv's MissingRefError has it
  if (typeof missingRef !== 'string') return cause instanceof Error ? cause.message : String(cause);
  return `$ref "${missingRef}" is not found in the schema; remote references are not fetched`;
}

/** Shared resources of the checks of one Ajv instance. */
interface AjvOptions {
  readonly work: WorkLimit;
  readonly patterns: LinearPatterns;
}

/** The variant of an Ajv instance; it cannot be changed later. */
interface AjvFlavour {
  readonly dialect: Dialect;
  readonly namesInherited: boolean;
  readonly errors: 'first' | 'all';
}

const REF_UNITS = 50;

/** Creates an Ajv instance that logs nothing, fetches nothing and does not run patterns itself. */
function createAjv(flavour: AjvFlavour, { work, patterns }: AjvOptions): Ajv {
  const classes = loadClasses();
  const options: Options = {
    allErrors: flavour.errors === 'all',
    ownProperties: flavour.namesInherited,
    strict: false,
    strictNumbers: true,
    useDefaults: true,
    validateSchema: false,
    // Each reference stays a call: inlined, a small schema could grow without bounds.
    inlineRefs: false,
    verbose: true,
    logger: false,
    // Without optimization, code generation takes half the time, and the code is as fast.
    code: {
      optimize: false,
      regExp: Object.assign((pattern: string) => requirePattern(patterns, pattern), { code: 'linearPattern' }),
    },
  };
  const ajv = createOfDialect(flavour.dialect, options, classes);
  classes.addFormats.default(ajv);
  // The one in ajv-formats takes quadratic time, and refuses localhost.
  ajv.addFormat('url', (text: string) => /^(?:https?|ftp):\/\//i.test(text) && URL.canParse(text));
  addUniqueItems(ajv);
  addWork(ajv, work);
  return ajv;
}

type AjvClasses = typeof import('./ajv-classes.ts');

function loadClasses(): AjvClasses {
  const file = `./ajv-classes${extname(import.meta.url)}`; // .ts here, .js when built
  return createRequire(import.meta.url)(file) as AjvClasses; // its exports
}

function createOfDialect(dialect: Dialect, options: Options, { Ajv, Ajv2019, Ajv2020 }: AjvClasses): Ajv {
  switch (dialect) {
    case 'draft-07':
      return new Ajv(options);
    case '2019-09':
      return new Ajv2019(options);
    case '2020-12':
      return new Ajv2020(options);
  }
}

function requirePattern(patterns: LinearPatterns, pattern: string): Exclude<ReturnType<LinearPatterns>, string> {
  const found = patterns(pattern);
  if (typeof found === 'string') throw new Error(`pattern "${pattern}" ${found}`);
  return found;
}

// Ajv compares every item with every other; comparing their JSON takes one pass.
function addUniqueItems(ajv: Ajv): void {
  const uniqueItems: { (wanted: boolean, items: readonly unknown[]): boolean; errors?: Partial<ErrorObject>[] } = (
    wanted,
    items,
  ) => {
    if (!wanted) return true;
    const seen = new Map<string, number>();
    for (const [index, item] of items.entries()) {
      const text = canonicalJson(item);
      const twin = seen.get(text);
      if (twin !== undefined) {
        uniqueItems.errors = [{ keyword: 'uniqueItems', params: { i: index, j: twin } }];
        return false;
      }
      seen.set(text, index);
    }
    return true;
  };
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate: uniqueItems });
}

// Without references, a check costs at most the size of the schema per value. References can multiply that without bounds
// (anyOf of two references, thirty levels deep), so each is charged. Below `contains`, Ajv copies all errors so far for
// every item that fails, hence the square.
function addWork(ajv: Ajv, work: WorkLimit): void {
  ajv.addKeyword({
    keyword: WORK_KEYWORD,
    before: '$ref',
    schemaType: 'string',
    errors: false,
    validate: (place: string, data: unknown) => {
      work.spend(REF_UNITS);
      if (place === 'contains' && Array.isArray(data)) work.spend(data.length ** 2 / 10);
      return true;
    },
  });
}
