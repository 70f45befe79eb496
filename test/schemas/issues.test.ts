import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../src/core/json.ts';
import { createSchemas } from '../../src/schemas/create-schemas.ts';
import { checkInput, checkOutput, issuesOf } from './check-with.ts';

function issuesFor(schema: JsonSchema, value: unknown) {
  return issuesOf(checkInput(createSchemas(), schema, value));
}

describe('an issue', () => {
  it.each<[JsonSchema, unknown, string]>([
    [{ type: 'number' }, 'abc', 'must be a number, got the string "abc"'],
    [{ type: ['string', 'null'] }, 5, 'must be a string or null, got the number 5'],
    [{ type: 'object' }, [1, 2], 'must be an object, got an array of 2 items'],
    [{ type: 'array' }, { a: 1 }, 'must be an array, got an object'],
    [{ type: 'integer' }, 1.5, 'must be an integer, got the number 1.5'],
    [{ type: 'boolean' }, null, 'must be a boolean, got null'],
    [{ enum: ['a', 'b'] }, 'c', 'must be one of "a", "b"; got "c"'],
    [{ const: 'a' }, 1, 'must be "a"; got 1'],
    [{ minimum: 3 }, 1, 'must be at least 3; got 1'],
    [{ maximum: 3 }, 4, 'must be at most 3; got 4'],
    [{ exclusiveMinimum: 3 }, 3, 'must be more than 3; got 3'],
    [{ exclusiveMaximum: 3 }, 3, 'must be less than 3; got 3'],
    [{ multipleOf: 5 }, 7, 'must be a multiple of 5; got 7'],
    [{ minLength: 3 }, '\u{1F600}', 'must have at least 3 characters; got 1'],
    [{ maxLength: 1 }, 'ab', 'must have at most 1 character; got 2'],
    [{ minItems: 1 }, [], 'must have at least 1 item; got 0'],
    [{ maxItems: 1 }, [1, 2], 'must have at most 1 item; got 2'],
    [{ minProperties: 2 }, { a: 1 }, 'must have at least 2 properties; got 1'],
    [{ prefixItems: [{}], items: false }, [1, 2], 'must have at most 1 item; got 2'],
    [{ uniqueItems: true }, [1, { a: 1, b: 2 }, { b: 2, a: 1 }], 'must not have equal items; items 1 and 2 are equal'],
    [{ contains: { type: 'string' } }, [1, 2], 'must contain at least 1 item matching its schema'],
    [{ pattern: '^\\d+$' }, 'x', 'must match the pattern "^\\d+$"; got "x"'],
    [{ format: 'email' }, 'x', 'must be a valid email address such as "ada@example.com"; got "x"'],
    [{ format: 'json-pointer' }, 'x', 'must be a valid json-pointer; got "x"'],
    [{ not: { type: 'string' } }, 'x', 'must not match the excluded schema'],
  ])('of %j is described in words', (schema, value, message) => {
    expect(issuesFor({ properties: { x: schema } }, { x: value })).toEqual([{ path: '/x', message }]);
  });

  it('of a missing property points at that property', () => {
    const schema = { properties: { 'a/b': { required: ['c~d'] } }, required: ['city'] };
    expect(issuesFor(schema, { 'a/b': {} })).toEqual([
      { path: '/city', message: 'is required' },
      { path: '/a~1b/c~0d', message: 'is required' },
    ]);
  });

  it('of a property that another one needs says so', () => {
    expect(issuesFor({ dependentRequired: { card: ['address'] } }, { card: 1 })).toEqual([
      { path: '/address', message: 'is required when "card" is given' },
    ]);
  });

  it('of an unknown argument suggests the intended one', () => {
    const schema = { properties: { color: {}, size: {} }, additionalProperties: false };
    expect(issuesFor(schema, { colour: 1, zzz: 1 })).toEqual([
      { path: '/colour', message: 'is not a known argument. Did you mean "color"?' },
      { path: '/zzz', message: 'is not a known argument. Known: "color", "size".' },
    ]);
  });

  it('of an unknown argument names the first of many known ones', () => {
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field_${index}`, {}]));
    const [issue] = issuesFor({ properties, additionalProperties: false }, { zzz: 1 });
    expect(issue?.message).toMatch(/^is not a known argument\. Known: "field_0", .* and \d+ more\.$/);
    expect(issue?.message.length).toBeLessThan(300);
  });

  it('of an unknown member of an answer, or deeper, says "property"', () => {
    const schema = { properties: { a: { additionalProperties: false } }, additionalProperties: false };
    expect(issuesOf(checkOutput(createSchemas(), schema, { b: 1 }))[0]?.message).toMatch(/known property/);
    expect(issuesFor(schema, { a: { x: 1 } })).toEqual([{ path: '/a/x', message: 'is not a known property.' }]);
  });

  it('of a name points at it', () => {
    expect(issuesFor({ propertyNames: { maxLength: 2 } }, { abc: 1 })).toEqual([
      { path: '/abc', message: 'has a name that must have at most 2 characters; got 3' },
    ]);
  });

  it('of a forbidden property says so', () => {
    expect(issuesFor({ properties: { a: false } }, { a: 1 })).toEqual([{ path: '/a', message: 'is not allowed here' }]);
  });

  it('of a condition is that of the selected branch', () => {
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    const schema = { if: { required: ['a'] }, then: { required: ['b'] } };
    expect(issuesFor(schema, { a: 1 })).toEqual([{ path: '/b', message: 'is required' }]);
  });

  it('never shows more than the beginning of a value', () => {
    const [issue] = issuesFor({ type: 'number' }, 'x'.repeat(1000));
    expect(issue?.message).toBe(`must be a number, got the string "${'x'.repeat(40)}…"`);
    const [unknown] = issuesFor({ additionalProperties: false }, { ['y'.repeat(1000)]: 1 });
    expect(unknown?.path.length).toBeLessThan(220);
  });

  it('never shows a value that its schema marks as secret', () => {
    const schema = { properties: { a: { minLength: 9, format: 'password' }, b: { enum: ['x'], writeOnly: true } } };
    expect(JSON.stringify(issuesFor(schema, { a: 'hunter2', b: 'hunter2' }))).not.toContain('hunter2');
  });

  it('of a long list of allowed values cuts it and suggests one', () => {
    const values = Array.from({ length: 500 }, (_, index) => `value-${index}`);
    const [issue] = issuesFor({ enum: values }, 'valeu-77');
    expect(issue?.message.length).toBeLessThan(350);
    expect(issue?.message).toMatch(/and 4\d\d more; got "valeu-77"\. Did you mean "value-77"\?$/);
  });
});

describe('issues', () => {
  it('are all listed', () => {
    const schema = { properties: { a: { type: 'number' }, b: { type: 'string' } }, required: ['c'] };
    expect(issuesFor(schema, { a: 'x', b: 1 }).map(({ path }) => path)).toEqual(['/c', '/a', '/b']);
  });

  it('are at most twenty, the last of which counts the rest', () => {
    const issues = issuesFor(
      { items: { type: 'string' } },
      Array.from({ length: 50 }, (_, index) => index),
    );
    expect(issues).toHaveLength(20);
    expect(issues.at(-1)).toEqual({ path: '', message: 'and 31 more' });
  });
});

describe('a value that fits no branch of a union', () => {
  const circle = {
    type: 'object',
    properties: { kind: { const: 'circle' }, r: { type: 'number' } },
    required: ['kind', 'r'],
  };
  const square = {
    type: 'object',
    properties: { kind: { const: 'square' }, w: { type: 'number' } },
    required: ['kind', 'w'],
  };
  const inline = { properties: { shape: { oneOf: [circle, square, { type: 'null' }] } } };
  const referred = {
    properties: { shape: { anyOf: [{ $ref: '#/$defs/circle' }, { $ref: '#/$defs/square' }, { type: 'null' }] } },
    $defs: { circle, square },
  };

  describe.each([
    ['written out', inline],
    ['by reference', referred],
  ])('%s', (_, schema) => {
    it('is told the issues of the intended branch', () => {
      expect(issuesFor(schema, { shape: { kind: 'square', w: 'x' } })).toEqual([
        { path: '/shape/w', message: 'must be a number, got the string "x"' },
      ]);
    });

    it('is told the possible tags', () => {
      expect(issuesFor(schema, { shape: { kind: 'hexagon' } })).toEqual([
        { path: '/shape/kind', message: 'must be "circle", or "square"; got the string "hexagon"' },
      ]);
    });

    it('is told the possible types', () => {
      expect(issuesFor(schema, { shape: 4 })).toEqual([
        { path: '/shape', message: 'must be an object, or null; got the number 4' },
      ]);
    });

    it('is told that there are other forms if one had to be guessed', () => {
      expect(issuesFor(schema, { shape: {} })[0]).toEqual({
        path: '/shape/kind',
        message: 'is required (or use another of the 3 allowed forms)',
      });
    });
  });

  it('does not hide other issues', () => {
    const $defs = { a: { required: ['a'] } };
    const schema = { $defs, $ref: '#/$defs/a', anyOf: [{ required: ['b'] }, { type: 'string' }] };
    expect(issuesFor(schema, {}).map(({ path }) => path)).toEqual(['/a', '/b']);
  });

  it('is told everything about the only branch of its type', () => {
    const place = { type: 'object', properties: { unit: { enum: ['C', 'F'] }, of: { const: 1 } }, required: ['city'] };
    const schema = { properties: { place: { anyOf: [place, { type: 'null' }] } } };
    const paths = issuesFor(schema, { place: { unit: 'K', of: 2 } }).map(({ path }) => path);
    expect(paths).toEqual(['/place/city', '/place/unit', '/place/of']);
  });

  it('of very many is told only some of them', () => {
    const anyOf = Array.from({ length: 300 }, (_, index) => ({ const: `branch number ${index}` }));
    expect(issuesFor({ anyOf }, 1)[0]?.message.length).toBeLessThan(450);
  });

  it('inside another union is told about the innermost one', () => {
    const schema = {
      anyOf: [{ type: 'null' }, { type: 'object', properties: { a: { anyOf: [{ const: 1 }, { const: 2 }] } } }],
    };
    expect(issuesFor(schema, { a: 3 })).toEqual([{ path: '/a', message: 'must be 1, or 2; got the number 3' }]);
  });

  it('but several exclusive ones is told so', () => {
    const schema = { oneOf: [{ type: 'number' }, { type: 'integer' }, { type: 'string' }] };
    expect(issuesFor(schema, 1)).toEqual([
      { path: '', message: 'matches more than one of the 3 allowed forms; make it match exactly one' },
    ]);
  });
});
