// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are secrets written
import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createCrib } from '../../../src/index.ts';
import { startServer } from '../../sources/http-server.ts';
import { askedWith, bodyOf, echo, giveJson, openShop, refusalOf } from './http-shop.ts';

describe('HTTP: placeholders encoded for where they stand', () => {
  it.each([
    ['a b', '/x/a%20b'],
    ['a/b', '/x/a%2Fb'],
    ['../admin', '/x/..%2Fadmin'],
    ['a?b#c', '/x/a%3Fb%23c'],
    ['%2e%2e', '/x/%252e%252e'],
    ['...', '/x/...'],
    ['a\\b', '/x/a%5Cb'],
    ['\r\nX: y', '/x/%0D%0AX%3A%20y'],
    ['a;b=c', '/x/a%3Bb%3Dc'],
    ['\ud800', '/x/%EF%BF%BD'],
    ['ü', '/x/%C3%BC'],
    [7, '/x/7'],
    [false, '/x/false'],
    [['a', 'b,c'], '/x/a,b%2Cc'],
  ])('in the path: %j', async (id, url) => {
    expect((await askedWith({ url: '/x/{id}' }, { id })).url).toBe(url);
  });

  it.each([[''], ['.'], ['..'], [[]], [['..']], [undefined], [null]])(
    'a value that would change the path is refused: %j',
    async (id) => {
      const { call, server } = await openShop(echo, { run: { url: '/x/{id}/delete' } });
      expect(await call({ id })).toMatchObject({ error: { code: 'invalid_input', issues: [{ path: '/id' }] } });
      expect(server.requests).toEqual([]);
    },
  );

  it.each([
    ['{id};v=1', '..'],
    ['{id};v=1', '.'],
    ['{id};v=1', ''],
    ['{id};{n}', '..'],
    ['{id};', ['..']],
    ['.{id};v=1', '.'],
    ['%2e{id};v=1', '.'],
  ])('also before parameters of a segment, which servers cut off: %s of %j', async (segment, id) => {
    const { call, server } = await openShop(echo, { run: { url: `/a/${segment}/b` } });
    expect(await call({ id, n: 1 })).toMatchObject({ error: { code: 'invalid_input' } });
    expect(await call({ id: 'x', n: 1 })).toMatchObject({ ok: true });
    expect(server.requests).toHaveLength(1);
  });

  it('after the name of such a parameter they are plain text', async () => {
    const { call, server } = await openShop(echo, { run: { url: '/a/;id={id}/b' } });
    expect(await call({ id: '..' })).toMatchObject({ ok: true });
    expect(server.requests[0]?.url).toBe('/a/;id=../b');
  });

  it.each(['.{id}', '{id}%2e', '%2E{id}'])('also together with its neighbours: %s', async (segment) => {
    const { call } = await openShop(echo, { run: { url: `/x/${segment}` } });
    expect(await call({ id: '.' })).toMatchObject({ error: { code: 'invalid_input' } });
    expect(await call({ id: 'a' })).toMatchObject({ ok: true });
  });

  it.each([
    ['a&b=c#d', '?q=a%26b%3Dc%23d'],
    [['a', 2, true], '?q=a&q=2&q=true'],
    [{ a: 1 }, '?q=%7B%22a%22%3A1%7D'],
    [[['a'], { b: 1 }], '?q=%5B%22a%22%5D&q=%7B%22b%22%3A1%7D'],
    [[], ''],
    [undefined, ''],
    [null, ''],
    ['', '?q='],
    [0, '?q=0'],
  ])('in the query: %j', async (q, query) => {
    expect((await askedWith({ url: '/x', query: { q: '{q}' } }, { q })).url).toBe(`/x${query}`);
    expect((await askedWith({ url: '/x?q={q}' }, { q })).url).toBe(`/x${query}`);
  });

  it('fixed texts of the run stay, and those that name an absent argument are left out', async () => {
    const run = { url: '/x?fixed=a%20b&flag&n={n}', query: { q: 'name:{name} n:{n}', size: 5, tags: ['a b', '{id}'] } };
    expect((await askedWith(run, { n: 1, name: 'a&b', id: 'i' })).url).toBe(
      '/x?fixed=a%20b&flag&n=1&q=name%3Aa%26b%20n%3A1&size=5&tags=a%20b&tags=i',
    );
    expect((await askedWith(run)).url).toBe('/x?fixed=a%20b&flag&size=5&tags=a%20b');
  });

  it.each([
    [{ style: 'form', explode: true }, ['a', 'b'], '?q=a&q=b'],
    [{ style: 'form', explode: false }, ['a', 'b,'], '?q=a,b%2C'],
    [{ style: 'spaceDelimited' }, ['a', 'b'], '?q=a%20b'],
    [{ style: 'pipeDelimited' }, ['a', 'b'], '?q=a%7Cb'],
    [{ style: 'form', explode: true }, { a: 1, 'b&': 'c' }, '?a=1&b%26=c'],
    [{ style: 'form', explode: false }, { a: 1, b: 2 }, '?q=a,1,b,2'],
    [{ style: 'deepObject' }, { a: 1, b: { c: ['x', 'y'] } }, '?q%5Ba%5D=1&q%5Bb%5D%5Bc%5D=x&q%5Bb%5D%5Bc%5D=y'],
    [{ style: 'json' }, { a: [1] }, '?q=%7B%22a%22%3A%5B1%5D%7D'],
    [{ style: 'form', explode: false }, [], ''],
    [{ style: 'form', explode: false }, undefined, ''],
    [{ explode: false }, 'x', '?q=x'],
  ])('in the styles of OpenAPI: %j of %j', async (style, q, query) => {
    expect((await askedWith({ url: '/', query: { q: { value: '{q}', ...style } } }, { q })).url).toBe(`/${query}`);
  });

  it('in headers and cookies', async () => {
    const run = {
      url: '/',
      headers: { 'X-Name': 'is {name}', 'X-Tags': '{tags}', 'X-Gone': '{q}', 'X-Number': 5 },
      cookies: { theme: '{name}', gone: '{q}' },
    };
    const { headers } = await askedWith(run, { name: 'é; a=b', tags: ['a', 1] });
    expect(headers).toMatchObject({
      'x-name': 'is é; a=b',
      'x-tags': 'a,1',
      'x-number': '5',
      cookie: 'theme=%C3%A9%3B%20a%3Db',
    });
    expect(headers).not.toHaveProperty('x-gone');
  });

  it.each(['a\r\nX-Evil: 1', 'a\nb', 'a\0b', 'snow ☃', '\x7f'])(
    'a value that no header can carry is refused: %j',
    async (name) => {
      const { call, server } = await openShop(echo, { run: { headers: { 'X-Name': '{name}' } } });
      expect(await call({ name })).toMatchObject({ error: { code: 'invalid_input', issues: [{ path: '/name' }] } });
      expect(server.requests).toEqual([]);
    },
  );

  it('in a JSON body with their types, and absent ones are left out', async () => {
    const run = {
      method: 'POST',
      body: { id: '{id}', text: 'it is {id} {{id}}', list: ['{tags}', '{q}', 5], inner: { gone: '{q}', n: null } },
    };
    const { headers, body } = await askedWith(run, { id: 7, tags: [true, { a: null }] });
    expect(JSON.parse(body)).toEqual({
      id: 7,
      text: 'it is 7 {id}',
      list: [[true, { a: null }], 5],
      inner: { n: null },
    });
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse((await askedWith(run, { id: '","admin":true,"x":"' })).body).id).toBe('","admin":true,"x":"');
  });

  it.each([
    ['{q}', { a: 1 }, '{"a":1}', 'application/json'],
    ['{q}', 'plain', 'plain', 'text/plain; charset=utf-8'],
    ['hello {q}', 'x', 'hello x', 'text/plain; charset=utf-8'],
    [['{q}'], 'x', '["x"]', 'application/json'],
  ])('a body %j of %j is %s', async (body, q, sent, type) => {
    const asked = await askedWith({ method: 'PUT', body }, { q });
    expect([asked.body, asked.headers['content-type']]).toEqual([sent, type]);
  });

  it('an empty body is not sent', async () => {
    const { headers, body } = await askedWith({ method: 'POST', body: '{q}' });
    expect([body, headers['content-type']]).toEqual(['', undefined]);
  });

  it('in a form', async () => {
    const body = {
      q: '{q}',
      tags: '{tags}',
      csv: { value: '{tags}', style: 'form', explode: false },
      fixed: 'a b',
      gone: '{id}',
    };
    const asked = await askedWith({ method: 'POST', bodyType: 'form', body }, { q: 'a&b=c', tags: [1, 2] });
    expect(asked.body).toBe('q=a%26b%3Dc&tags=1&tags=2&csv=1,2&fixed=a%20b');
    expect(asked.headers['content-type']).toBe('application/x-www-form-urlencoded');
  });

  it('in parts, with files', async () => {
    const body = {
      q: '{q}',
      tags: '{tags}',
      filter: { value: '{filter}', encoding: 'json' },
      file: { value: '{file}', encoding: 'base64', filename: '{name}', contentType: 'image/png' },
      gone: '{id}',
    };
    const name = 'a"\r\nX-Evil: 1\r\n\r\n.png';
    const input = {
      q: 'ä',
      tags: ['x', 'y'],
      filter: { a: 1 },
      file: Buffer.from([0, 255, 13, 10]).toString('base64'),
      name,
    };
    const { call } = await openShop(
      async (request, response) => {
        const form = await new Response(await bodyOf(request), {
          headers: request.headers as Record<string, string>,
        }).formData();
        const file = form.get('file') as unknown as File; // Node reads it as one
        const filter = form.get('filter');
        giveJson(response, {
          q: form.get('q'),
          tags: form.getAll('tags'),
          filter: filter instanceof Blob ? await filter.text() : filter,
          file: [file.name, file.type, [...new Uint8Array(await file.arrayBuffer())]],
          keys: [...new Set(form.keys())],
        });
      },
      { run: { method: 'POST', bodyType: 'multipart', body } },
    );
    const result = await call(input);
    expect(result).toMatchObject({
      data: {
        q: 'ä',
        tags: ['x', 'y'],
        filter: '{"a":1}',
        file: [name, 'image/png', [0, 255, 13, 10]],
        keys: ['q', 'tags', 'filter', 'file'],
      },
    });
  });

  it('bytes are sent from base64, and invalid base64 is refused', async () => {
    const { call } = await openShop(echo, { run: { method: 'PUT', bodyType: 'base64', body: '{file}' } });
    expect(await call({ file: 'AP8=' })).toMatchObject({
      data: { body: '\0\xff', headers: { 'content-type': 'application/octet-stream' } },
    });
    expect(await call({ file: 'no base64!' })).toMatchObject({
      error: { code: 'invalid_input', issues: [{ path: '/file' }] },
    });
  });

  it('a host may be chosen from the list in the schema, and no other', async () => {
    const input = { type: 'object', properties: { name: { enum: ['127.0.0.1', 'localhost'] } } };
    const server = await startServer();
    const port = server.host.split(':')[1];
    const config = { executors: { http: { allowPrivate: ['127.0.0.1', 'localhost'] } } };
    const { call } = await openShop(echo, { server, config, spec: { input }, run: { url: `http://{name}:${port}/x` } });
    expect(await call({ name: '127.0.0.1' })).toMatchObject({ data: { headers: { host: server.host } } });
    expect(await call({ name: 'evil.example' })).toMatchObject({ error: { code: 'invalid_input' } });
    expect(await call({})).toMatchObject({ error: { code: 'invalid_input' } });
    expect(server.requests).toHaveLength(1);
  });

  it('an address in two parts is joined', async () => {
    const server = await startServer();
    const run = { baseUrl: `http://${server.host}/v1/`, url: '/pets/{id}', query: { q: 1 } };
    const { call } = await openShop(echo, { server, run });
    expect(await call({ id: 'a/b' })).toMatchObject({ data: { url: '/v1/pets/a%2Fb?q=1' } });
  });
});

