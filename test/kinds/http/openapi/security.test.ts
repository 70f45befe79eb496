import { afterEach, describe, expect, it, vi } from 'vitest';
import { call, describedBy, echoServer, type Fields, operation, runOf, toolIn, tryCall } from './api.ts';

afterEach(() => vi.unstubAllEnvs());

const SCHEMES = {
  key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  inQuery: { type: 'apiKey', in: 'query', name: 'key' },
  inCookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
  token: { type: 'http', scheme: 'Bearer' },
  user: { type: 'http', scheme: 'basic' },
  oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: '/token', scopes: {} } } },
  openid: { type: 'openIdConnect', openIdConnectUrl: 'https://id.test' },
  mutual: { type: 'mutualTLS' },
};

/** A crib whose one operation demands these schemes; the secret `s` may go to the server. */
async function secured(security: readonly Fields[], entry: Fields = {}, names: readonly string[] = ['s']) {
  const server = await echoServer();
  vi.stubEnv('TOOLCRIB_TEST_API', 'hidden-value');
  const secret = { env: 'TOOLCRIB_TEST_API', hosts: [server.host] };
  const crib = await describedBy(
    operation({ security }, { components: { securitySchemes: SCHEMES } }),
    { baseUrl: server.base, ...entry },
    { secrets: Object.fromEntries(names.map((name) => [name, secret])) },
  );
  return { crib, server };
}

describe('a security scheme', () => {
  it.each([
    ['key', { 'x-key': 'hidden-value' }],
    ['inCookie', { cookie: 'sid=hidden-value' }],
    ['token', { authorization: 'Bearer hidden-value' }],
    ['openid', { authorization: 'Bearer hidden-value' }],
    ['oauth', { authorization: 'Bearer hidden-value' }],
  ])('is met by the secret that the owner maps it to: %s', async (scheme, headers) => {
    const { crib, server } = await secured([{ [scheme]: [] }], { auth: { [scheme]: 's' } });
    await call(crib, 'pets_x');
    expect(server.requests[0]?.headers).toMatchObject(headers);
  });

  it('may be met in the query', async () => {
    const { crib, server } = await secured([{ inQuery: [] }], { auth: { inQuery: 's' } });
    await call(crib, 'pets_x');
    expect(server.requests[0]?.url).toBe('/x?key=hidden-value');
  });

  it('is met by user and password', async () => {
    const { crib, server } = await secured([{ user: [] }], {
      auth: { user: { username: 'me', password: `\${secret:s}` } },
    });
    await call(crib, 'pets_x');
    const expected = `Basic ${Buffer.from('me:hidden-value').toString('base64')}`;
    expect(server.requests[0]?.headers.authorization).toBe(expected);
  });

  it('is met by a token that is fetched', async () => {
    const auth = { oauth: { clientId: 'me', clientSecret: `\${secret:s}` } };
    const { crib, server } = await secured([{ oauth: ['read', 'write'] }], { auth });
    server.answer((request, response) => {
      const body = request.url === '/token' ? { access_token: 'fetched', token_type: 'bearer' } : { at: request.url };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    expect(await tryCall(crib, 'pets_x')).toMatchObject({ ok: true });
    expect(server.requests.map(({ url }) => url)).toEqual(['/token', '/x']);
    expect(server.requests[1]?.headers.authorization).toBe('Bearer fetched');
    expect(runOf(toolIn(crib, 'pets_x')).auth).toMatchObject([{ clientCredentials: { scope: 'read write' } }]);
  });

  it('is met by a secret of its own name, or of the name of the source', async () => {
    for (const name of ['key', 'pets']) {
      const { crib, server } = await secured([{ key: [] }], {}, [name]);
      await call(crib, 'pets_x');
      expect(server.requests[0]?.headers['x-key']).toBe('hidden-value');
    }
  });

  it('that has no secret is not met: the call goes without, and the owner is told', async () => {
    const { crib, server } = await secured([{ key: [] }]);
    await call(crib, 'pets_x');
    expect(server.requests[0]?.headers['x-key']).toBeUndefined();
    expect(crib.warnings().join()).toContain('Its security scheme "key" has no secret, and calls go without');
  });

  it('is chosen among several by what there is', async () => {
    const { crib, server } = await secured([{}, { user: [] }, { key: [], token: [] }, { token: [] }], {
      auth: { token: 's' },
    });
    await call(crib, 'pets_x');
    expect(server.requests[0]?.headers.authorization).toBe('Bearer hidden-value');
  });

  it('may have to be met together with another', async () => {
    const { crib, server } = await secured([{ key: [], token: [] }], { auth: { key: 's', token: 's' } });
    await call(crib, 'pets_x');
    expect(server.requests[0]?.headers).toMatchObject({
      'x-key': 'hidden-value',
      authorization: 'Bearer hidden-value',
    });
  });

  it('that is not in the description is reported', async () => {
    const { crib } = await secured([{ key: [] }], { auth: { keys: 's' } });
    expect(crib.warnings().join()).toContain('auth names the scheme "keys", which it does not have');
  });

  it('never shows the secret, nor sends it to another host', async () => {
    const other = await echoServer();
    const { crib } = await secured([{ key: [] }], { auth: { key: 's' }, baseUrl: other.base });
    const result = await tryCall(crib, 'pets_x');
    expect(result).toMatchObject({ ok: false });
    expect(other.requests).toEqual([]);
    expect(JSON.stringify([result, crib.warnings(), crib.catalog.specs])).not.toContain('hidden-value');
  });
});

describe('headers of the owner', () => {
  it('go with each call, whatever stands in them, and callers cannot choose them', async () => {
    const server = await echoServer();
    const parameters = [{ name: 'X-Team', in: 'header', required: true, schema: { type: 'string' } }];
    const headers = { 'x-team': `{a} $\${b}` };
    const crib = await describedBy(operation({ parameters }), { baseUrl: server.base, headers });
    expect((await call(crib, 'pets_x')).headers['x-team']).toBe(`{a} \${b}`);
  });
});

describe('a description that would send secrets', () => {
  it('has texts, not templates: what looks like a secret or an argument in it is none', async () => {
    const server = await echoServer();
    vi.stubEnv('TOOLCRIB_TEST_API', 'hidden-value');
    const secrets = { s: { env: 'TOOLCRIB_TEST_API', hosts: [server.host] } };
    const trick = `\${secret:s}{a}`;
    const schema = { type: 'object', properties: { [trick]: { type: 'string', format: 'binary' } } };
    const crib = await describedBy(
      operation(
        {
          summary: trick,
          parameters: [{ name: trick, in: 'query', schema: { type: 'string' } }],
          requestBody: { required: true, content: { 'multipart/form-data': { schema } } },
          security: [{ trick: [] }],
        },
        {
          method: 'post',
          servers: [
            { url: `${server.base}/${trick}`, variables: { 'secret:s': { default: trick }, a: { default: trick } } },
          ],
          components: { securitySchemes: { trick: { type: 'apiKey', in: 'query', name: trick } } },
        },
      ),
      { auth: { trick: 's' } },
      { secrets },
    );
    const [parameter, file] = Object.keys(toolIn(crib, 'pets_x').input.properties as Fields);
    const found = await call(crib, 'pets_x', { [String(parameter)]: 'v', [String(file)]: 'AAAA' });
    expect(JSON.stringify(found)).not.toContain('hidden-value');
  });
});
