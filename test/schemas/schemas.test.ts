import { spawnSync } from 'node:child_process';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { freezeJson, type JsonSchema } from '../../src/core/json.ts';
import type { Parse } from '../../src/core/tool-spec.ts';
import { createSchemas } from '../../src/schemas/create-schemas.ts';
import { checkInput, checkOutput, issuesOf, specOf } from './check-with.ts';

const PAIR: JsonSchema = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number', default: 4 } },
  required: ['a'],
  additionalProperties: false,
};

describe('arguments', () => {
  it('get defaults filled in on a copy', () => {
    const value = Object.freeze({ a: 1 });
    const parsed = checkInput(createSchemas(), PAIR, value);
    expect(parsed).toEqual({ ok: true, value: { a: 1, b: 4 } });
    expect(value).toEqual({ a: 1 });
  });

  it('are passed on as the same object if no default applies', () => {
    const value = { a: 1 };
    const parsed = checkInput(createSchemas(), { type: 'object', properties: { a: { type: 'number' } } }, value);
    expect(parsed.ok && parsed.value).toBe(value);
  });

  it('get a fresh copy of a default that is an object', () => {
    const schema = { type: 'object', properties: { list: { type: 'array', default: [] } } };
    const schemas = createSchemas();
    const one = checkInput(schemas, schema, {});
    (one as { value: { list: unknown[] } }).value.list.push(1); // filled in by the check
    expect(checkInput(schemas, schema, {})).toEqual({ ok: true, value: { list: [] } });
  });

  it('are never coerced', () => {
    expect(checkInput(createSchemas(), PAIR, { a: '1' }).ok).toBe(false);
  });

  it('are validated by the schema of the author if there is one', () => {
    const parse: Parse = () => ({ ok: true, value: 'mine' });
    expect(createSchemas().input(specOf({ type: 'objekt' }, { run: { parse } }))).toBe(parse);
  });

  it('that are not finite numbers are refused, because JSON cannot carry them', () => {
    expect(checkInput(createSchemas(), PAIR, { a: Number.NaN }).ok).toBe(false);
  });

  it('may have names of inherited members', () => {
    const schema = { type: 'object', properties: { constructor: { type: 'string' } }, required: ['toString'] };
    expect(issuesOf(checkInput(createSchemas(), schema, {}))).toEqual([{ path: '/toString', message: 'is required' }]);
    expect(checkInput(createSchemas(), schema, { constructor: 'x', toString: 1 }).ok).toBe(true);
  });
});

describe('an answer', () => {
  it('is checked by the output schema', () => {
    expect(checkOutput(createSchemas(), PAIR, { a: 'x' }).ok).toBe(false);
  });

  it('is never changed, so it may be frozen', () => {
    const value = freezeJson({ a: 1 });
    expect(checkOutput(createSchemas(), PAIR, value)).toEqual({ ok: true, value: { a: 1 } });
  });

  it('of a tool without an output schema is always accepted', () => {
    expect(createSchemas().output(specOf({}))(7)).toEqual({ ok: true, value: 7 });
  });

  it('is validated by the schema of the author if there is one', () => {
    const parseOutput: Parse = () => ({ ok: true, value: 'mine' });
    expect(createSchemas().output(specOf({}, { output: { type: 'objekt' }, run: { parseOutput } }))).toBe(parseOutput);
  });

  it('and arguments of the same schema do not share defaults', () => {
    const schemas = createSchemas();
    checkInput(schemas, PAIR, { a: 1 });
    expect(checkOutput(schemas, PAIR, { a: 1 })).toEqual({ ok: true, value: { a: 1 } });
    expect(schemas.parser(PAIR)({ a: 1 })).toEqual({ ok: true, value: { a: 1 } });
  });
});