describe('an impossible run is refused when it is loaded', () => {
  const url = 'https://example.com/';
  it.each<readonly [Readonly<Record<string, unknown>>, string]>([
    [{ url: 'https://example.com/{idd}' }, '{idd} is not an argument of its input. Did you mean "id"?'],
    [{ url, query: { a: '{nobody}' } }, '{nobody} is not an argument'],
    [{ url, body: { a: ['x {nobody}'] } }, '{nobody} is not an argument'],
    [{ url, body: { a: '{ not a name }' } }, 'has a stray "{"'],
    [{ url: 'https://{id}/' }, 'its host must not be an argument'],
    [{ url: 'https://{id}.example.com/' }, 'its host must not be an argument'],
    [{ url: 'https://example.com:{n}/' }, 'its host must not be an argument'],
    [{ url: '{id}://example.com/' }, 'must begin with http:// or https://'],
    [{ url: '{id}' }, 'must begin with http:// or https://'],
    [{ url: '/path' }, 'must begin with http:// or https://'],
    [{ url: 'ftp://example.com/' }, 'must begin with http:// or https://'],
    [{ url: 'file:///etc/passwd' }, 'must begin with http:// or https://'],
    [{ url: 'https://user:pass@example.com/' }, 'its url contains a password'],
    [{ url: 'https://${secret:host}/' }, 'its host must not be a secret'],
    [{ url: 'https://exa mple.com/' }, 'its url is not a valid URL'],
    [{ url: 'https://example.com/?{id}=1' }, 'as the name of a query parameter'],
    [{ url: 'https://example.com/#{id}' }, 'never sent'],
    [{ url, baseUrl: 'https://example.com' }, 'its url must be a path'],
    [{ url: '/x', baseUrl: 'https://example.com/?a=1' }, 'its baseUrl must not contain "?" or "#"'],
    [{ url, headers: { Host: 'x' } }, 'the header "host" cannot be set'],
    [{ url, headers: { 'Transfer-Encoding': 'x' } }, 'cannot be set'],
    [{ url, headers: { 'bad name': 'x' } }, 'run/headers'],
    [{ url, headers: { A: '1', a: '2' } }, 'is set twice'],
    [{ url, headers: { Cookie: 'a={id}' } }, 'belong under cookies'],
    [{ url, method: 'CONNECT' }, 'its method must be one of'],
    [{ url, metod: 'GET' }, 'metod'],
    [{ url, bodyType: 'form' }, 'a bodyType but no body'],
    [{ url, bodyType: 'form', body: 'x' }, 'must be an object'],
    [{ url, bodyType: 'form', body: { a: { b: 1 } } }, '"a" of its body'],
    [{ url, bodyType: 'multipart', body: { a: { value: 'x', encoding: 'rot13' } } }, '"a" of its body'],
    [{ url, bodyType: 'text', body: { a: 1 } }, 'must be a text'],
    [{ url, bodyType: 'multipart', body: {}, headers: { 'content-type': 'x/y' } }, 'cannot be set'],
    [{ url, select: 'a..b' }, 'its select'],
    [{ url, select: 'a[b]' }, 'its select'],
    [{ url, select: '/a~2' }, 'its select'],
    [{ url, auth: { bearer: '{id}' } }, 'must not contain arguments of the call'],
    [{ url, auth: { bearer: 'a', basic: { username: 'a', password: 'b' } } }, 'run/auth'],
    [{ url, auth: { basic: { username: 'a:b', password: 'c' } } }, 'must not contain ":"'],
    [{ url, auth: { apiKey: { in: 'header', name: 'a b', value: 'c' } } }, 'has a name that is not valid for a header'],
    [
      { url, auth: { clientCredentials: { tokenUrl: 'http://id.example.com', clientId: 'a', clientSecret: 'b' } } },
      'must be an https address',
    ],
    [{ url, maxResponseBytes: 0 }, 'run/maxResponseBytes'],
    [{ method: 'GET' }, 'url'],
  ])('%j', async (run, why) => {
    expect(await refusalOf(run)).toContain(why);
  });

  it('an enumerated host with values beyond a part of a host is refused', async () => {
    const input = { type: 'object', properties: { id: { enum: ['a', 'evil.example/x'] } } };
    expect(await refusalOf({ url: 'https://{id}.example.com/' }, { input })).toContain('its host must not be');
  });
});

