// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are secrets written
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cribOf, folderWith, namesOf } from '../../../crib/workshop.ts';
import { startServer } from '../../../sources/http-server.ts';
import { call, describedBy, echoServer, type Fields, runOf, toolIn } from './api.ts';

/** A description of Swagger 2.0 of these paths. */
function swagger(paths: Fields, more: Fields = {}): Fields {
  const info = { title: 'Pets', version: '1' };
  return { swagger: '2.0', info, host: 'pets.test', basePath: '/v2', schemes: ['http', 'https'], paths, ...more };
}

const one = (fields: Fields, { method = 'get', path = '/x', ...more }: Fields = {}) =>
  swagger({ [String(path)]: { [String(method)]: { operationId: 'x', responses: {}, ...fields } } }, more);

/** What the API is asked when the operation is called. */
async function asked(fields: Fields, input: Fields, more: Fields = {}) {
  const server = await echoServer();
  const crib = await describedBy(one(fields, { method: 'post', ...more }), { baseUrl: `${server.base}/v2` });
  return call(crib, 'pets_x', input);
}

/** The well-known pet store, with additions from real descriptions. */
const petstore = swagger(
  {
    '/pet': {
      post: {
        operationId: 'addPet',
        summary: 'Add a pet',
        tags: ['pet'],
        parameters: [{ in: 'body', name: 'body', required: true, schema: { $ref: '#/definitions/Pet' } }],
        responses: { 405: { description: 'Invalid input' } },
        security: [{ petstore_auth: ['write:pets'] }],
      },
    },
    '/pet/findByStatus': {
      get: {
        operationId: 'findPets',
        parameters: [
          {
            name: 'status',
            in: 'query',
            required: true,
            type: 'array',
            items: { type: 'string', enum: ['available', 'sold'] },
            collectionFormat: 'multi',
          },
          { $ref: '#/parameters/limit' },
        ],
        responses: { 200: { description: 'fine', schema: { type: 'array', items: { $ref: '#/definitions/Pet' } } } },
      },
    },
    '/pet/{petId}': {
      parameters: [{ name: 'petId', in: 'path', required: true, type: 'integer', format: 'int64' }],
      get: { operationId: 'getPet', responses: { 200: { $ref: '#/responses/Pet' } }, produces: ['application/json'] },
      delete: {
        operationId: 'deletePet',
        parameters: [{ name: 'api_key', in: 'header', type: 'string' }],
        responses: {},
      },
    },
    '/pet/{petId}/uploadImage': {
      post: {
        operationId: 'uploadFile',
        consumes: ['multipart/form-data'],
        parameters: [
          { name: 'petId', in: 'path', required: true, type: 'integer' },
          { name: 'note', in: 'formData', type: 'string', description: 'About it' },
          { name: 'file', in: 'formData', type: 'file', required: true },
        ],
        responses: {},
      },
    },
  },
  {
    consumes: ['application/json', 'application/xml'],
    produces: ['application/json'],
    parameters: { limit: { name: 'limit', in: 'query', type: 'integer', maximum: 100, default: 20 } },
    responses: { Pet: { description: 'A pet', schema: { $ref: '#/definitions/Pet' } } },
    definitions: {
      Pet: {
        type: 'object',
        required: ['name'],
        properties: {
          id: { type: 'integer', readOnly: true },
          name: { type: 'string' },
          owner: { type: 'string', 'x-nullable': true },
          friends: { type: 'array', items: { $ref: '#/definitions/Pet' } },
        },
      },
    },
    securityDefinitions: {
      petstore_auth: { type: 'oauth2', flow: 'implicit', authorizationUrl: 'https://pets.test/oauth', scopes: {} },
    },
  },
);

