import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HTTP_RUN_SCHEMA } from '../../src/kinds/http/http-run.ts';
import { SHELL_RUN_SCHEMA } from '../../src/kinds/shell/shell-run.ts';
import { createSchemas } from '../../src/schemas/create-schemas.ts';
import { isSurelyValid } from '../../src/schemas/surely-valid.ts';

const schemas = createSchemas();
const accepts = (schema: object, value: unknown) => {
  const parsed = schemas.parser(schema as never)(value);
  return 'ok' in parsed && parsed.ok;
};

const name = fc.constantFrom('a', 'b', 'kind');
const json = fc.jsonValue({ maxDepth: 2 });
const value = fc.oneof(
  json,
  fc.dictionary(name, json, { maxKeys: 3 }),
  fc.constantFrom('', 'a', 'ab', 0, 1, -1, 1.5, [], {}, null),
);

/** With many keywords at once hardly any value would be valid. */
const few = (all: fc.Arbitrary<object>) =>
  fc
    .tuple(all, fc.infiniteStream(fc.nat(99)))
    .map(([whole, numbers]) =>
      Object.fromEntries(Object.entries(whole).filter(() => (numbers.next().value ?? 0) < 15)),
    );

const { schema } = fc.letrec<{ schema: object; any: object | boolean }>((tie) => ({
  any: fc.oneof({ depthSize: 'small' }, fc.boolean(), tie('schema')),
  schema: few(
    fc.record({
      type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null', ['string', 'object']),
      const: fc.constantFrom<unknown>('a', 1, null, { a: 1 }),
      enum: fc.constantFrom<unknown[]>(['a', 1], [null], [[1], 'ab']),
      minLength: fc.nat(2),
      minItems: fc.nat(2),
      minProperties: fc.nat(2),
      maxProperties: fc.nat(2),
      minimum: fc.integer({ min: -1, max: 1 }),
      maximum: fc.integer({ min: -1, max: 1 }),
      pattern: fc.constantFrom('^a', 'b$'),
      required: fc.uniqueArray(name),
      properties: fc.dictionary(name, tie('any'), { maxKeys: 2 }),
      additionalProperties: tie('any'),
      propertyNames: fc.record({ minLength: fc.nat(2), pattern: fc.constant('^a') }, { requiredKeys: [] }),
      items: tie('any'),
      anyOf: fc.array(tie('any'), { minLength: 1, maxLength: 2 }),
      maxLength: fc.nat(2), // not understood: then nothing is said
    }),
  ),
}));

it('a value that is surely valid is valid, for any schema and value', () => {
  let sure = 0;
  fc.assert(
    fc.property(schema, value, (anySchema, anyValue) => {
      if (!isSurelyValid(anyValue, anySchema)) return;
      sure++;
      expect(accepts(anySchema, anyValue)).toBe(true);
    }),
    { numRuns: 1500 },
  );
  expect(sure).toBeGreaterThan(50);
});

it.each([
  [
    { kind: 'http', method: 'GET', url: 'https://example.com/{id}', query: { q: '{q}' }, headers: { 'x-a': '1' } },
    HTTP_RUN_SCHEMA,
  ],
  [{ kind: 'http', url: 'https://example.com', auth: { bearer: 'x' }, body: { a: ['{b}'] } }, HTTP_RUN_SCHEMA],
  [
    { kind: 'shell', command: ['ls', ['--max', '{max}'], '--', '{path}'], env: { A: 'b' }, result: 'lines' },
    SHELL_RUN_SCHEMA,
  ],
])('a usual run is recognized as valid at once: %j', (run, runSchema) => {
  expect(isSurelyValid(run, runSchema)).toBe(true);
  expect(isSurelyValid({ ...run, nonsense: 1 }, runSchema)).toBe(false);
});