describe('the answer by its content type', () => {
  it.each<readonly [type: string, body: string | Buffer, expected: object]>([
    ['application/json', '{"a":[1]}', { data: { a: [1] }, content: [{ type: 'text', text: '{"a":[1]}' }] }],
    ['application/problem+json; charset=UTF-8', '"text"', { data: 'text', content: [{ type: 'text', text: 'text' }] }],
    ['text/plain', 'hello', { content: [{ type: 'text', text: 'hello' }] }],
    ['text/plain; charset=ISO-8859-1', Buffer.from([0xe9]), { content: [{ type: 'text', text: 'é' }] }],
    ['text/plain; charset=klingon', 'é', { content: [{ type: 'text', text: 'é' }] }],
    ['application/xml', '<a/>', { content: [{ type: 'text', text: '<a/>' }] }],
    ['image/png', Buffer.from([1, 2]), { content: [{ type: 'image', data: 'AQI=', mimeType: 'image/png' }] }],
    ['audio/mpeg', Buffer.from([1, 2]), { content: [{ type: 'audio', data: 'AQI=', mimeType: 'audio/mpeg' }] }],
    [
      'application/pdf',
      Buffer.from([1, 2]),
      { content: [{ type: 'resource', resource: { mimeType: 'application/pdf', blob: 'AQI=' } }] },
    ],
    ['', '{"a":1}', { data: { a: 1 } }],
    ['nonsense', 'plain', { content: [{ type: 'text', text: 'plain' }] }],
    ['', Buffer.from([0xff, 0xfe, 0]), { content: [{ type: 'resource', resource: { blob: '//4A' } }] }],
  ])('%s', async (type, body, expected) => {
    const { call } = await openShop((_, response) => {
      if (type !== '') response.setHeader('content-type', type);
      response.end(body);
    });
    expect(await call()).toMatchObject({ ok: true, ...expected });
  });

  it('an empty answer is a success that says so, without the address', async () => {
    const { call, server } = await openShop((_, response) => void response.writeHead(204).end());
    expect(await call()).toMatchObject({ ok: true, content: [{ type: 'text', text: 'Done: 204 No Content.' }] });
    server.answer((_, response) => void response.setHeader('content-type', 'application/pdf').end('x'));
    expect(JSON.stringify(await call())).not.toContain('127.0.0.1');
  });

  it('the headers of an answer are the result if the run selects nothing else', async () => {
    const { call } = await openShop(
      (_, response) => void response.setHeader('x-count', '5').setHeader('set-cookie', 'a=b').end(),
      {
        run: { method: 'HEAD' },
      },
    );
    const result = await call();
    expect(result).toMatchObject({ ok: true, data: { status: 200, headers: { 'x-count': '5' } } });
    expect(JSON.stringify(result)).not.toContain('a=b');
  });

  it('headers about an absent body do not refuse the answer', async () => {
    const headers = { 'content-length': '99999999999', 'content-encoding': 'gzip' };
    const { call } = await openShop((_, response) => void response.writeHead(200, headers).end(), {
      run: { method: 'HEAD' },
    });
    expect(await call()).toMatchObject({ ok: true, data: { headers } });
    expect(await call()).toMatchObject({ ok: true });
  });

  const DATA = { items: [{ id: 1, name: { first: 'A' } }, { id: 2 }], 'a/b': { 'c~d': true }, 'x.y': 3 };
  it.each([
    ['items[*].id', [1, 2]],
    ['items.*.id', [1, 2]],
    ['$.items[0].id', 1],
    ['items.0.name.first', 'A'],
    ['items[*].name', [{ first: 'A' }, null]],
    ['/items/1/id', 2],
    ['/a~1b/c~0d', true],
    ['/x.y', 3],
    ['', DATA],
    ['items.length', null],
    ['constructor.name', null],
    ['nothing.there[*]', []],
    ['items.9', null],
  ])('select %j', async (select, data) => {
    const { call } = await openShop((_, response) => giveJson(response, DATA), { run: { select } });
    expect(await call()).toMatchObject({ ok: true, data });
  });

  it('invalid JSON is a failure; the run can declare JSON under another content type', async () => {
    const page: Parameters<typeof openShop>[0] = (_, response) =>
      void response.setHeader('content-type', 'application/json').end('<html>');
    expect(await (await openShop(page)).call()).toMatchObject({
      error: { code: 'upstream', message: expect.stringContaining('invalid JSON') },
    });
    const hidden: Parameters<typeof openShop>[0] = (_, response) =>
      void response.setHeader('content-type', 'text/html').end('[1]');
    expect(await (await openShop(hidden)).call()).not.toHaveProperty('data');
    expect(await (await openShop(hidden, { run: { response: 'json' } })).call()).toMatchObject({ data: [1] });
    expect(await (await openShop(hidden, { run: { select: '0' } })).call()).toMatchObject({ data: 1 });
    expect(await (await openShop(hidden, { run: { response: 'bytes' } })).call()).toMatchObject({
      content: [{ type: 'resource' }],
    });
  });
});

