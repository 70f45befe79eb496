import { Ajv, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPlainSchema } from '../../src/schemas/surely-valid.ts';

const options: Options = { strict: false, logger: false };
const dialects = [new Ajv(options), new Ajv2019(options), new Ajv2020(options)];
for (const ajv of dialects) addFormats.default(ajv);

const KEYWORDS = [
  ...['type', 'format', 'title', 'description', '$comment', 'default', 'const', 'enum', 'properties', 'required'],
  ...['additionalProperties', 'items', 'anyOf', 'allOf', 'oneOf', 'examples', 'minimum', 'exclusiveMaximum'],
  ...['uniqueItems', 'minLength', 'maxItems', 'minProperties', 'pattern', '$ref', 'not', 'multipleOf', 'dependencies'],
];
const types = fc.constantFrom('object', 'array', 'string', 'number', 'integer', 'boolean', 'null', 'any');
const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.dictionary(
    fc.constantFrom(...KEYWORDS),
    fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      types,
      fc.constantFrom(0, 1, -1, 1.5, true, false, null, 'x', ''),
      fc.array(fc.oneof(types, fc.constantFrom(0, 'x')), { maxLength: 3 }),
      fc.array(tie('schema'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'type'), tie('schema'), { maxKeys: 2 }),
      tie('schema'),
    ),
    { maxKeys: 4 },
  ),
}));

describe('a schema that is taken for valid without its schema', () => {
  it('is valid in every dialect', () => {
    let taken = 0;
    fc.assert(
      fc.property(schema, (given) => {
        if (!isPlainSchema(given)) return;
        taken++;
        expect(dialects.map((ajv) => ajv.validateSchema(given as object))).toEqual([true, true, true]);
      }),
      { numRuns: 3000 },
    );
    expect(taken).toBeGreaterThan(100);
  });

  it('is what most tools have', () => {
    const properties = {
      path: { type: 'string', description: 'Where', minLength: 1 },
      depth: { type: ['integer', 'null'], minimum: 0, default: 1 },
      tags: { type: 'array', items: { enum: ['a', 'b'] }, uniqueItems: true },
      or: { anyOf: [{ type: 'string', format: 'date' }, { const: 0 }] },
    };
    const tool = { type: 'object', properties, required: ['path'], additionalProperties: false };
    expect(isPlainSchema(tool)).toBe(true);
  });

  it.each([
    ['a wrong type', { type: 'text' }],
    ['a type twice', { type: ['string', 'string'] }],
    ['a required name twice', { required: ['a', 'a'] }],
    ['a count below zero', { minLength: -1 }],
    ['no alternatives', { anyOf: [] }],
    ['a schema that is a text', { properties: { a: 'string' } }],
    ['an unknown keyword', { pattern: '(' }],
    ['no object', true],
  ])('is not %s', (_, given) => {
    expect(isPlainSchema(given)).toBe(false);
  });
});
