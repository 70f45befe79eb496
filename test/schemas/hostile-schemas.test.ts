import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../src/core/json.ts';
import { createSchemas } from '../../src/schemas/create-schemas.ts';
import { checkInput, checkOutput, issuesOf, specOf } from './check-with.ts';

// Where something here is not contained, the test does not fail: it hangs until vitest gives up.

const TOO_MUCH = [{ path: '', message: 'takes too much work to check; make it smaller' }];
const WITHOUT_END = [
  { path: '', message: 'cannot be checked: it is nested too deeply, or its schema refers to itself endlessly' },
];

function fromJson(text: string): JsonSchema {
  return JSON.parse(text);
}

describe('a hostile pattern cannot hang validation', () => {
  const pattern = '^(a+)+$';
  const text = `${'a'.repeat(50_000)}b`;

  it('of a string', () => {
    const schema = { properties: { a: { type: 'string', pattern } } };
    expect(checkInput(createSchemas(), schema, { a: text }).ok).toBe(false);
    expect(checkOutput(createSchemas(), schema, { a: 'aaa' }).ok).toBe(true);
  });

  it('of names, in patternProperties', () => {
    const schema = { patternProperties: { [pattern]: { type: 'number' } }, additionalProperties: false };
    expect(checkInput(createSchemas(), schema, { [text]: 1 }).ok).toBe(false);
    expect(checkInput(createSchemas(), schema, { aaa: 1 }).ok).toBe(true);
  });

  it('of names, in propertyNames', () => {
    const schema = { propertyNames: { pattern } };
    expect(checkInput(createSchemas(), schema, { [text]: 1 }).ok).toBe(false);
    expect(checkInput(createSchemas(), schema, { aaa: 1 }).ok).toBe(true);
  });

  it('that is as large as the text exhausts its allowance', () => {
    const schema = { pattern: '((a?){10}){30}a{900}$' };
    expect(issuesOf(checkInput(createSchemas(), schema, text))).toEqual(TOO_MUCH);
  });

  it('that only a reference reaches is not run', () => {
    const schema = { $ref: '#/x-hidden', 'x-hidden': { pattern: '(?=(a+)+$)' } };
    expect(() => createSchemas().input(specOf(schema))).toThrow(/cannot be run in linear time/);
  });
});

describe('a pattern that the linear engine cannot express', () => {
  it.each<[string, JsonSchema, unknown]>([
    ['pattern', { pattern: '^(?=x)' }, 'y'],
    ['not', { not: { pattern: '^(?=x)' } }, 'y'],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    ['if', { if: { pattern: '^(?=x)' }, then: { type: 'number' } }, 'y'],
    ['oneOf', { oneOf: [{ pattern: '^(?=x)' }, { minLength: 1 }] }, 'y'],
    ['maxContains', { contains: { pattern: '^(?=x)' }, maxContains: 1 }, ['y', 'z']],
    ['patternProperties', { patternProperties: { '(?=x)': {} }, additionalProperties: false }, { y: 1 }],
    ['unevaluatedProperties', { patternProperties: { '(?=x)': {} }, unevaluatedProperties: false }, { y: 1 }],
    ['a reference', { $defs: { x: { pattern: '(x)\\1' } }, not: { $ref: '#/$defs/x' } }, 'y'],
  ])('is left out of the validation without refusing anything more (%s)', (_, schema, value) => {
    expect(checkInput(createSchemas(), schema, value)).toEqual({ ok: true, value });
    expect(createSchemas().problems(schema)).toHaveLength(1);
  });

  it('leaves the rest of the schema in force', () => {
    const schema = { properties: { a: { type: 'string', pattern: '(?=x)', minLength: 3 } }, required: ['a'] };
    expect(issuesOf(checkInput(createSchemas(), schema, { a: 'y' })).map(({ path }) => path)).toEqual(['/a']);
    expect(checkInput(createSchemas(), schema, {}).ok).toBe(false);
  });

  it('leaves oneOf in force as far as possible', () => {
    const schema = { oneOf: [{ pattern: '(?=x)', type: 'string' }, { type: 'number' }] };
    expect(checkInput(createSchemas(), schema, true).ok).toBe(false);
  });
});

