import { describe, expect, it } from 'vitest';
import { call, describedBy, echoServer, type Fields, operation, tryCall } from './api.ts';

const query = (name: string, schema: Fields, more: Fields = {}) => ({ name, in: 'query', schema, ...more });
const list = { type: 'array', items: { type: 'string' } };
const form = (type: string, properties: Fields, more: Fields = {}) => ({
  required: true,
  content: { [type]: { schema: { type: 'object', properties }, ...more } },
});

/** What the API is asked when an operation is called. */
async function asked(fields: Fields, input: Fields, more: Fields = {}) {
  const server = await echoServer();
  const crib = await describedBy(operation(fields, { method: 'post', ...more }), { baseUrl: `${server.base}/v1` });
  return call(crib, 'pets_x', input);
}

describe('a call of an operation', () => {
  it('goes to its path, with every value encoded for its place', async () => {
    const parameters = [
      { name: 'petId', in: 'path', required: true, schema: { type: 'string' } },
      query('filter[name]', { type: 'string' }),
      { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
      { name: 'session', in: 'cookie', schema: { type: 'string' } },
    ];
    const input = { petId: '../a b/ü', filter_name: 'x&y=1', 'x-trace': 't', session: 's' };
    const found = await asked({ parameters }, input, { method: 'get', path: '/pets/{petId}/toys?fixed=1' });
    expect([found.method, found.url]).toEqual([
      'GET',
      '/v1/pets/..%2Fa%20b%2F%C3%BC/toys?fixed=1&filter%5Bname%5D=x%26y%3D1',
    ]);
    expect(found.headers).toMatchObject({ 'x-trace': 't', cookie: 'session=s' });
  });

  it('leaves out absent arguments, and fills in no default', async () => {
    const parameters = [
      query('a', { type: 'string', default: 'x' }),
      { name: 'b', in: 'header', schema: { type: 'string' } },
    ];
    const requestBody = form('application/json', { c: { type: 'boolean', default: false } });
    const found = await asked({ parameters, requestBody }, {});
    expect([found.url, found.headers.b, found.body]).toEqual(['/v1/x', undefined, '{}']);
  });

  it.each([
    ['repeated', query('a', list), { a: ['x', 'y'] }, 'a=x&a=y'],
    ['in one value', query('a', list, { explode: false }), { a: ['x', 'y'] }, 'a=x,y'],
    ['with pipes', query('a', list, { style: 'pipeDelimited', explode: false }), { a: ['x', 'y'] }, 'a=x%7Cy'],
    ['spread', query('a', { type: 'object' }), { a: { x: 1, y: 2 } }, 'x=1&y=2'],
    ['as a deep object', query('a', { type: 'object' }, { style: 'deepObject' }), { a: { x: 1 } }, 'a%5Bx%5D=1'],
    [
      'as JSON',
      { name: 'a', in: 'query', content: { 'application/json': { schema: {} } } },
      { a: { x: 1 } },
      'a=%7B%22x%22%3A1%7D',
    ],
  ])('writes lists and objects of a query as the description says: %s', async (_, parameter, input, expected) => {
    expect((await asked({ parameters: [parameter] }, input)).url).toBe(`/v1/x?${expected}`);
  });

  it('sends JSON with its types, under the names of the API', async () => {
    const requestBody = form('application/json', {
      'pet name': { type: 'string' },
      age: { type: 'integer' },
      owner: { type: 'object' },
    });
    const found = await asked({ requestBody }, { pet_name: 'Rex {age}', age: 3, owner: { a: [null] } });
    expect(JSON.parse(found.body)).toEqual({ 'pet name': 'Rex {age}', age: 3, owner: { a: [null] } });
    expect(found.headers['content-type']).toBe('application/json');
  });

  it('sends a whole body unchanged, in its own JSON type', async () => {
    const requestBody = { content: { 'application/merge-patch+json': { schema: list } } };
    const found = await asked({ requestBody }, { body: ['a', 'b'] });
    expect([found.body, found.headers['content-type']]).toEqual(['["a","b"]', 'application/merge-patch+json']);
  });

  it('sends no body if it is optional and absent', async () => {
    const requestBody = { content: { 'application/json': { schema: list } } };
    const found = await asked({ requestBody }, {});
    expect([found.body, found.headers['content-type']]).toEqual(['', undefined]);
  });

  it('sends forms', async () => {
    const type = 'application/x-www-form-urlencoded';
    const encoding = { meta: { style: 'deepObject', explode: true } };
    const requestBody = form(type, { name: { type: 'string' }, tags: list, meta: { type: 'object' } }, { encoding });
    const found = await asked({ requestBody }, { name: 'a&b', tags: ['x', 'y'], meta: { k: 'v' } });
    expect([found.headers['content-type'], found.body]).toEqual([type, 'name=a%26b&tags=x&tags=y&meta%5Bk%5D=v']);
  });

  it('sends files from base64', async () => {
    const properties = {
      photo: { type: 'string', format: 'binary' },
      note: { type: 'string' },
      about: { type: 'object' },
    };
    const encoding = { photo: { contentType: 'image/png, image/jpeg' } };
    const requestBody = form('multipart/form-data', properties, { encoding });
    const { body, headers } = await asked(
      { requestBody },
      { photo: Buffer.from('bytes!').toString('base64'), note: 'n', about: { a: 1 } },
    );
    expect(headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(body).toMatch(/name="photo"; filename="photo"\r\ncontent-type: image\/png\r\n\r\nbytes!\r\n/i);
    expect(body).toMatch(/name="note"\r\n\r\nn\r\n/);
    expect(body).toContain('{"a":1}');
  });

  it.each([
    ['text/plain', 'hello', 'hello'],
    ['application/xml', '<a/>', '<a/>'],
    ['application/octet-stream', Buffer.from('bytes').toString('base64'), 'bytes'],
    ['image/png', Buffer.from('bytes').toString('base64'), 'bytes'],
  ])('sends %s', async (type, body, sent) => {
    const found = await asked(
      { requestBody: { required: true, content: { [type]: { schema: { type: 'string' } } } } },
      { body },
    );
    expect(found.headers['content-type']?.split(';')[0]).toBe(type);
    expect(found.body).toBe(sent);
  });

  it('prefers JSON if a body has several types', async () => {
    const content = {
      'text/xml': {},
      'application/x-www-form-urlencoded': {},
      'application/json': { schema: { type: 'array' } },
    };
    expect((await asked({ requestBody: { content } }, { body: [1] })).body).toBe('[1]');
  });

  it('is refused for wrong arguments before anything is sent', async () => {
    const server = await echoServer();
    const fields = { parameters: [query('n', { type: 'integer', maximum: 5 }, { required: true })] };
    const crib = await describedBy(operation(fields), { baseUrl: server.base });
    for (const input of [{}, { n: 'x' }, { n: 6 }, { n: 1, other: 1 }]) {
      expect(await tryCall(crib, 'pets_x', input)).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
    }
    expect(server.requests).toEqual([]);
  });

  it('returns the answer of the API, even if it differs from the description', async () => {
    const server = await echoServer();
    server.give({ id: 'not a number' });
    const schema = { type: 'object', properties: { id: { type: 'integer' } } };
    const fields = { responses: { 200: { description: 'fine', content: { 'application/json': { schema } } } } };
    const loose = await describedBy(operation(fields), { baseUrl: server.base });
    expect(await tryCall(loose, 'pets_x')).toMatchObject({ ok: true, data: { id: 'not a number' } });
    const strict = await describedBy(operation(fields), { baseUrl: server.base, outputSchemas: true });
    expect(await tryCall(strict, 'pets_x')).toMatchObject({ ok: false, error: { code: 'invalid_output' } });
  });
});