describe('an unsuccessful answer', () => {
  const once = { policy: { retries: 0 } };
  it.each<readonly [status: number, method: string, expected: object]>([
    [400, 'GET', { code: 'tool_error', retryable: false }],
    [404, 'GET', { code: 'tool_error', retryable: false }],
    [401, 'GET', { code: 'upstream', retryable: false }],
    [403, 'GET', { code: 'upstream', retryable: false }],
    [408, 'GET', { code: 'upstream', retryable: true }],
    [429, 'POST', { code: 'rate_limited', retryable: true }],
    [500, 'GET', { code: 'upstream', retryable: true }],
    [500, 'POST', { code: 'upstream', retryable: false }],
    [501, 'GET', { code: 'upstream', retryable: false }],
    [502, 'GET', { code: 'upstream', retryable: true }],
    [504, 'POST', { code: 'unknown_outcome', retryable: false }],
    [503, 'POST', { code: 'upstream', retryable: true }],
    [304, 'GET', { code: 'tool_error', retryable: false }],
    [599, 'GET', { code: 'upstream', retryable: true }],
  ])('%i after %s', async (status, method, expected) => {
    const { call } = await openShop((_, response) => giveJson(response, { error: 'why it is so' }, status), {
      run: { method },
      spec: once,
    });
    const result = await call();
    expect(result).toMatchObject({ ok: false, error: expected });
    if (status !== 304) expect(JSON.stringify(result)).toContain('why it is so');
  });

  it.each([
    [429, '7', 7000],
    [503, '0', 0],
    [503, new Date(Date.now() + 1_800_000).toUTCString(), expect.closeTo(1_800_000, -5)],
    [429, 'Thu, 01 Jan 1970 00:00:00 GMT', 0],
    [429, '99999999', 3_600_000],
  ])('%i with Retry-After %s has a time to retry', async (status, header, retryAfterMs) => {
    const { call } = await openShop((_, response) => void response.writeHead(status, { 'retry-after': header }).end(), {
      spec: once,
    });
    expect(await call()).toMatchObject({ error: { retryAfterMs } });
  });

  it.each([
    [429, 'GET'],
    [503, 'GET'],
    [503, 'POST'],
  ])('%i of a %s with a Retry-After of 25 s is answered at once, without sleeping', async (status, method) => {
    const { call, server } = await openShop(
      (_, response) => void response.writeHead(status, { 'retry-after': '25' }).end(),
      { run: { method }, spec: { policy: { retries: 3, timeoutMs: 600_000 } } },
    );
    expect(await call()).toMatchObject({ error: { retryable: true, retryAfterMs: 25_000 } });
    expect(server.requests).toHaveLength(1);
  });

  it('a meaningless Retry-After is left out', async () => {
    const { call } = await openShop((_, response) => void response.writeHead(429, { 'retry-after': 'soon' }).end(), {
      spec: once,
    });
    const result = await call();
    expect(result.ok || result.status === 'waiting' ? {} : result.error).not.toHaveProperty('retryAfterMs');
  });

  it('only the beginning of its text is shown, as one line, without tags', async () => {
    const { call } = await openShop(
      (_, response) =>
        void response
          .writeHead(404, { 'content-type': 'text/html' })
          .end(`<h1>Not\n\n here</h1>${'x'.repeat(100_000)}`),
    );
    const result = await call();
    const message = result.ok || result.status === 'waiting' ? '' : result.error.message;
    expect(message).toMatch(/^The server of "ask" answered 404 Not Found: Not here x+…$/);
    expect(message.length).toBeLessThan(600);
  });

  it('a temporarily refused call is retried in time', async () => {
    let count = 0;
    const answer: RequestListener = (_, response) => {
      count += 1;
      if (count === 1) response.writeHead(429, { 'retry-after': '0' }).end();
      else giveJson(response, count);
    };
    const { call, server } = await openShop(answer, { spec: { effects: { readOnly: true } } });
    expect(await call()).toMatchObject({ ok: true, data: 2 });
    expect(server.requests).toHaveLength(2);
  });

  it('a server that says 429 was called: a call that may do harm is not retried', async () => {
    const { call, server } = await openShop(
      (_, response) => void response.writeHead(429, { 'retry-after': '0' }).end(),
    );
    expect(await call()).toMatchObject({ error: { code: 'rate_limited', retryable: true } });
    expect(server.requests).toHaveLength(1);
  });
});

