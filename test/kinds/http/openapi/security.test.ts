import { afterEach, describe, expect, it, vi } from 'vitest';
import { cribOf, folderWith, namesOf } from '../../../crib/workshop.ts';
import { startEncrypted } from '../../broken-encryption.ts';
import { api, call, describedBy, echoServer, type Fields, operation, runOf, toolIn, tryCall } from './api.ts';

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
  ])('is met by the secret that the operator maps it to: %s', async (scheme, headers) => {
    const { crib, server } = await secured([{ [scheme]: [] }], { auth: { [scheme]: 's' } });
    await call(crib, 'pets_x');
    expect(server.requests[0]?.headers).toMatchObject(headers);
  });

  it('may be in the query', async () => {
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

  it('is met by a fetched token', async () => {
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

  it('without a secret is not met: the call is sent without it, and the operator is told', async () => {
    const { crib, server } = await secured([{ key: [] }]);
    await call(crib, 'pets_x');
    expect(server.requests[0]?.headers['x-key']).toBeUndefined();
    expect(crib.warnings().join()).toContain(
      'Its security scheme "key" has no secret, so calls are sent without a credential',
    );
  });

  it('is chosen among several by the available secrets', async () => {
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
    expect(crib.warnings().join()).toContain(
      'auth names the security scheme "keys", which the description does not define',
    );
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

describe('headers of the operator', () => {
  it('are sent with each call, whatever they contain, and callers cannot choose them', async () => {
    const server = await echoServer();
    const parameters = [{ name: 'X-Team', in: 'header', required: true, schema: { type: 'string' } }];
    const headers = { 'x-team': `{a} $\${b}` };
    const crib = await describedBy(operation({ parameters }), { baseUrl: server.base, headers });
    expect((await call(crib, 'pets_x')).headers['x-team']).toBe(`{a} \${b}`);
  });
});

describe('a description that would send secrets', () => {
  it('has texts, not templates: a text like a secret or an argument is plain text', async () => {
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

describe('a description that was fetched over https', () => {
  /** A crib of a description over https; `place` puts the server that it names somewhere into it. */
  async function overHttps(place: (host: string) => Fields, entry: Fields | ((host: string) => Fields)) {
    let description: Fields = {};
    const { host } = await startEncrypted((_, response) => void response.end(JSON.stringify(description)));
    const named = place(host);
    const get = { operationId: 'x', security: [{ key: [] }, { user: [] }], ...(named.operation as Fields) };
    description = api(
      { '/x': { get, ...(named.path as Fields) } },
      { servers: [{ url: '/' }], components: { securitySchemes: SCHEMES }, ...(named.root as Fields) },
    );
    vi.stubEnv('TOOLCRIB_TEST_API', 'hidden-value');
    const pets = { openapi: `https://${host}/api.json`, ...(typeof entry === 'function' ? entry(host) : entry) };
    const secrets = { s: { env: 'TOOLCRIB_TEST_API', hosts: [host, 'other.test'] } };
    return cribOf(folderWith({ 'toolcrib.yaml': JSON.stringify({ sources: { pets }, secrets }) }));
  }

  const PLAIN: readonly (readonly [string, (host: string) => Fields])[] = [
    ['for all operations', (host) => ({ root: { servers: [{ url: `http://${host}` }] } })],
    ['for a path', (host) => ({ path: { servers: [{ url: `http://${host}/v1` }] } })],
    ['for an operation', (host) => ({ operation: { servers: [{ url: `http://${host}` }] } })],
    ['in capitals', (host) => ({ root: { servers: [{ url: `HTTP://${host}` }] } })],
    [
      'by a variable',
      (host) => ({
        root: { servers: [{ url: `{scheme}://${host}`, variables: { scheme: { default: 'http' } } }] },
      }),
    ],
  ];
  const SENT: readonly (readonly [string, Fields])[] = [
    ['a header that is written down', { headers: { Authorization: 'Bearer written-down' } }],
    ['a header with a secret of the host', { headers: { Authorization: `Bearer \${secret:s}` } }],
    ['a key that is a secret of the host', { auth: { key: 's' } }],
    ['a password that is written down', { auth: { user: { username: 'me', password: 'written-down' } } }],
  ];

  it.each(PLAIN.flatMap(([where, place]) => SENT.map(([what, entry]) => [where, what, place, entry] as const)))(
    'cannot name plain http %s to get %s',
    async (_where, _what, place, entry) => {
      const crib = await overHttps(place, entry);
      expect(namesOf(crib)).toEqual([]);
      expect(crib.warnings().join()).toMatch(
        /its server is http:\/\/localhost.*came over https.*could be read on the way: set baseUrl/,
      );
    },
  );

  it('cannot name plain http of another host that a secret is bound to', async () => {
    const crib = await overHttps(() => ({ root: { servers: [{ url: 'http://other.test' }] } }), { auth: { key: 's' } });
    expect(namesOf(crib)).toEqual([]);
  });

  const plain = (host: string): Fields => ({ root: { servers: [{ url: `http://${host}` }] } });
  it.each<[string, (host: string) => Fields, Fields | ((host: string) => Fields)]>([
    [
      'its own server over https',
      (host) => ({ root: { servers: [{ url: `https://${host}` }] } }),
      { auth: { key: 's' } },
    ],
    ['a path of its own server', () => ({}), { auth: { key: 's' } }],
    ['plain http where nothing is sent that shows who calls', plain, {}],
    ['plain http where the owner says so', plain, (host) => ({ auth: { key: 's' }, baseUrl: `http://${host}` })],
  ])('can name %s', async (_, place, entry) => {
    expect(namesOf(await overHttps(place, entry))).toEqual(['pets_x']);
  });
});
