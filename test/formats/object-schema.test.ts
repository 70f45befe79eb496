import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonSchema } from '../../src/core/json.ts';
import { toObjectSchema } from '../../src/formats/object-schema.ts';

const FORBIDDEN = ['allOf', 'anyOf', 'const', 'enum', 'not', 'oneOf'];
const names = fc.constantFrom('a', 'b', 'c');

function schemas(references: readonly string[]): fc.Arbitrary<JsonSchema> {
  const plain = {
    properties: fc.dictionary(names, fc.constant({}), { maxKeys: 2, noNullPrototype: true }),
    required: fc.uniqueArray(names, { maxLength: 1 }),
    $ref: fc.constantFrom(...references),
    unevaluatedProperties: fc.constantFrom(true, true, false),
  };
  const deeper = (inner: fc.Arbitrary<JsonSchema>): fc.Arbitrary<JsonSchema> => {
    const branches = fc.array(inner, { minLength: 1, maxLength: 2 });
    const ways: Record<string, fc.Arbitrary<unknown>>[] = [
      { anyOf: branches },
      { oneOf: branches },
      { allOf: branches },
    ];
    return fc.oneof(...ways.map((way) => fc.record({ ...plain, ...way }, { requiredKeys: [], noNullPrototype: true })));
  };
  return deeper(deeper(fc.record(plain, { requiredKeys: [], noNullPrototype: true })));
}

const input = fc.dictionary(names, fc.constantFrom('s', 1), { noNullPrototype: true });

test('a merged schema requires and forbids no property that the whole schema does not', () => {
  let taken = 0;
  fc.assert(
    fc.property(schemas(['#/$defs/x', '#/$defs/y']), schemas(['#/$defs/y']), input, (root, x, given) => {
      const whole = { ...root, $defs: { x, y: { properties: { c: {} } } } };
      if (!accepts(whole, given)) return;
      taken += 1;
      expect(accepts({ ...toObjectSchema(whole, FORBIDDEN) }, given)).toBe(true);
    }),
    { numRuns: 300 },
  );
  expect(taken).toBeGreaterThan(50);
});

const ajv = new Ajv2020({ strict: false, logger: false });

function accepts(judged: JsonSchema, given: unknown): boolean {
  return ajv.compile(judged)(given);
}

test('a schema that is an object already is only copied', () => {
  const input = { type: 'object', properties: { a: { anyOf: [{ type: 'string' }] } } };
  const copy = toObjectSchema(input, FORBIDDEN);
  expect(copy).toEqual(input);
  expect(copy).not.toBe(input);
  expect(copy.properties).not.toBe(input.properties);
});

test('siblings of a reference at the root are joined with its target', () => {
  const input = {
    $ref: '#/$defs/a~1b',
    description: 'mine',
    properties: { x: { type: 'string' }, y: { type: 'string' } },
    required: ['x'],
    $defs: {
      'a/b': {
        description: 'theirs',
        properties: { y: { type: 'number' } },
        required: ['y'],
        additionalProperties: false,
      },
    },
  };
  expect(toObjectSchema(input)).toEqual({
    type: 'object',
    description: 'mine',
    properties: { y: { anyOf: [{ type: 'number' }, { type: 'string' }] }, x: { type: 'string' } },
    required: ['y', 'x'],
    additionalProperties: false,
    $defs: input.$defs,
  });
});

test('a property named __proto__ does not change the prototype', () => {
  expect(toObjectSchema({ $ref: '#/constructor' }, FORBIDDEN)).toEqual({ type: 'object', $ref: '#/constructor' });
});

test('a web of references takes time in proportion to its size', () => {
  const all = Array.from({ length: 40 }, (_, index) => index);
  const refer = (index: number) => ({
    allOf: [{ $ref: `#/$defs/d${index}` }, { properties: { shared: { const: index } } }],
  });
  const $defs = Object.fromEntries(
    all.map((index) => [`d${index}`, { properties: { [`p${index}`]: true }, anyOf: all.map(refer) }]),
  );
  const folded = toObjectSchema({ anyOf: all.map(refer), $defs }, FORBIDDEN);
  expect(Object.keys(folded.properties ?? {})).toHaveLength(41);
  expect(folded.properties).toMatchObject({ shared: { anyOf: all.map((index) => ({ const: index })) } });
});

test('a chain of references that is longer than the stack does not overflow it', () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, index) => [`d${index}`, { allOf: [{ $ref: `#/$defs/d${index + 1}` }] }]),
  );
  expect(toObjectSchema({ $ref: '#/$defs/d0', $defs }, FORBIDDEN)).toMatchObject({ type: 'object' });
});
