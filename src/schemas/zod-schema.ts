import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRecord } from '../core/json.ts';

/** Converts a schema to JSON Schema, and throws for types that JSON does not have; or the advice what to install for that. */
export type ZodConversion = (() => unknown) | { readonly advice: string };

/** The internals of a zod 4 schema, also of zod/mini. */
interface ZodInside {
  readonly def: object;
  /** One object per copy of the package. */
  readonly version: { readonly major: number; readonly minor: number; readonly patch: number };
}

/** The exports of the zod 4 core. */
interface ZodCore {
  readonly version: unknown;
  toJSONSchema(schema: object, options: object): unknown;
}

/** The exports of zod-to-json-schema. */
interface Zod3Converter {
  readonly ignoreOverride: symbol;
  zodToJsonSchema(schema: object, options: object): Readonly<Record<string, unknown>>;
}

/** The members of a zod 3 schema that are used here. */
interface Zod3Schema {
  readonly _def: { readonly typeName: string };
  safeParse(value: unknown): Zod3Result;
  safeParseAsync(value: unknown): Promise<Zod3Result>;
}

type Zod3Result =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly error: { readonly issues: readonly unknown[] } };

const OR_JSON_SCHEMA = 'or give a JSON Schema.';

/** The conversion for a zod schema without JSON Schema support: by the copy of zod that made it, else by a converter. Undefined for other schemas. */
export function zodConversion(schema: object): ZodConversion | undefined {
  if (isZod3(schema)) return zod3Conversion(schema);
  const inside = insideOf(schema);
  if (inside === undefined) return undefined;
  const core = coreOf(schema, inside);
  if (core !== undefined) return () => core.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' });
  const { major, minor, patch } = inside.version;
  return {
    advice: `It is a zod ${major}.${minor}.${patch} schema, but that package was not found (it may be bundled). Install zod@^4.2 and use "zod" rather than "zod/mini", ${OR_JSON_SCHEMA}`,
  };
}

/** A Standard Schema check for zod before 3.24, which has none. Undefined for other schemas. */
export function zod3Standard(
  schema: object,
): { readonly vendor: 'zod'; validate(value: unknown): unknown } | undefined {
  if (!isZod3(schema)) return undefined;
  return {
    vendor: 'zod',
    validate(value) {
      try {
        return toStandardResult(schema.safeParse(value));
      } catch {
        return schema.safeParseAsync(value).then(toStandardResult); // it has asynchronous checks
      }
    },
  };
}

function toStandardResult(result: Zod3Result): object {
  return result.success ? { value: result.data } : { issues: result.error.issues };
}

function isZod3(schema: object): schema is Zod3Schema {
  const { _def, safeParse, safeParseAsync } = schema as Partial<Zod3Schema>; // checked here
  return isRecord(_def) && typeof _def.typeName === 'string' && [safeParse, safeParseAsync].every(isFunction);
}

function insideOf(schema: object): ZodInside | undefined {
  const inside: unknown = Reflect.get(schema, '_zod');
  if (!isRecord(inside) || !isRecord(inside.version) || !isRecord(inside.def)) return undefined;
  return inside as unknown as ZodInside; // checked as far as it is used
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

/** Finds the core of the same copy of zod, because each copy keeps its own descriptions. */
function coreOf(schema: object, { def, version }: ZodInside): ZodCore | undefined {
  const file = fileOfZod((watch) => {
    const watched = new Proxy(def, {
      get(target, key) {
        watch();
        return Reflect.get(target, key);
      },
    });
    Reflect.construct(schema.constructor, [watched]);
  });
  const [, folder, extension] = /^(.*)[\\/]v4[\\/](?:core|classic|mini)[\\/][^\\/]+\.(c?js)$/.exec(file ?? '') ?? [];
  if (folder === undefined || file === undefined) return undefined;
  const core = load(file, join(folder, 'v4/core', `index.${extension}`));
  return isRecord(core) && core.version === version && isFunction(core.toJSONSchema)
    ? (core as unknown as ZodCore) // checked as far as it is used
    : undefined;
}

const TYPES_WITHOUT_JSON: ReadonlySet<string> = new Set([
  'ZodBigInt',
  'ZodDate',
  'ZodFunction',
  'ZodMap',
  'ZodNaN',
  'ZodPromise',
  'ZodSet',
  'ZodSymbol',
  'ZodUndefined',
  'ZodVoid',
]);

function zod3Conversion(schema: Zod3Schema): ZodConversion {
  const converter = findZod3Converter(schema);
  if (converter === undefined) {
    return {
      advice: `It is a zod 3 schema, which needs a converter. Install zod-to-json-schema@^3.25 beside zod@^3.25.28; or install zod@^4.2, ${OR_JSON_SCHEMA}`,
    };
  }
  const options = {
    target: 'jsonSchema7',
    pipeStrategy: 'input',
    removeAdditionalStrategy: 'strict',
    allowedAdditionalProperties: undefined,
    override({ typeName }: Zod3Schema['_def']) {
      if (!TYPES_WITHOUT_JSON.has(typeName)) return converter.ignoreOverride;
      throw new TypeError(`${typeName} cannot be represented in JSON Schema`);
    },
  };
  return () => {
    const { $schema, ...converted } = converter.zodToJsonSchema(schema, options);
    // Only tuples are written differently in the default dialect.
    return hasTuple(converted) ? { $schema, ...converted } : converted;
  };
}

function hasTuple(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasTuple);
  return isRecord(schema) && (Array.isArray(schema.items) || Object.values(schema).some(hasTuple));
}

function findZod3Converter(schema: Zod3Schema): Zod3Converter | undefined {
  const file = fileOfZod((watch) => {
    const watched = Object.create(schema, {
      _def: {
        get() {
          watch();
          return schema._def;
        },
      },
    });
    Reflect.apply(Reflect.get(Object.getPrototypeOf(schema), 'describe'), watched, ['']);
  });
  for (const base of [import.meta.url, join(process.cwd(), 'index.js'), file]) {
    const found = base === undefined ? undefined : load(base, 'zod-to-json-schema');
    if (isRecord(found) && isFunction(found.zodToJsonSchema) && typeof found.ignoreOverride === 'symbol')
      return found as unknown as Zod3Converter; // checked as far as it is used
  }
  return undefined;
}

/** The file of zod that accesses the object under watch. It runs no code of the schema's author, no check and no transformation. */
function fileOfZod(touch: (watch: () => void) => void): string | undefined {
  const own = fileURLToPath(import.meta.url);
  let file: string | undefined;
  const watch = () => {
    file ??= process
      .getBuiltinModule('node:util')
      .getCallSites() // not an import, which would fail on an old Node before its version is checked
      .map(({ scriptName }) => (scriptName.startsWith('file:') ? fileURLToPath(scriptName) : scriptName))
      .find((name) => name !== own && !name.startsWith('node:'));
  };
  try {
    touch(watch);
  } catch {
    return undefined; // it only looks like zod
  }
  return file;
}

/** Loads a module as resolved from `base`; a module that is loaded already is reused. Undefined if there is none. */
function load(base: string, name: string): unknown {
  try {
    return createRequire(base)(name);
  } catch {
    return undefined;
  }
}
