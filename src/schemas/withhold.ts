import { freezeJson, type JsonObject, type JsonSchema, type JsonValue } from '../core/json.ts';
import { ToolcribError } from '../core/tool-error.ts';
import {
  createRun,
  type Parse,
  RUN,
  type ToolExample,
  type ToolSpec,
  WITHHELD,
  type Withheld,
} from '../core/tool-spec.ts';
import { argumentsOf, defaultOf } from './schema-mentions.ts';
import { schemaWithout, type Ungiven } from './schema-without.ts';

/** Arguments that callers neither see nor give: some with a fixed value, some hidden. */
export interface Withholding {
  readonly fixed: JsonObject;
  readonly hidden: readonly string[];
}

/**
 * The spec without these arguments, as callers see it. The tool still gets the fixed ones; one that the tool does not have
 * is neither sent to it nor accepted from callers. Throws if its schema does not allow this.
 */
export function withhold(spec: ToolSpec, wanted: Withholding): ToolSpec {
  try {
    return without(spec, wanted);
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    const names = [...Object.keys(wanted.fixed), ...wanted.hidden].map((name) => `"${name}"`).join(', ');
    const message = `Tool "${spec.name}": ${names} cannot be withheld: ${cause.message}.`;
    throw new ToolcribError(cause.code, message, { cause });
  }
}

function without(spec: ToolSpec, wanted: Withholding): ToolSpec {
  const { [WITHHELD]: before, parse = before?.parse, ...run } = spec[RUN];
  const input = before?.input ?? spec.input;
  const { fixed, hidden } = unite(input, wanted, before);
  const defaults = defaultsOf(input, hidden);
  const ungiven: Ungiven = new Map([
    ...hidden.map((name) => [name, defaults.get(name)] as const),
    ...Object.entries(fixed).map(([name, value]) => [name, { value }] as const),
  ]);
  const examples = spec.examples?.map((example) => withoutNames(example, ungiven));
  return Object.freeze({
    ...spec,
    input: schemaWithout(input, ungiven),
    ...(examples !== undefined && { examples: Object.freeze(examples) }),
    [RUN]: createRun({
      ...run,
      [WITHHELD]: Object.freeze({
        values: freezeJson({ ...sentDefaults(defaults, parse), ...fixed }),
        fixed: Object.freeze(Object.keys(fixed)),
        hidden: Object.freeze(hidden),
        input,
        ...(parse !== undefined && { parse }),
      }),
    }),
  });
}

/** Adds the wanted arguments to those withheld before; fixed values stay fixed. */
function unite(input: JsonSchema, wanted: Withholding, before: Withheld | undefined): Withholding {
  const known = argumentsOf(input);
  const fixedBefore = (before?.fixed ?? []).map((name) => [name, before?.values[name]] as const);
  const fixed = Object.fromEntries([...Object.entries(wanted.fixed), ...fixedBefore]) as JsonObject; // JSON values
  const sent = Object.fromEntries(Object.entries(fixed).filter(([name]) => known.has(name)));
  const names = new Set([...(before?.hidden ?? []), ...wanted.hidden, ...Object.keys(fixed)]);
  return { fixed: sent, hidden: [...names].filter((name) => !Object.hasOwn(sent, name)) };
}

type Defaults = ReadonlyMap<string, { readonly value: JsonValue }>;

function defaultsOf(input: JsonSchema, names: readonly string[]): Defaults {
  const found = names.flatMap((name) => {
    const fallback = defaultOf(input, name) as { readonly value: JsonValue } | undefined; // schemas are JSON
    return fallback === undefined ? [] : [[name, fallback] as const];
  });
  return new Map(found);
}

/** Defaults to send. An author's own schema fills in its defaults itself, and they may have another form than the input. */
function sentDefaults(defaults: Defaults, parse: Parse | undefined): JsonObject {
  return parse === undefined ? Object.fromEntries([...defaults].map(([name, { value }]) => [name, value])) : {};
}

function withoutNames(example: ToolExample, ungiven: Ungiven): ToolExample {
  if (example.input === undefined) return example;
  const left = Object.entries(example.input).filter(([name]) => !ungiven.has(name));
  return Object.freeze({ ...example, input: Object.freeze(Object.fromEntries(left)) });
}