describe('a request', () => {
  it('carries the trace of its call', async () => {
    const { chest } = await openShop(echo);
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const result = await chest.call('ask', {}, { traceparent });
    expect(result).toMatchObject({
      data: { headers: { traceparent: expect.stringMatching(`^00-${'a'.repeat(32)}-`) } },
    });
  });

  it('uses a kept connection, and closing the crib ends it', async () => {
    const { call, server, crib } = await openShop(echo);
    await call();
    await call();
    const sockets = new Set(server.requests.map(({ socket }) => socket));
    expect(sockets.size).toBe(1);
    const [socket] = sockets;
    const ended = new Promise((resolve) => socket?.once('close', resolve));
    await crib.close();
    await ended;
  });

  it('a spec in the format of seed 003 runs as it is', async () => {
    const server = await startServer(echo);
    const crib = await createCrib({
      store: { url: 'memory:' },
      config: {
        executors: { http: { allowPrivate: server.host } },
        tools: [
          {
            name: 'weather',
            description: 'Weather',
            tool_type: 'http',
            input_schema: {
              type: 'object',
              properties: { city: { type: 'string' }, units: { type: 'string' } },
              required: ['city'],
            },
            implementation_config: {
              url: `http://${server.host}/weather/{city}`,
              method: 'GET',
              params: { units: '{units}', lang: 'en' },
              headers: { Accept: 'application/json' },
            },
          },
        ],
      } as never, // its own format
    });
    const chest = await crib.open();
    expect(await chest.call('weather', { city: 'São Paulo' })).toMatchObject({
      data: { url: '/weather/S%C3%A3o%20Paulo?lang=en' },
    });
    expect(await chest.call('weather', { city: 'x', units: 'si' })).toMatchObject({
      data: { url: '/weather/x?units=si&lang=en' },
    });
    await crib.close();
  });
});
