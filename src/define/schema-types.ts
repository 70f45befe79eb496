/** The part of Standard Schema needed for type inference; zod, arktype, valibot and others implement it. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown, ...rest: never) => unknown;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The part of a zod schema before 3.24 needed for type inference; it is not a Standard Schema. */
export interface EarlyZodSchema<Input = unknown, Output = Input> {
  readonly _input: Input;
  readonly _output: Output;
  safeParse(value: unknown): unknown;
}

/** The type of the arguments that a tool with this input schema receives. */
export type InputOf<Schema> = Schema extends
  | StandardSchema<unknown, infer Output>
  | EarlyZodSchema<unknown, infer Output>
  ? Output
  : FromJsonSchema<Schema>;

/** The type of the value that a tool with this output schema returns. */
export type OutputOf<Schema> = Schema extends
  | StandardSchema<infer Input, unknown>
  | EarlyZodSchema<infer Input, unknown>
  ? Input
  : FromJsonSchema<Schema>;

/** The TypeScript type of a JSON Schema literal; unsupported keywords give `unknown`. */
type FromJsonSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly type: infer Type }
      ? FromType<Type, Schema>
      : Schema extends { readonly properties: unknown }
        ? FromObject<Schema>
        : unknown;

type FromType<Type, Schema> = Type extends 'object'
  ? FromObject<Schema>
  : Type extends 'array'
    ? Schema extends { readonly items: infer Items }
      ? FromJsonSchema<Items>[]
      : unknown[]
    : Type extends 'string'
      ? string
      : Type extends 'number' | 'integer'
        ? number
        : Type extends 'boolean'
          ? boolean
          : Type extends 'null'
            ? null
            : Type extends readonly (infer One)[]
              ? FromType<One, Schema>
              : unknown;

type FromObject<Schema> = Schema extends { readonly properties: infer Properties }
  ? Simplify<
      { [Key in Extract<keyof Properties, RequiredOf<Schema, Properties>>]: FromJsonSchema<Properties[Key]> } & {
        [Key in Exclude<keyof Properties, RequiredOf<Schema, Properties>>]?: FromJsonSchema<Properties[Key]>;
      }
    >
  : Record<string, unknown>;

// A default is filled in before the tool runs, so its property always exists.
type RequiredOf<Schema, Properties> =
  | (Schema extends { readonly required: readonly (infer Name)[] } ? Name : never)
  | {
      [Key in keyof Properties]: Properties[Key] extends { readonly default: unknown } ? Key : never;
    }[keyof Properties];

type Simplify<T> = { [Key in keyof T]: T[Key] };
