import { describe, expect, it } from 'vitest';
import type { Crib } from '../../../../src/index.ts';
import { namesOf } from '../../../crib/workshop.ts';
import { api, describedBy, type Fields, operation, toolIn, tryCall } from './api.ts';

const json = (schema: unknown) => ({ required: true, content: { 'application/json': { schema } } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const statusOf = (crib: Crib) => crib.sources().find(({ name }) => name === 'pets');
const fine = { '/fine': { get: { operationId: 'fine' } } };

describe('invalid descriptions', () => {
  it.each([
    [
      'of Swagger 1.2',
      { swagger: '1.2', paths: {} },
      'its Swagger version is "1.2"; only Swagger 2.0 and OpenAPI 3.0, 3.1',
    ],
    ['of a version to come', { openapi: '4.0.0', paths: {} }, 'OpenAPI 3.0, 3.1 and 3.2 are supported'],
    ['of a version that is a number', { openapi: 3.1 }, 'OpenAPI 3.0, 3.1 and 3.2 are supported'],
    ['something else', { tools: [] }, 'it has no "openapi" at its top'],
    ['a list', [], 'not an OpenAPI description'],
    ['nothing', '', 'not an OpenAPI description'],
    ['broken', '{ "openapi": ', 'it is not JSON'],
    ['a page', '<html><p>Not found: {</html>', 'api.json: it '],
    ['without paths that are any', { openapi: '3.0.0', paths: [] }, 'its paths are not an object'],
  ])('fail their source with the reason, and no other: %s', async (_, description, reason) => {
    const crib = await describedBy(
      description,
      {},
      { tools: [{ name: 'other', description: 'x', run: { kind: 'http', url: 'https://x.test' } }] },
    );
    expect(namesOf(crib)).toEqual(['other']);
    expect(statusOf(crib)).toMatchObject({ state: 'failed', reason: expect.stringContaining(reason) });
  });

  it('are not read if they are too large', async () => {
    const crib = await describedBy(JSON.stringify({ ...api(fine), x: 'x'.repeat(25_000_000) }));
    expect(statusOf(crib)).toMatchObject({ state: 'failed', reason: expect.stringContaining('larger than') });
  });

  it.each([
    ['lists', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['YAML', `openapi: 3.0.0\npaths: ${'{a: '.repeat(20_000)}${'}'.repeat(20_000)}`],
    [
      'aliases',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
        .split('')
        .map((key, index) => `${key}: &${key} [${Array(9).fill(`*${'abcdefgh'[index]}`).join()}]`)
        .join('\n')}\nopenapi: 3.0.0`,
    ],
  ])('are refused if they would fill the memory: %s', async (_, text) => {
    const crib = await describedBy(text);
    expect(statusOf(crib)).toMatchObject({ state: 'failed' });
  });

  it('without operations have no tools', async () => {
    const crib = await describedBy({ openapi: '3.1.0', info: {}, webhooks: {} });
    expect([namesOf(crib), statusOf(crib)]).toMatchObject([[], { state: 'ready' }]);
  });

  it('may be YAML, of any version of OpenAPI 3', async () => {
    const yaml =
      'openapi: 3.2.0\nservers: [{ url: "https://a.test" }]\npaths:\n  /x:\n    get: { operationId: x, responses: { 200: { description: fine } } }\n';
    expect(namesOf(await describedBy(yaml))).toEqual(['pets_x']);
  });
});

describe('a bad operation', () => {
  it.each([
    ['an operation that is none', { get: 'x' }, 'get is not an object'],
    ['a path item that is none', 7, 'the path /bad is not an object'],
    ['parameters that are not a list', { get: { parameters: {} } }, 'its parameters are not a list'],
    [
      'a parameter without a name',
      { get: { parameters: [{ in: 'query' }] } },
      'parameters[0] has no "name" or no "in"',
    ],
    [
      'a parameter that lies elsewhere',
      { get: { parameters: [{ $ref: 'https://evil.test/p.json' }] } },
      'points outside the description; external references are not fetched',
    ],
    [
      'a parameter that is not there',
      { get: { parameters: [{ $ref: '#/components/parameters/P' }] } },
      'is not found in the description',
    ],
    ['a parameter that leads in a circle', { get: { parameters: [{ $ref: '#/x-circle' }] } }, 'form a cycle'],
    ['a body that is none', { post: { requestBody: 'x' } }, 'its body is not an object'],
    [
      'a form that is not an object',
      { post: { requestBody: { content: { 'multipart/form-data': { schema: { type: 'string' } } } } } },
      'is not an object',
    ],
  ])('is left out with its reason, and the rest load: %s', async (_, item, reason) => {
    const crib = await describedBy(api({ '/bad': item, ...fine }, { 'x-circle': { $ref: '#/x-circle' } }));
    expect(namesOf(crib)).toEqual(['pets_fine']);
    expect(crib.warnings().join()).toContain(reason);
    expect(statusOf(crib)).toMatchObject({ state: 'ready', reason: expect.stringContaining('/bad is left out') });
  });

  it.each(['no-slash', '/a{b', '/a}b', '/{}', '/a b', `/\${secret:x}`])('has no path: %s', async (path) => {
    const crib = await describedBy(api({ [path]: { get: { operationId: 'bad' } }, ...fine }));
    expect(namesOf(crib)).toEqual(['pets_fine']);
    expect(crib.warnings().join()).toContain('its path is not a valid path template');
  });

  it('is one of many, and only some of them are reported', async () => {
    const paths = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`/bad${index}`, { get: 7 }]));
    const crib = await describedBy(api({ ...paths, ...fine }));
    expect(crib.warnings()).toHaveLength(21);
    expect(crib.warnings().at(-1)).toContain('And 80 more');
  });
});

describe('a hostile schema', () => {
  const inputOf = async (schema: unknown, schemas: Fields = {}, openapi = '3.0.0') => {
    const described = operation(
      { requestBody: json({ type: 'object', properties: { a: schema } }) },
      { method: 'post', components: { schemas }, openapi },
    );
    const crib = await describedBy(described);
    const tool = toolIn(crib, 'pets_x');
    expect(JSON.stringify(tool.input).length).toBeLessThan(40_000);
    return { crib, a: (tool.input.properties as Fields).a, tool };
  };

  it('elsewhere is never fetched: any value is accepted in its place, with a report', async () => {
    const { crib, a } = await inputOf({ $ref: 'http://127.0.0.1:1/schema.json' });
    expect(a).toEqual({});
    expect(crib.warnings().join()).toContain(
      '"http://127.0.0.1:1/schema.json" points outside the description; external references are not fetched',
    );
  });

  it.each([
    ['to itself', { A: ref('A') }],
    ['to each other', { A: ref('B'), B: ref('A') }],
  ])('that is nothing but a reference %s accepts anything', async (_, schemas) => {
    const { crib, tool } = await inputOf(ref('A'), schemas);
    expect(tool.input.$defs).toMatchObject({ A: {} });
    expect(crib.warnings().join()).toContain('is part of a cycle');
  });

  it('that contains itself in place refuses the call without crashing', async () => {
    const { crib } = await inputOf(ref('A'), { A: { allOf: [ref('A'), ref('A')] } });
    expect(await tryCall(crib, 'pets_x', { a: 1 })).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
  });

  it('that doubles at each level is as large as its text', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [
        `L${level}`,
        { type: 'object', properties: { a: ref(`L${level + 1}`), b: ref(`L${level + 1}`) } },
      ]),
    );
    const { tool } = await inputOf(ref('L0'), { ...schemas, L40: { type: 'string' } });
    expect(Object.keys(tool.input.$defs ?? {}).length).toBeGreaterThan(1);
    expect(JSON.stringify(tool.input)).toContain('"type":"string"'); // down to the last level
  });

  it('that is a chain of thousands of references fails only its operation', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, level) => [`L${level}`, { type: 'array', items: ref(`L${level + 1}`) }]),
    );
    const body = { post: { operationId: 'long', requestBody: json(ref('L0')) } };
    const crib = await describedBy(
      api({ '/long': body, ...fine }, { components: { schemas: { ...schemas, L20000: {} } } }),
    );
    expect(namesOf(crib)).toEqual(['pets_fine']);
    expect(crib.warnings().join()).toContain('a chain of more than 60 $refs');
  });

  it('that is nested too deeply is cut', async () => {
    let schema: Fields = { type: 'string' };
    for (let depth = 0; depth < 1000; depth++) schema = { type: 'object', properties: { a: schema } };
    const { a } = await inputOf(schema);
    const depth = JSON.stringify(a).split('"properties"').length - 1;
    expect(depth).toBeGreaterThan(10);
    expect(depth).toBeLessThan(1000);
  });

  it('that refers to overlapping parts again and again is refused as a whole', async () => {
    let deep: Fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [index, {}]));
    for (let depth = 0; depth < 300; depth++) deep = { n: deep };
    const anyOf = Array.from({ length: 300 }, (_, index) => ({ $ref: `#/x-deep${'/n'.repeat(index)}` }));
    const described = operation({ requestBody: json({ anyOf }) }, { method: 'post', 'x-deep': deep });
    expect(statusOf(await describedBy(described))).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('too much work'),
    });
  });

  it.each([1001, 1_000_000])('of %i choices is left open, with their number', async (length) => {
    const { a } = await inputOf({ type: 'integer', enum: Array.from({ length }, (_, index) => index) });
    expect(a).toEqual({ type: 'integer', description: `One of ${length} values.` });
  });

  it('of thousands of properties is left open', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`p${index}`, { type: 'string' }]),
    );
    const { a } = await inputOf({
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    });
    expect(a).toEqual({ type: 'object' });
  });

  it('cannot reach inherited members of objects', async () => {
    const text = JSON.stringify(
      operation(
        {
          requestBody: json({
            type: 'object',
            properties: {
              PROTO: { type: 'string', default: 'x' },
              constructor: { type: 'string' },
              b: ref('PROTO'),
              c: ref('toString'),
            },
            required: ['PROTO', 'constructor'],
          }),
          parameters: [{ name: 'a', in: 'query', schema: {} }],
        },
        { method: 'post', components: { schemas: { PROTO: { type: 'string' } } } },
      ),
    );
    const crib = await describedBy(text.replaceAll('PROTO', '__proto__'));
    const { input } = toolIn(crib, 'pets_x');
    expect(Object.keys(input.properties as Fields).sort()).toEqual(['a', 'b', 'c', 'constructor']);
    expect(input.required).toEqual(['constructor']);
    expect(crib.warnings().join()).toContain('"#/components/schemas/toString" is not found in the description');
    expect(({} as Fields).type).toBeUndefined();
  });
});
