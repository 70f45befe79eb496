import fc from 'fast-check';

type Schema = Readonly<Record<string, unknown>>;

/** Values of a JSON Schema, as far as our own schemas go. */
export function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const choices = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (choices !== undefined) return fc.oneof(...choices.map(valuesOf));
  switch (schema.type) {
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: numberIn(schema.minimum, -1000), max: numberIn(schema.maximum, 1_000_000) });
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(valuesOf((schema.items ?? {}) as Schema), { maxLength: 3 });
    case 'object':
      return objectOf(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function textOf({ format, minLength, maxLength }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time') {
    const times = { noInvalidDate: true, min: new Date('1980-01-01'), max: new Date('2999-01-01') };
    return fc.date(times).map((date) => date.toISOString());
  }
  const max = Math.min(numberIn(maxLength, 20), 20);
  return fc.string({ unit: 'grapheme', minLength: Math.min(numberIn(minLength, 0), max), maxLength: max });
}

function objectOf({ properties, required = [] }: Schema): fc.Arbitrary<unknown> {
  if (properties === undefined)
    return fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 });
  const members = Object.entries(properties as Readonly<Record<string, Schema>>).map(([key, member]) => [
    key,
    valuesOf(member),
  ]);
  return fc.record(Object.fromEntries(members), { requiredKeys: required as never[] });
}

function numberIn(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

/** Values that are mostly of the schema, and otherwise anything. */
export function nearlyValuesOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { arbitrary: valuesOf(schema), weight: 5 },
    { arbitrary: fc.jsonValue({ maxDepth: 2 }), weight: 1 },
    { arbitrary: valuesOf(schema).map((value) => ({ ...(value as object), unknown_member: 1 })), weight: 1 },
  );
}