describe('a description of Swagger 2.0', () => {
  it('becomes tools like any other', async () => {
    const crib = await describedBy(petstore, { outputSchemas: true });
    expect(namesOf(crib)).toEqual(
      ['addPet', 'findPets', 'getPet', 'deletePet', 'uploadFile'].map((name) => `pets_${name}`),
    );
    expect(toolIn(crib, 'pets_addPet')).toMatchObject({
      title: 'Add a pet',
      tags: ['pet'],
      input: { properties: { name: { type: 'string' }, owner: { type: ['string', 'null'] } }, required: ['name'] },
    });
    expect(toolIn(crib, 'pets_addPet').input.properties).not.toHaveProperty('id');
    expect(toolIn(crib, 'pets_addPet').input.$defs).toHaveProperty('Pet');
    expect(toolIn(crib, 'pets_findPets').input.properties).toMatchObject({
      status: { type: 'array', items: { enum: ['available', 'sold'] } },
      limit: { type: 'integer', maximum: 100, description: 'Default: 20.' },
    });
    expect(toolIn(crib, 'pets_getPet').output).toMatchObject({ $defs: { Pet: { required: ['name'] } } });
    expect(runOf(toolIn(crib, 'pets_getPet'))).toMatchObject({ baseUrl: 'https://pets.test/v2', url: '/pet/{petId}' });
  });

  it('is called', async () => {
    const server = await echoServer();
    const description = { ...petstore, host: server.host, schemes: ['http'] };
    const crib = await describedBy(description, {}, { secrets: {} });
    const added = await call(crib, 'pets_addPet', { name: 'Rex', owner: null });
    expect([added.method, added.url, JSON.parse(added.body)]).toEqual([
      'POST',
      '/v2/pet',
      { name: 'Rex', owner: null },
    ]);
    expect(added.headers['content-type']).toBe('application/json');
    const found = await call(crib, 'pets_findPets', { status: ['available', 'sold'], limit: 3 });
    expect(found.url).toBe('/v2/pet/findByStatus?status=available&status=sold&limit=3');
    expect((await call(crib, 'pets_getPet', { petId: 7 })).url).toBe('/v2/pet/7');
    expect((await call(crib, 'pets_deletePet', { petId: 7, api_key: 'k' })).headers.api_key).toBe('k');
    const file = Buffer.from('bytes \u0000').toString('base64');
    const sent = await call(crib, 'pets_uploadFile', { petId: 7, note: 'a dog', file });
    expect(sent.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(sent.body).toMatch(/name="note"\r\n\r\na dog\r\n/);
    expect(sent.body).toMatch(/name="file"; filename="file"[\s\S]*\r\n\r\nbytes \0\r\n/);
  });

  it('may be YAML, with a version that is a number', async () => {
    const yaml =
      'swagger: 2.0\nhost: a.test\npaths:\n  /x:\n    get: { operationId: x, responses: { 200: { description: fine } } }\n';
    const crib = await describedBy(yaml);
    expect(runOf(toolIn(crib, 'pets_x'))).toMatchObject({ baseUrl: 'https://a.test' });
  });

  it('from an address uses its host and scheme, and is stored over a restart', async () => {
    const server = await startServer();
    const parameters = [{ in: 'body', name: 'body', required: true, schema: { $ref: '#/definitions/Pet' } }];
    const definitions = { Pet: { type: 'object', properties: { name: { type: 'string' } } } };
    server.give({ ...one({ parameters }, { method: 'post', definitions }), host: undefined, schemes: undefined });
    const source = { openapi: `http://${server.host}/swagger.json` };
    const folder = folderWith({ 'toolcrib.yaml': JSON.stringify({ sources: { pets: source } }) });
    const kept = { store: { url: `sqlite:${join(folder, 'crib.db')}` } };
    const first = await cribOf(folder, kept);
    expect(runOf(toolIn(first, 'pets_x'))).toMatchObject({ baseUrl: `http://${server.host}/v2` });
    const before = toolIn(first, 'pets_x').input;
    await first.close();
    server.answer((_, response) => void response.destroy());
    const again = await cribOf(folder, kept);
    expect(toolIn(again, 'pets_x').input).toEqual(before);
    expect(toolIn(again, 'pets_x').input).toMatchObject({ properties: { name: { type: 'string' } } });
  });

  it.each([
    ['https before http', { schemes: ['http', 'https'] }, 'https://pets.test/v2'],
    ['http alone', { schemes: ['http'] }, 'http://pets.test/v2'],
    ['no scheme', { schemes: undefined }, 'https://pets.test/v2'],
    ['no base path', { basePath: undefined }, 'https://pets.test'],
    ['a base path without a slash', { basePath: 'v3/' }, 'https://pets.test/v3'],
    ['a port', { host: 'pets.test:8443' }, 'https://pets.test:8443/v2'],
  ])('has the address of its host, basePath and schemes: %s', async (_, more, baseUrl) => {
    expect(runOf(toolIn(await describedBy(one({}, more)), 'pets_x'))).toMatchObject({ baseUrl });
  });

  it('may set another scheme for an operation', async () => {
    const crib = await describedBy(one({ schemes: ['http'] }));
    expect(runOf(toolIn(crib, 'pets_x'))).toMatchObject({ baseUrl: 'http://pets.test/v2' });
    const other = await describedBy(one({ schemes: ['wss'] }));
    expect([namesOf(other), other.warnings().join()]).toEqual([[], expect.stringContaining('http or https')]);
  });
});

describe('parameters of Swagger 2.0', () => {
  const list = (collectionFormat: string | undefined, place = 'query') => ({
    name: 'a',
    in: place,
    required: place === 'path',
    type: 'array',
    items: { type: 'string' },
    ...(collectionFormat !== undefined && { collectionFormat }),
  });

  it.each([
    ['csv', list('csv'), { a: ['x', 'y'] }, '/v2/x?a=x,y'],
    ['no format, which is csv', list(undefined), { a: ['x', 'y'] }, '/v2/x?a=x,y'],
    ['multi', list('multi'), { a: ['x', 'y'] }, '/v2/x?a=x&a=y'],
    ['pipes', list('pipes'), { a: ['x', 'y'] }, '/v2/x?a=x%7Cy'],
    ['ssv', list('ssv'), { a: ['x', 'y'] }, '/v2/x?a=x%20y'],
    ['tsv, as one text', list('tsv'), { a: 'x\ty' }, '/v2/x?a=x%09y'],
  ])('write lists as collectionFormat says: %s', async (_, parameter, input, expected) => {
    expect((await asked({ parameters: [parameter] }, input)).url).toBe(expected);
  });

  it('write lists in a path with commas, else as one text of the caller', async () => {
    const more = { path: '/of/{a}' };
    expect((await asked({ parameters: [list('csv', 'path')] }, { a: ['x', 'y'] }, more)).url).toBe('/v2/of/x,y');
    expect((await asked({ parameters: [list('pipes', 'path')] }, { a: 'x|y' }, more)).url).toBe('/v2/of/x%7Cy');
    const crib = await describedBy(one({ parameters: [list('pipes', 'path')] }, more));
    expect(toolIn(crib, 'pets_x').input.properties).toMatchObject({
      a: { type: 'string', description: 'Separate several values with pipes (|).' },
    });
  });

  it('of a path apply to its operations, unless these repeat them', async () => {
    const shared = [
      { name: 'a', in: 'query', type: 'string', required: true },
      { name: 'b', in: 'formData', type: 'string' },
    ];
    const get = { operationId: 'get', responses: {} };
    const post = { operationId: 'post', responses: {}, parameters: [{ name: 'a', in: 'query', type: 'integer' }] };
    const crib = await describedBy(swagger({ '/x': { parameters: shared, get, post } }));
    expect(toolIn(crib, 'pets_get').input).toMatchObject({ properties: { a: { type: 'string' } }, required: ['a'] });
    expect(toolIn(crib, 'pets_post').input.properties).toMatchObject({ a: { type: 'integer' }, b: { type: 'string' } });
    expect(toolIn(crib, 'pets_post').input).not.toHaveProperty('required');
  });

  it.each([
    ['a plain form', {}, 'application/x-www-form-urlencoded', 'a=x%20%26%20y&b=1,2&c=3&c=4'],
    [
      'a form where both are taken',
      { consumes: ['multipart/form-data', 'application/x-www-form-urlencoded'] },
      'application/x-www-form-urlencoded',
      'a=',
    ],
    [
      'parts where only these are taken',
      { consumes: ['multipart/form-data'] },
      'multipart/form-data',
      'name="c"\r\n\r\n4',
    ],
  ])('in formData are %s', async (_, more, type, body) => {
    const numbers = { in: 'formData', type: 'array', items: { type: 'integer' } };
    const parameters = [
      { name: 'a', in: 'formData', type: 'string', required: true },
      { name: 'b', ...numbers },
      { name: 'c', ...numbers, collectionFormat: 'multi' },
    ];
    const isMultipart = type.startsWith('multipart');
    const found = await asked({ parameters, ...more }, { a: 'x & y', b: isMultipart ? '1,2' : [1, 2], c: [3, 4] });
    expect(found.headers['content-type']).toContain(type);
    expect(found.body).toContain(body);
  });

  it('in a body have the type that the operation takes', async () => {
    const body = (schema: Fields) => ({ name: 'payload', in: 'body', required: true, schema });
    const text = await asked({ consumes: ['text/plain'], parameters: [body({ type: 'string' })] }, { body: 'hello' });
    expect([text.body, text.headers['content-type']]).toEqual(['hello', 'text/plain; charset=utf-8']);
    const json = await asked({ parameters: [body({ type: 'array', items: {} })] }, { body: [1] });
    expect([json.body, json.headers['content-type']]).toEqual(['[1]', 'application/json']);
  });
});

describe('security of Swagger 2.0', () => {
  const securityDefinitions = {
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    query_key: { type: 'apiKey', in: 'query', name: 'key' },
    login: { type: 'basic' },
    oauth: {
      type: 'oauth2',
      flow: 'accessCode',
      authorizationUrl: 'https://a.test',
      tokenUrl: 'https://a.test/t',
      scopes: {},
    },
  };

  it.each([
    [
      'an apiKey in a header',
      'key',
      (found: Fields) => expect(found.headers).toMatchObject({ 'x-key': 's3cret-s3cret' }),
    ],
    ['an apiKey in the query', 'query_key', (found: Fields) => expect(found.url).toBe('/v2/x?key=s3cret-s3cret')],
    [
      'basic',
      'login',
      (found: Fields) => expect(found.headers).toMatchObject({ authorization: `Basic ${btoa('s3cret-s3cret:')}` }),
    ],
    [
      'a token of oauth2',
      'oauth',
      (found: Fields) => expect(found.headers).toMatchObject({ authorization: 'Bearer s3cret-s3cret' }),
    ],
  ])('sends %s', async (_, scheme, check) => {
    process.env.SWAGGER_SECRET = 's3cret-s3cret';
    const server = await echoServer();
    const description = one({ security: [{ [scheme]: [] }] }, { securityDefinitions });
    const secrets = { mine: { env: 'SWAGGER_SECRET', hosts: [server.host.split(':')[0]] } };
    const crib = await describedBy(
      description,
      { baseUrl: `${server.base}/v2`, auth: { [scheme]: 'mine' } },
      { secrets },
    );
    const answer = JSON.stringify(await call(crib, 'pets_x')).replaceAll('[secret mine]', 's3cret-s3cret');
    check(JSON.parse(answer));
  });

  it('fetches a token for the flow "application" from the address that it names', async () => {
    process.env.SWAGGER_SECRET = 's3cret-s3cret';
    const [server, tokens] = [await echoServer(), await startServer()];
    tokens.give({ access_token: 'fetched-token', token_type: 'bearer', expires_in: 60 });
    const oauth = { type: 'oauth2', flow: 'application', tokenUrl: `http://${tokens.host}/t`, scopes: { read: '' } };
    const description = one({ security: [{ oauth: ['read'] }] }, { securityDefinitions: { oauth } });
    const secrets = { mine: { env: 'SWAGGER_SECRET', hosts: [tokens.host.split(':')[0]] } };
    const auth = { oauth: { clientId: 'crib', clientSecret: '${secret:mine}' } };
    const crib = await describedBy(description, { baseUrl: `${server.base}/v2`, auth }, { secrets });
    expect((await call(crib, 'pets_x')).headers.authorization).toBe('Bearer fetched-token');
  });
});

describe('a hostile or careless description of Swagger 2.0', () => {
  const fine = { '/fine': { get: { operationId: 'fine', responses: {} } } };
  const body = { in: 'body', name: 'body', schema: {} };

  it.each([
    [
      'a parameter elsewhere',
      { parameters: [{ $ref: 'https://evil.test/p.json' }] },
      'points outside the description; external references are not fetched',
    ],
    ['a parameter nowhere', { parameters: [{ $ref: '#/parameters/none' }] }, 'is not found in the description'],
    ['a parameter in a circle', { parameters: [{ $ref: '#/parameters/a' }] }, 'form a cycle'],
    ['parameters that are not a list', { parameters: {} }, 'its parameters are not a list'],
    ['a parameter that is none', { parameters: [null] }, 'is not an object'],
    ['two bodies', { parameters: [body, { ...body, name: 'again' }] }, 'more than one body'],
    [
      'a body and a form',
      { parameters: [body, { in: 'formData', name: 'a', type: 'string' }] },
      'both a body and form fields',
    ],
    [
      'too many parameters',
      { parameters: Array(501).fill({ name: 'a', in: 'query', type: 'string' }) },
      'more than 500',
    ],
  ])('loses only the operation with %s', async (_, fields, reason) => {
    const paths = { '/x': { post: { operationId: 'x', responses: {}, ...fields } }, ...fine };
    const parameters = { a: { $ref: '#/parameters/b' }, b: { $ref: '#/parameters/a' } };
    const crib = await describedBy(swagger(paths, { parameters }));
    expect(namesOf(crib)).toEqual(['pets_fine']);
    expect(crib.warnings().join()).toContain(reason);
  });

  it.each([
    ['an operation that is a text', { '/x': { get: 'x' }, ...fine }],
    ['a path that is a list', { '/x': [], ...fine }],
    ['a path elsewhere', { '/x': { $ref: 'other.json#/x' }, ...fine }],
  ])('loses only %s', async (_, paths) => {
    const crib = await describedBy(swagger(paths));
    expect(namesOf(crib)).toEqual(['pets_fine']);
    expect(crib.warnings().join()).toContain('/x is left out');
  });

  it.each([
    ['a host with a user', { host: 'good.test@evil.test' }, 'is not a valid host name'],
    ['a host with a path', { host: 'evil.test/x?' }, 'is not a valid host name'],
    ['a host that is a list', { host: ['a'] }, 'is not a valid host name'],
    ['paths that are none', { paths: [] }, 'its paths are not an object'],
    [
      'too many operations',
      { paths: Object.fromEntries(Array.from({ length: 20_001 }, (_, index) => [`/p${index}`, { get: {} }])) },
      'more than 20000 operations',
    ],
    [
      'references that take too much work',
      {
        parameters: Object.fromEntries(
          Array.from({ length: 120_000 }, (_, index) => [
            `p${index}`,
            { $ref: `#/parameters/p${(index + 1) % 120_000}` },
          ]),
        ),
        paths: Object.fromEntries(
          Array.from({ length: 300 }, (_, at) => [
            `/p${at}`,
            {
              get: {
                parameters: Array.from({ length: 400 }, (_, index) => ({ $ref: `#/parameters/p${at * 400 + index}` })),
              },
            },
          ]),
        ),
      },
      'too much work',
    ],
  ])('is refused as a whole: %s', async (_, more, reason) => {
    const crib = await describedBy(swagger(fine, more));
    expect(crib.sources().find(({ name }) => name === 'pets')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining(reason),
    });
  });

  it('names that mean something in JavaScript are plain names', async () => {
    const text = JSON.stringify(
      swagger(
        {
          '/x': {
            post: { operationId: 'x', parameters: [{ in: 'formData', name: 'P', type: 'string' }], responses: {} },
          },
          ...fine,
        },
        {
          securityDefinitions: { P: { type: 'basic' } },
          definitions: { P: {} },
        },
      ),
    ).replaceAll('"P"', '"__proto__"');
    const crib = await describedBy(text);
    expect(namesOf(crib)).toContain('pets_fine');
    expect(Object.prototype).not.toHaveProperty('type');
  });

  it('nothing outside of it is fetched: a schema elsewhere is left open and reported', async () => {
    const parameters = [{ ...body, schema: { $ref: 'http://evil.test/schema.json' } }];
    const crib = await describedBy(one({ parameters }, { method: 'post' }));
    expect(toolIn(crib, 'pets_x').input.properties).toEqual({ body: {} });
    expect(crib.warnings().join()).toContain('external references are not fetched');
  });

  it('references into its own paths are followed', async () => {
    const paths = {
      '/a': {
        post: {
          operationId: 'a',
          parameters: [{ ...body, required: true, schema: { type: 'object', properties: { n: { type: 'integer' } } } }],
        },
      },
      '/b': {
        post: {
          operationId: 'b',
          parameters: [{ ...body, required: true, schema: { $ref: '#/paths/~1a/post/parameters/0/schema' } }],
        },
      },
    };
    const crib = await describedBy(swagger(paths));
    expect(toolIn(crib, 'pets_b').input).toMatchObject({ properties: { n: { type: 'integer' } } });
  });
});