describe('references without end', () => {
  it.each<JsonSchema>([
    { $ref: '#' },
    { allOf: [{ $ref: '#' }] },
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    { type: 'object', properties: { a: { default: {}, $ref: '#' } } },
  ])('end in an issue: %j', (schema) => {
    expect(issuesOf(checkInput(createSchemas(), schema, {}))).toEqual(WITHOUT_END);
  });

  it('report a value that is nested too deeply', () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 50_000; depth++) value = [value];
    const schema = { $defs: { t: { items: { $ref: '#/$defs/t' } } }, $ref: '#/$defs/t' };
    expect(issuesOf(checkOutput(createSchemas(), schema, value))).toEqual(WITHOUT_END);
  });
});

describe('references that multiply', () => {
  const levels = (level: (next: { $ref: string }) => JsonSchema, last: JsonSchema) => {
    const entries = Array.from({ length: 40 }, (_, index) => [
      `l${index}`,
      index === 39 ? last : level({ $ref: `#/$defs/l${index + 1}` }),
    ]);
    return { $ref: '#/$defs/l0', $defs: Object.fromEntries(entries) };
  };

  it('exhaust their allowance, in unions', () => {
    const schema = levels((next) => ({ anyOf: [next, next] }), { type: 'string' });
    expect(issuesOf(checkInput(createSchemas(), schema, 1))).toEqual(TOO_MUCH);
  });

  it('exhaust their allowance, in conjunctions', () => {
    const schema = levels((next) => ({ allOf: [next, next] }), {});
    expect(issuesOf(checkInput(createSchemas(), schema, 1))).toEqual(TOO_MUCH);
  });

  it('exhaust their allowance, in defaults', () => {
    const member = (next: JsonSchema) => ({ default: {}, ...next });
    const schema = levels((next) => ({ type: 'object', properties: { a: member(next), b: member(next) } }), {});
    expect(issuesOf(checkInput(createSchemas(), schema, {}))).toEqual(TOO_MUCH);
  });

  it('do not grow when they are compiled', () => {
    const list = (count: number, member: JsonSchema) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, member]));
    const $defs = { big: { properties: list(500, { type: 'string' }) } };
    const schema = { properties: list(900, { $ref: '#/$defs/big' }), $defs };
    expect(checkInput(createSchemas(), schema, { p7: { p3: 1 } }).ok).toBe(false);
  });
});

describe('a large value', () => {
  it('with unique items is checked in one pass', () => {
    const items = Array.from({ length: 100_000 }, (_, index) => ({ index }));
    const schemas = createSchemas();
    expect(checkOutput(schemas, { uniqueItems: true }, items).ok).toBe(true);
    expect(checkOutput(schemas, { uniqueItems: true }, [...items, { index: 99_999 }]).ok).toBe(false);
  });

  it('with only wrong items reports the first', () => {
    const schema = {
      items: { $ref: '#/$defs/x' },
      $defs: { x: { allOf: [{ $ref: '#/$defs/y' }] }, y: { type: 'string' } },
    };
    const value = Array.from({ length: 300_000 }, () => 1);
    expect(issuesOf(checkOutput(createSchemas(), schema, value))).toEqual([
      { path: '/0', message: 'must be a string, got the number 1' },
    ]);
  });

  it('without a matching item exhausts its allowance if each check is a reference', () => {
    const schema = { contains: { $ref: '#/$defs/x' }, $defs: { x: { type: 'string' } } };
    const value = Array.from({ length: 300_000 }, () => 1);
    expect(issuesOf(checkOutput(createSchemas(), schema, value))).toEqual(TOO_MUCH);
    expect(checkOutput(createSchemas(), { contains: { type: 'string' } }, [...value, 'x']).ok).toBe(true);
  });

  it('that is valid is checked completely', () => {
    const schema = { items: { $ref: '#/$defs/x' }, $defs: { x: { required: ['a'] } } };
    expect(
      checkOutput(
        createSchemas(),
        schema,
        Array.from({ length: 300_000 }, () => ({ a: 1 })),
      ).ok,
    ).toBe(true);
  });

  it.each(['email', 'url', 'uri', 'uri-template', 'hostname', 'duration', 'date-time', 'json-pointer', 'byte'])(
    'of the format %s is checked in linear time',
    (format) => {
      const schemas = createSchemas();
      for (const part of ['a', 'a.', ':', '@', '1', '/a', '{', '{a,', '-', 'http://:']) {
        for (const start of ['', 'a@', 'http://', 'P'])
          checkInput(schemas, { format }, `${start}${part.repeat(50_000)}!`);
      }
    },
  );
});