describe('compiling', () => {
  it('happens once for a schema and for every equal one', () => {
    const schemas = createSchemas();
    const parse = schemas.input(specOf(PAIR));
    const { type, ...rest } = structuredClone(PAIR);
    expect(schemas.input(specOf(PAIR))).toBe(parse);
    expect(schemas.input(specOf({ ...rest, type }))).toBe(parse);
  });

  it('drops the oldest of too many equal schemas', () => {
    const schemas = createSchemas({ maxCompiled: 1 });
    const parse = schemas.input(specOf(structuredClone(PAIR)));
    schemas.input(specOf({ type: 'object' }));
    expect(schemas.input(specOf(structuredClone(PAIR)))).not.toBe(parse);
  });

  it('still works after more schemas than one Ajv instance handles', () => {
    const schemas = createSchemas();
    const parses = Array.from({ length: 501 }, (_, index) => schemas.input(specOf({ const: index })));
    expect(parses.map((parse, index) => parse(index))).toEqual(parses.map((_, index) => ({ ok: true, value: index })));
  });

  it('keeps schemas with the same $id separate', () => {
    const schemas = createSchemas();
    const withId = (type: string) => ({
      $id: 'https://example.com/tool',
      properties: { a: { $ref: 'part' } },
      $defs: { part: { $id: 'part', type } },
    });
    expect(checkInput(schemas, withId('number'), { a: 1 }).ok).toBe(true);
    expect(checkInput(schemas, withId('string'), { a: 1 }).ok).toBe(false);
    expect(() => checkInput(schemas, { $ref: 'https://example.com/part' }, 1)).toThrow(
      /remote references are not fetched/,
    );
  });

  it('writes nothing to the console', () => {
    const methods = (['log', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name).mockReturnValue());
    const schemas = createSchemas();
    expect(checkInput(schemas, { format: 'path', unknown: 1, $comment: 'x' }, 'x').ok).toBe(true);
    expect(() => checkInput(schemas, { type: 'objekt' }, {})).toThrow();
    for (const method of methods) expect(method).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  it('loads Ajv and re2js only when a schema is used', () => {
    const script = `
      import { createRequire } from 'node:module';
      import { createSchemas } from './src/schemas/create-schemas.ts';
      import { RUN } from './src/core/tool-spec.ts';
      const { cache } = createRequire(import.meta.url);
      const loaded = () => Object.keys(cache).filter((file) => /node_modules.(ajv|re2js)/.test(file)).length;
      const schemas = createSchemas();
      schemas.problems({ type: 'object', properties: { a: { type: 'string', pattern: '^[a-z]+$' } } });
      const before = loaded();
      schemas.input({ input: { type: 'object' }, [RUN]: { kind: 'x' } });
      console.log(before, loaded() > 0);`;
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(child.stdout.trim(), child.stderr).toBe('0 true');
  });
});

describe('the dialect', () => {
  const tuple = { type: 'object', properties: { a: { type: 'array', items: [{ type: 'number' }] } } };

  it.each([
    'http://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft-07/schema',
    'http://json-schema.org/draft-06/schema#',
    'http://json-schema.org/draft-04/schema#',
    'https://json-schema.org/draft/2019-09/schema',
  ])('%s supports lists of items by position', ($schema) => {
    const schemas = createSchemas();
    expect(checkInput(schemas, { $schema, ...tuple }, { a: [1] }).ok).toBe(true);
    expect(checkInput(schemas, { $schema, ...tuple }, { a: ['x'] }).ok).toBe(false);
  });

  it.each([{}, { $schema: 'https://json-schema.org/draft/2020-12/schema' }])('is 2020-12 with %j', (more) => {
    const schemas = createSchemas();
    const schema = { ...more, type: 'object', properties: { a: { prefixItems: [{ type: 'number' }] } } };
    expect(checkInput(schemas, schema, { a: ['x'] }).ok).toBe(false);
    expect(() => checkInput(schemas, { ...more, ...tuple }, {})).toThrow(/\/properties\/a\/items/);
  });

  it('of draft 4 is read with its ids and its exclusive limits', () => {
    const $schema = 'http://json-schema.org/draft-04/schema#';
    const schema = { $schema, id: 'x', properties: { a: { maximum: 3, exclusiveMaximum: true, minimum: 1 } } };
    expect(checkInput(createSchemas(), schema, { a: 3 }).ok).toBe(false);
    expect(checkInput(createSchemas(), schema, { a: 1 }).ok).toBe(true);
  });

  it('that is unknown is an error that names it and the known ones', () => {
    const use = () => checkInput(createSchemas(), { $schema: 'https://example.com/mine' }, {});
    expect(use).toThrow(expect.objectContaining({ code: 'invalid_schema' }));
    expect(use).toThrow(/"https:\/\/example\.com\/mine".*draft-07.*2019-09.*2020-12/);
  });
});

describe('a schema that does not compile', () => {
  it.each<[JsonSchema, RegExp]>([
    [{ type: 'objekt' }, /type "objekt" at the top is not a JSON type/],
    [{ properties: 3 }, /\/properties must be an object, got the number 3/],
    [{ properties: { a: { minimum: 'x' } } }, /\/properties\/a\/minimum must be a number/],
    [{ $ref: '#/$defs/nothing' }, /\$ref "#\/\$defs\/nothing" is not found in the schema/],
    [
      { $ref: 'https://example.com/x.json' },
      /"https:\/\/example\.com\/x\.json" points outside .* remote references are not fetched/,
    ],
    [{ properties: { a: { minimum: { $data: '1/b' } } } }, /\/properties\/a\/minimum must be a number/],
  ])('%j has a reason and a place', (schema, message) => {
    const schemas = createSchemas();
    const use = () => schemas.input(specOf(schema));
    expect(use).toThrow(expect.objectContaining({ code: 'invalid_schema' }));
    expect(use).toThrow(message);
  });
});

describe('references', () => {
  it.each<[string, JsonSchema]>([
    ['to the whole', { properties: { a: { $ref: '#' } }, required: ['b'] }],
    [
      'to a definition',
      { $ref: '#/$defs/x', $defs: { x: { properties: { a: { required: ['b'] } }, required: ['b'] } } },
    ],
    ['by anchor', { $ref: '#x', $defs: { x: { $anchor: 'x', properties: { a: { $ref: '#x' } }, required: ['b'] } } }],
    ['to its own address', { $id: 'urn:example:x', properties: { a: { $ref: 'urn:example:x' } }, required: ['b'] }],
    [
      'to a part with its own address',
      { $ref: 'x', $defs: { y: { $id: 'x', required: ['b'], properties: { a: { $ref: '#' } } } } },
    ],
    ['by dynamic anchor', { $dynamicAnchor: 'n', properties: { a: { $dynamicRef: '#n' } }, required: ['b'] }],
  ])('%s are resolved', (_, schema) => {
    const schemas = createSchemas();
    expect(issuesOf(checkInput(schemas, schema, { a: {} })).map(({ path }) => path)).toEqual(['/b', '/a/b']);
    expect(checkInput(schemas, schema, { a: { b: 1 }, b: 1 }).ok).toBe(true);
    expect(schemas.problems(schema)).toEqual([]);
  });

  it('to the address of the dialect itself are resolved without fetching', () => {
    const schema = { $ref: 'https://json-schema.org/draft/2020-12/schema' };
    expect(createSchemas().problems(schema)).toEqual([]);
    expect(checkInput(createSchemas(), schema, { type: 'objekt' }).ok).toBe(false);
  });

  it('and patterns may be names of properties', () => {
    const properties = { $ref: { type: 'string' }, pattern: { type: 'string' }, default: {}, id: {}, $id: {} };
    const schemas = createSchemas();
    expect(schemas.problems({ properties })).toEqual([]);
    const value = { $ref: 'https://x', pattern: '(?=x)', id: 1 };
    expect(checkInput(schemas, { properties, additionalProperties: false }, value)).toEqual({ ok: true, value });
  });
});

// fast-check also makes objects without a prototype, which Ajv takes to differ from their like.
function toPlain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe('the result', () => {
  const SCHEMAS: readonly JsonSchema[] = [
    { type: 'object', properties: { a: { type: 'number' }, b: { type: 'string' } }, required: ['a'] },
    { type: ['object', 'array'], minProperties: 1, uniqueItems: true, items: { type: ['integer', 'null', 'object'] } },
    { anyOf: [{ type: 'string', minLength: 2 }, { type: 'array', contains: { const: 1 } }, { type: 'boolean' }] },
    {
      oneOf: [{ type: 'number' }, { type: 'integer' }, { enum: ['a', null, []] }, { type: 'object', maxProperties: 1 }],
    },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    { if: { type: 'object' }, then: { additionalProperties: { $ref: '#' } }, else: { not: { type: 'boolean' } } },
    { $defs: { t: { type: ['array', 'number'], items: { $ref: '#/$defs/t' } } }, $ref: '#/$defs/t' },
    { properties: { a: { properties: { b: {} } } }, unevaluatedProperties: false, dependentRequired: { a: ['b'] } },
  ];
  const item = fc.oneof(fc.nat(3), fc.record({ x: fc.nat(2), y: fc.nat(1) }), fc.constant(null));
  const record = fc.record({ a: fc.jsonValue(), b: fc.jsonValue() }, { requiredKeys: [] });
  const value = fc.oneof(fc.jsonValue({ maxDepth: 4 }), record, fc.array(item)).map(toPlain);

  it('is that of plain Ajv, for arguments and answers', () => {
    const schemas = createSchemas();
    const checks = SCHEMAS.map((schema) => ({ schema, plain: new Ajv2020({ strict: false }).compile(schema) }));
    fc.assert(
      fc.property(value, fc.constantFrom(...checks), (json, { schema, plain }) => {
        const expected = plain(json);
        expect(checkInput(schemas, schema, structuredClone(json)).ok).toBe(expected);
        expect(checkOutput(schemas, schema, json).ok).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it('has at least one issue if it is invalid', () => {
    const schemas = createSchemas();
    fc.assert(
      fc.property(value, fc.constantFrom(...SCHEMAS), (json, schema) => {
        const parsed = checkInput(schemas, schema, structuredClone(json));
        return parsed.ok || parsed.issues.length > 0;
      }),
      { numRuns: 2000 },
    );
  });
});
