import { describe, expect, it } from 'vitest';
import { describedBy, type Fields, operation, toolIn, toolOf } from './api.ts';

const json = (schema: unknown, more: Fields = {}) => ({
  required: true,
  content: { 'application/json': { schema } },
  ...more,
});
const inputOf = async (fields: Fields, more: Fields = {}) =>
  (await toolOf(operation(fields, { method: 'post', ...more }))).input;
const bodyOf = (schema: unknown, more: Fields = {}) => inputOf({ requestBody: json(schema) }, more);
/** A schema as a parameter, so that it stands as it is. */
const converted = async (schema: unknown, more: Fields = {}) => {
  const { properties } = await inputOf({ parameters: [{ name: 'a', in: 'query', schema }] }, more);
  return (properties as Fields).a;
};

describe('the arguments of an operation', () => {
  it('are its parameters, wherever they go, and the properties of its body', async () => {
    const parameters = [
      { name: 'petId', in: 'path', required: true, schema: { type: 'integer' }, description: 'Which pet' },
      { name: 'limit', in: 'query', schema: { type: 'integer', default: 20 }, description: 'How many' },
      { name: 'X-Trace', in: 'header', schema: { type: 'string' }, deprecated: true },
      { name: 'session', in: 'cookie', required: true, schema: { type: 'string' } },
    ];
    const requestBody = json({ type: 'object', properties: { name: { type: 'string' } }, required: ['name'] });
    expect(await inputOf({ parameters, requestBody }, { path: '/pets/{petId}' })).toEqual({
      type: 'object',
      properties: {
        petId: { type: 'integer', description: 'Which pet' },
        limit: { type: 'integer', description: 'How many. Default: 20.' },
        'x-trace': { type: 'string', description: 'Deprecated.' },
        session: { type: 'string' },
        name: { type: 'string' },
      },
      required: ['petId', 'session', 'name'],
      additionalProperties: false,
    });
  });

  it('are distinguished if two places use one name', async () => {
    const parameters = ['path', 'query', 'header'].map((place) => ({
      name: 'id',
      in: place,
      schema: { type: 'string' },
    }));
    const { properties } = await inputOf(
      { parameters, requestBody: json({ type: 'object', properties: { id: { type: 'integer' } } }) },
      { path: '/x/{id}' },
    );
    expect(properties).toEqual({
      id: { type: 'string' },
      id_query: { type: 'string' },
      id_header: { type: 'string' },
      body: { type: 'object', properties: { id: { type: 'integer' } } },
    });
  });

  it('have names that every vendor accepts', async () => {
    const names = ['filter[status]', '$top', '@type', '__proto_', 'constructor', '1st', 'é', 'n'.repeat(300)];
    const parameters = names.map((name) => ({ name, in: 'query', schema: { type: 'string' } }));
    const found = Object.keys((await inputOf({ parameters })).properties as Fields);
    expect(found).toHaveLength(names.length);
    expect(found.slice(0, 7)).toEqual(['filter_status', 'top', 'type', '__proto_', 'constructor', '_1st', '_']);
    for (const name of found) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
  });

  it('of a whole path apply unless the operation repeats them', async () => {
    const shared = [
      { name: 'a', in: 'query', schema: { type: 'string' } },
      { name: 'b', in: 'query', schema: { type: 'string' } },
    ];
    const own = [{ name: 'b', in: 'query', required: true, schema: { type: 'integer' } }];
    const crib = await describedBy({
      ...operation({}),
      paths: { '/x': { parameters: shared, get: { operationId: 'x', parameters: own } } },
    });
    expect(toolIn(crib, 'pets_x').input).toMatchObject({
      properties: { a: { type: 'string' }, b: { type: 'integer' } },
      required: ['b'],
    });
  });

  it('are derived from the path if they are not described', async () => {
    expect(await inputOf({}, { path: '/pets/{petId}/{petId}' })).toMatchObject({
      properties: { petId: { type: 'string' } },
      required: ['petId'],
    });
  });

  it('are one body if it is not an object with known names, or is optional as a whole', async () => {
    const whole = async (schema: unknown, required = true) =>
      Object.keys((await inputOf({ requestBody: json(schema, { required }) })).properties as Fields);
    const properties = { a: { type: 'string' } };
    expect(await whole({ type: 'object', properties })).toEqual(['a']);
    expect(await whole({ type: 'array', items: { type: 'string' } })).toEqual(['body']);
    expect(await whole({ type: 'object', properties, additionalProperties: true })).toEqual(['body']);
    expect(await whole({ oneOf: [{ type: 'object', properties }, { type: 'string' }] })).toEqual(['body']);
    expect(await whole({ type: 'object', properties, required: ['a'] }, false)).toEqual(['body']);
    expect(await whole({ type: 'object', properties }, false)).toEqual(['a']);
    expect(await whole(undefined)).toEqual(['body']);
  });

  it('leave out headers that callers may not choose', async () => {
    const names = ['Accept', 'content-type', 'Authorization', 'Host', 'Content-Length', 'Cookie', 'bad name', 'X-Fine'];
    const parameters = names.map((name) => ({ name, in: 'header', schema: { type: 'string' } }));
    expect(Object.keys((await inputOf({ parameters })).properties as Fields)).toEqual(['x-fine']);
  });

  it('leave out read-only properties', async () => {
    const schema = {
      type: 'object',
      properties: {
        id: { type: 'integer', readOnly: true },
        name: { type: 'string' },
        at: { $ref: '#/components/schemas/At' },
      },
      required: ['id', 'name'],
    };
    const components = { schemas: { At: { type: 'string', readOnly: true } } };
    expect(await bodyOf(schema, { components })).toMatchObject({
      properties: { name: { type: 'string' } },
      required: ['name'],
    });
    expect(Object.keys((await bodyOf(schema, { components })).properties as Fields)).toEqual(['name']);
  });
});