describe('a schema', () => {
  it('cannot write to the prototype of all objects', () => {
    const schemas = createSchemas();
    const pollution = '{"properties":{"__proto__":{"default":{},"properties":{"polluted":{"default":1}}}}}';
    expect(() => checkInput(schemas, fromJson(pollution), {})).toThrow(/"__proto__" at \/properties is not allowed/);
    const inDefault = '{"type":"object","properties":{"a":{"default":{"__proto__":{"polluted":1}}}}}';
    expect(() => checkInput(schemas, fromJson(inDefault), {})).toThrow(/"__proto__"/);
    expect(schemas.problems(fromJson(pollution))).toHaveLength(1);
    expect('polluted' in {}).toBe(false);
  });

  it('cannot make the validation asynchronous', () => {
    expect(checkInput(createSchemas(), { $async: true, type: 'object' }, 1).ok).toBe(false);
  });

  it('cannot use our own keyword', () => {
    expect(checkInput(createSchemas(), { 'toolcrib:work': 'contains', type: 'array' }, []).ok).toBe(true);
  });

  it('that contains itself is refused', () => {
    const schema: Record<string, unknown> = {};
    schema.a = { properties: { x: schema, y: schema } };
    schema.properties = schema.a;
    const schemas = createSchemas();
    expect(() => schemas.input(specOf(schema))).toThrow(/contains itself/);
    expect(schemas.problems(schema)).toEqual([expect.stringMatching(/contains itself/)]);
  });

  it('of shared parts that would be endless when expanded is refused', () => {
    let shared: JsonSchema = { type: 'string' };
    for (let depth = 0; depth < 40; depth++) shared = { anyOf: [shared, shared] };
    const schemas = createSchemas();
    expect(() => schemas.input(specOf(shared))).toThrow(/more than 10000 parts/);
    expect(schemas.problems(shared)).toEqual([expect.stringMatching(/more than 10000 parts/)]);
  });

  it('of too many patterns to compile in time is refused', () => {
    const pattern = (index: number) => ({ pattern: `(${'.*'.repeat(900)})${index}` });
    const allOf = Array.from({ length: 300 }, (_, index) => pattern(index));
    expect(() => createSchemas().input(specOf({ allOf }))).toThrow(/more than 10000 parts/);
  });

  it('that is wider than Ajv can compile is refused', () => {
    const properties = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`p${index}`, {}]));
    expect(() => createSchemas().input(specOf({ properties }))).toThrow(/1001 members at \/properties/);
  });

  it('that was refused is refused again at once', () => {
    const schemas = createSchemas();
    const spec = specOf({ type: 'objekt' });
    const errors = [1, 2].map(() => {
      try {
        return schemas.input(spec);
      } catch (error) {
        return error;
      }
    });
    expect(errors[1]).toBe(errors[0]);
  });
});

describe('problems', () => {
  it('are empty for an ordinary schema', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^[a-z]+$' }, b: { $ref: '#' } } };
    expect(createSchemas().problems(schema)).toEqual([]);
  });

  it('name references to the outside and patterns that cannot run', () => {
    const schema = {
      properties: { a: { pattern: '(?=x)' }, b: { $ref: 'https://example.com/b.json' }, c: { $ref: 'other.json#/c' } },
      patternProperties: { '(y)\\1': {} },
      default: { pattern: '(?=data)', $ref: 'https://data' },
    };
    expect(createSchemas().problems(schema)).toEqual([
      '$ref "https://example.com/b.json" points outside the schema; remote references are not fetched',
      '$ref "other.json#/c" points outside the schema; remote references are not fetched',
      'pattern "(?=x)" at /properties/a cannot be run in linear time',
      'pattern "(y)\\1" at /patternProperties cannot be run in linear time',
    ]);
  });

  it('name a pattern that JavaScript does not accept, and leave it out', () => {
    const schema = { properties: { a: { pattern: '(?P<x>a)' }, b: { pattern: '\\p{Nothing}+' } } };
    expect(createSchemas().problems(schema)).toEqual([
      'pattern "(?P<x>a)" at /properties/a is not a valid JavaScript regular expression',
      'pattern "\\p{Nothing}+" at /properties/b is not a valid JavaScript regular expression',
    ]);
    expect(checkInput(createSchemas(), schema, { a: 'q', b: 'q' }).ok).toBe(true);
  });

  it('name an unknown dialect', () => {
    expect(createSchemas().problems({ $schema: 'mine' })).toEqual([expect.stringMatching(/"mine" is not a known/)]);
  });
});