describe('the schemas of a description', () => {
  it.each([
    ['nullable', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [
      'nullable choices',
      { type: 'string', enum: ['a'], nullable: true },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      'an exclusive limit',
      { type: 'number', minimum: 1, exclusiveMinimum: true },
      { type: 'number', exclusiveMinimum: 1 },
    ],
    ['an inclusive limit', { type: 'number', maximum: 1, exclusiveMaximum: false }, { type: 'number', maximum: 1 }],
    ['an example', { type: 'string', example: 'Rex' }, { type: 'string', examples: ['Rex'] }],
    ['examples of 3.1', { type: 'string', examples: ['Rex', 'Bo'] }, { type: 'string', examples: ['Rex'] }],
    ['types of 3.1', { type: ['string', 'null'] }, { type: ['string', 'null'] }],
    [
      'alternatives',
      { oneOf: [{ type: 'string' }, { type: 'integer' }] },
      { anyOf: [{ type: 'string' }, { type: 'integer' }] },
    ],
    ['a nullable wrapper', { allOf: [{ type: 'string' }], nullable: true }, { type: ['string', 'null'] }],
    ['a type that is none', { type: 'int' }, {}],
    ['numbers that are quoted', { type: 'integer', enum: ['1', '2'] }, { type: 'integer', enum: [1, 2] }],
    ['texts that are not', { type: 'string', enum: [1, true] }, { type: 'string', enum: ['1', 'true'] }],
    ['limits that are none', { type: 'string', minLength: '3', maxLength: -1, pattern: 7 }, { type: 'string' }],
    ['a pattern that nothing can run', { type: 'string', pattern: '(?<=a)\\1(' }, { type: 'string' }],
    [
      'words of no use to a check',
      { type: 'string', xml: {}, externalDocs: {}, 'x-mine': 1, title: 'T' },
      { type: 'string', description: 'T' },
    ],
    ['what says when not', { type: 'string', not: { enum: ['a'] }, if: {}, else: {} }, { type: 'string' }],
    ['a discriminator', { type: 'object', discriminator: { propertyName: 'kind' } }, { type: 'object' }],
    ['no schema', 'string', {}],
    ['anything', true, {}],
  ])('are converted to current JSON Schema: %s', async (_, schema, expected) => {
    expect(await converted(schema)).toEqual(expected);
  });

  it('merge compositions of plain objects', async () => {
    const components = {
      schemas: {
        Named: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        Pet: { allOf: [{ $ref: '#/components/schemas/Named' }, { properties: { age: { type: 'integer' } } }] },
      },
    };
    expect(await bodyOf({ $ref: '#/components/schemas/Pet' }, { components })).toMatchObject({
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name'],
    });
  });

  it('keep parts that cannot be merged', async () => {
    const schema = {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } } },
        { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      ],
    };
    expect(await converted(schema)).toEqual(schema);
  });

  it('have their references inlined, and keep a description beside one', async () => {
    const components = { schemas: { Kind: { type: 'string', enum: ['cat'], description: 'A kind' } } };
    const schema = {
      type: 'object',
      properties: {
        a: { $ref: '#/components/schemas/Kind' },
        b: { $ref: '#/components/schemas/Kind', description: 'Another' },
      },
    };
    expect(await bodyOf(schema, { components })).toMatchObject({
      properties: {
        a: { type: 'string', enum: ['cat'], description: 'A kind' },
        b: { type: 'string', enum: ['cat'], description: 'Another' },
      },
    });
    expect(await bodyOf(schema, { components })).not.toHaveProperty('$defs');
  });

  it('that contain themselves get a name, and only those', async () => {
    const tree = {
      type: 'object',
      properties: {
        name: { type: 'string' },
        children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
      },
    };
    const components = {
      schemas: {
        Tree: tree,
        Unused: { type: 'object', properties: { next: { $ref: '#/components/schemas/Unused' } } },
      },
    };
    const input = await bodyOf(
      { type: 'object', properties: { tree: { $ref: '#/components/schemas/Tree' } } },
      { components },
    );
    expect(input.properties).toEqual({ tree: { $ref: '#/$defs/Tree' } });
    expect(input.$defs).toEqual({
      Tree: {
        type: 'object',
        properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/Tree' } } },
      },
    });
  });

  it('that are large get a name, so that they occur once', async () => {
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, { type: 'string' }]));
    const components = { schemas: { Large: { type: 'object', properties } } };
    const ref = { $ref: '#/components/schemas/Large' };
    const input = await bodyOf({ type: 'object', properties: { a: ref, b: ref } }, { components });
    expect(input.properties).toEqual({ a: { $ref: '#/$defs/Large' }, b: { $ref: '#/$defs/Large' } });
    expect(Object.keys(input.$defs as Fields)).toEqual(['Large']);
  });

  it('do not depend on the rest of the description', async () => {
    const schemas = {
      A: { type: 'object', properties: { b: { $ref: '#/components/schemas/B' } } },
      B: { type: 'object', properties: { a: { $ref: '#/components/schemas/A' } } },
    };
    const paths = (...names: readonly string[]) =>
      Object.fromEntries(
        names.map((name) => [
          `/${name}`,
          {
            post: {
              operationId: name,
              requestBody: json({ type: 'object', properties: { it: { $ref: `#/components/schemas/${name}` } } }),
            },
          },
        ]),
      );
    const alone = await describedBy({ ...operation({}), components: { schemas }, paths: paths('B') });
    const both = await describedBy({ ...operation({}), components: { schemas }, paths: paths('A', 'B') });
    expect(toolIn(both, 'pets_B').input).toEqual(toolIn(alone, 'pets_B').input);
  });

  it('are cut where a model would not read them', async () => {
    const deep = (depth: number): Fields => ({
      type: 'object',
      description: `At ${depth}`,
      properties: Object.fromEntries(
        ['a', 'b', 'c', 'd'].map((name) => [name, depth === 0 ? { type: 'string' } : deep(depth - 1)]),
      ),
    });
    const input = await bodyOf(deep(6));
    expect(JSON.stringify(input).length).toBeLessThanOrEqual(30_000);
    expect(input.properties).toMatchObject({ a: { properties: { a: { type: 'object', description: 'At 4' } } } });
  });
});

describe('the output schema of an operation', () => {
  const schema = {
    type: 'object',
    properties: { id: { type: 'integer' }, password: { type: 'string', writeOnly: true } },
    additionalProperties: false,
  };
  const answers = (responses: Fields) => operation({ responses });
  const ok = { description: 'fine', content: { 'application/json': { schema } } };

  it('is left out unless the operator asks for it, since many APIs break it', async () => {
    expect((await toolOf(answers({ 200: ok }))).output).toBeUndefined();
  });

  it('is included, without write-only properties, if the operator asks for it', async () => {
    const { output } = await toolOf(answers({ 200: ok, 404: { description: 'none' } }), { outputSchemas: true });
    expect(output).toEqual({ type: 'object', properties: { id: { type: 'integer' } } });
  });

  it.each([
    ['it answers in two ways', { 200: ok, 204: { description: 'nothing' } }],
    ['it may answer with something else than JSON', { 200: { ...ok, content: { ...ok.content, 'text/csv': {} } } }],
    ['it says nothing about it', { 200: { description: 'fine' } }],
  ])('is left out if %s', async (_, responses) => {
    expect((await toolOf(answers(responses), { outputSchemas: true })).output).toBeUndefined();
  });
});
