import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Crib } from '../../../../src/index.ts';
import { openapi } from '../../../../src/kinds/http/openapi/openapi-source.ts';
import { openStore } from '../../../../src/store/open-store.ts';
import { cribOf, folderWith, namesOf, nextChange, write } from '../../../crib/workshop.ts';
import { startServer, type TestServer } from '../../../sources/http-server.ts';
import { api, call, echoServer, type Fields, runOf, toolIn, tryCall } from './api.ts';

afterEach(() => vi.unstubAllEnvs());

const withOperations = (...names: readonly string[]) =>
  api(Object.fromEntries(names.map((name) => [`/${name}`, { get: { operationId: name } }])), {
    servers: [{ url: '/v1' }],
  });
const statusOf = (crib: Crib) => crib.sources().find(({ name }) => name === 'pets');

function folderOf(entry: Fields, more: Fields = {}): string {
  const executors = { http: { allowPrivate: ['127.0.0.1'] } };
  return folderWith({ 'toolcrib.yaml': JSON.stringify({ sources: { pets: entry }, executors, ...more }) });
}

const remote = (server: TestServer, entry: Fields = {}, more: Fields = {}) =>
  folderOf({ openapi: `${server.url}`, ...entry }, more);
const kept = (folder: string) => ({ store: { url: `sqlite:${join(folder, 'crib.db')}` } });

describe('a description in a file', () => {
  it('is watched: operations are added, removed and changed, and the others stay', async () => {
    const folder = folderOf({ openapi: './api.yaml', baseUrl: 'https://pets.test' });
    write(folder, { 'api.yaml': JSON.stringify(withOperations('a', 'b')) });
    const crib = await cribOf(folder);
    expect(namesOf(crib)).toEqual(['pets_a', 'pets_b']);
    const change = nextChange(crib);
    write(folder, { 'api.yaml': JSON.stringify(withOperations('b', 'c')) });
    expect(await change).toEqual({ added: ['pets_c'], removed: ['pets_a'], changed: [] });
  });

  it('that no longer parses leaves the tools unchanged', async () => {
    const folder = folderOf({ openapi: './api.json', baseUrl: 'https://pets.test' });
    write(folder, { 'api.json': JSON.stringify(withOperations('a')) });
    const crib = await cribOf(folder);
    write(folder, { 'api.json': '{ "openapi": ' });
    await crib.reload();
    expect(namesOf(crib)).toEqual(['pets_a']);
    expect(statusOf(crib)).toMatchObject({ state: 'down', reason: expect.stringContaining('it is not JSON') });
    write(folder, { 'api.json': JSON.stringify(withOperations('a')) });
    await crib.reload();
    expect(statusOf(crib)).toEqual({ name: 'pets', state: 'ready', toolCount: 1 });
  });

  it('that does not exist fails its source, and is read when it appears', async () => {
    const folder = folderOf({ openapi: './api.json', baseUrl: 'https://pets.test' });
    const crib = await cribOf(folder);
    expect(statusOf(crib)).toMatchObject({ state: 'failed', reason: expect.stringContaining('it does not exist') });
    const change = nextChange(crib);
    write(folder, { 'api.json': JSON.stringify(withOperations('a')) });
    expect(await change).toMatchObject({ added: ['pets_a'] });
  });

  it('is read again when new secrets are available to it', async () => {
    const server = await echoServer();
    const securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'X-Key' } };
    const entry = { openapi: './api.json', baseUrl: server.base };
    const folder = folderOf(entry);
    const described = { ...withOperations('a'), components: { securitySchemes }, security: [{ key: [] }] };
    write(folder, { 'api.json': JSON.stringify(described) });
    const crib = await cribOf(folder);
    vi.stubEnv('TOOLCRIB_TEST_API', 'hidden-value');
    const secrets = { key: { env: 'TOOLCRIB_TEST_API', hosts: ['127.0.0.1'] } };
    const executors = { http: { allowPrivate: ['127.0.0.1'] } };
    write(folder, { 'toolcrib.yaml': JSON.stringify({ sources: { pets: entry }, executors, secrets }) });
    await crib.reload();
    await call(crib, 'pets_a');
    expect(server.requests[0]?.headers['x-key']).toBe('hidden-value');
  });
});

describe('a description at an address', () => {
  it('is fetched under any name, and says where the API is', async () => {
    const server = await startServer();
    server.give(withOperations('a'), { 'content-type': 'text/plain' });
    const crib = await cribOf(remote(server));
    expect(runOf(toolIn(crib, 'pets_a')).baseUrl).toBe(`http://${server.host}/v1`);
    expect(toolIn(crib, 'pets_a').effects).toEqual({ openWorld: true });
  });

  it('is requested with its ETag, and its tools stay the same meanwhile', async () => {
    const server = await startServer();
    server.give(withOperations('a'), { etag: '"one"' });
    const crib = await cribOf(remote(server));
    server.answer((_, response) => void response.writeHead(304).end());
    expect(await crib.reload()).toEqual({ added: [], removed: [], changed: [] });
    expect(server.requests.at(-1)?.headers['if-none-match']).toBe('"one"');
    expect(statusOf(crib)).toEqual({ name: 'pets', state: 'ready', toolCount: 1 });
  });

  it('is polled', async () => {
    const server = await startServer();
    server.give(withOperations('a', 'b'));
    const crib = await cribOf(remote(server));
    server.give(withOperations('b', 'c'));
    expect(await crib.reload()).toEqual({ added: ['pets_c'], removed: ['pets_a'], changed: [] });
  });

  it.each([
    [
      'answers with an error',
      (server: TestServer) => server.answer((_, response) => void response.writeHead(500).end()),
    ],
    ['is gone', (server: TestServer) => server.answer((_, response) => void response.destroy())],
    ['answers with something else', (server: TestServer) => server.give({ swagger: '1.2' })],
  ])('keeps its tools callable while its server %s', async (_, breaks) => {
    const [server, other] = [await startServer(), await echoServer()];
    server.give(withOperations('a'));
    const crib = await cribOf(remote(server, { baseUrl: other.base }));
    breaks(server);
    await crib.reload();
    expect(statusOf(crib)).toMatchObject({ state: 'down', toolCount: 1 });
    expect(await call(crib, 'pets_a')).toMatchObject({ url: '/a' });
  });

  it('keeps its last known list over a restart; calls answer unavailable until it is back', async () => {
    const server = await startServer();
    server.give(withOperations('a', 'b'), { etag: '"one"' });
    const folder = remote(server, { exclude: 'b' });
    const tables = await openStore({ ...kept(folder).store, env: {} }); // a start that creates them may wait too long for the store to use it
    await tables.close();
    await (await cribOf(folder, kept(folder))).close();
    server.answer((_, response) => void response.destroy());
    const crib = await cribOf(folder, kept(folder));
    expect(namesOf(crib)).toEqual(['pets_a']);
    expect(statusOf(crib)).toMatchObject({ state: 'down', reason: expect.stringContaining('cannot be called') });
    expect(await tryCall(crib, 'pets_a')).toMatchObject({ ok: false, error: { code: 'unavailable' } });
    server.answer((request, response) => {
      const isList = request.url === '/specs';
      if (isList) expect(request.headers['if-none-match']).toBe('"one"');
      response.writeHead(isList ? 304 : 200, { 'content-type': 'application/json' }).end(isList ? undefined : '{}');
    });
    await crib.reload();
    expect(await tryCall(crib, 'pets_a')).toMatchObject({ ok: true });
    expect(statusOf(crib)).toEqual({ name: 'pets', state: 'ready', toolCount: 1 });
  });

  it('is requested with the headers of the operator, without secrets of other hosts', async () => {
    const server = await startServer();
    server.give(withOperations('a'));
    vi.stubEnv('TOOLCRIB_TEST_API', 'hidden-value');
    const secrets = {
      mine: { env: 'TOOLCRIB_TEST_API', hosts: [server.host] },
      other: { env: 'TOOLCRIB_TEST_API', hosts: ['other.test'] },
    };
    const headers = { 'x-mine': `\${secret:mine}`, 'x-other': `\${secret:other}`, 'x-team': 'acme' };
    await cribOf(remote(server, { headers }, { secrets }));
    expect(server.requests[0]?.headers).toMatchObject({ 'x-mine': 'hidden-value', 'x-team': 'acme' });
    expect(server.requests[0]?.headers).not.toHaveProperty('x-other');
  });

  it('cannot send a secret without hosts to a host that it names itself', async () => {
    const server = await startServer();
    server.give({ ...withOperations('a'), servers: [{ url: 'https://evil.test' }] });
    const crib = await cribOf(remote(server, { headers: { Authorization: 'Bearer written-down' } }));
    expect(namesOf(crib)).toEqual([]);
    expect(crib.warnings().join()).toMatch(/the description names the server evil\.test,.*set baseUrl/);
  });

  /** A crib of a remote description whose one operation needs a token, given out at an address that the description names. */
  async function withTokens(
    tokenUrl: (elsewhere: TestServer) => string,
    entry: (server: TestServer, elsewhere: TestServer) => Fields,
  ) {
    const [server, elsewhere] = [await startServer(), await startServer()];
    const oauth = { type: 'oauth2', flows: { clientCredentials: { tokenUrl: tokenUrl(elsewhere), scopes: {} } } };
    const answers = { access_token: 'fetched', token_type: 'bearer' };
    const description = {
      ...withOperations('a'),
      security: [{ oauth: [] }],
      components: { securitySchemes: { oauth } },
    };
    server.answer(
      ({ url }, response) => void response.end(JSON.stringify(url === '/specs' || url === '/' ? description : answers)),
    );
    elsewhere.give(answers);
    vi.stubEnv('TOOLCRIB_TEST_API', 'written-down');
    const secrets = { client: { env: 'TOOLCRIB_TEST_API', hosts: [server.host, elsewhere.host] } };
    const { clientSecret = 'written-down', tokenUrl: own, ...rest } = entry(server, elsewhere);
    const auth = { oauth: { clientId: 'me', clientSecret, ...(own !== undefined && { tokenUrl: own }) } };
    const crib = await cribOf(remote(server, { auth, ...rest }, { secrets }));
    const result = await tryCall(crib, 'pets_a').catch(() => undefined);
    return { crib, server, elsewhere, result };
  }

  it.each<[string, (elsewhere: TestServer) => string, (server: TestServer) => Fields]>([
    ['another port', ({ host }) => `http://${host}/token`, () => ({})],
    [
      'another port, where the owner says where the API is',
      ({ host }) => `http://${host}/token`,
      ({ host }) => ({ baseUrl: `http://${host}` }),
    ],
    ['another port without its scheme', ({ host }) => `//${host}/token`, () => ({})],
    ['another name of the host', ({ host }) => `http://localhost:${host.split(':')[1]}/token`, () => ({})],
    ['another host', () => 'https://evil.test/token', () => ({})],
  ])('cannot have a clientSecret without hosts sent to %s', async (_, tokenUrl, entry) => {
    const { crib, server, elsewhere } = await withTokens(tokenUrl, entry);
    expect(namesOf(crib)).toEqual([]);
    expect(crib.warnings().join()).toMatch(
      /the description names .* as its token endpoint, but clientSecret may not be sent there: set tokenUrl/,
    );
    expect(elsewhere.requests).toEqual([]);
    expect(server.requests.filter(({ url }) => url?.includes('token'))).toEqual([]);
  });

  it.each<[string, (elsewhere: TestServer) => string, (server: TestServer, elsewhere: TestServer) => Fields]>([
    ['bound to that host', ({ host }) => `http://${host}/token`, () => ({ clientSecret: `\${secret:client}` })],
    [
      'sent where the owner says',
      () => 'https://evil.test/token',
      (_, { host }) => ({ tokenUrl: `http://${host}/token` }),
    ],
  ])('can have a clientSecret that is %s', async (_, tokenUrl, entry) => {
    const { elsewhere, result } = await withTokens(tokenUrl, entry);
    expect(result).toMatchObject({ ok: true });
    expect(elsewhere.requests).toHaveLength(1);
  });

  it('can have a clientSecret without hosts sent to its own host', async () => {
    const { server, result } = await withTokens(
      () => '/token',
      () => ({}),
    );
    expect(result).toMatchObject({ ok: true });
    expect(server.requests.map(({ url }) => url)).toContain('/token');
  });

  it('may be on a private network, but not after a redirect', async () => {
    const [server, inner] = [await startServer(), await startServer()];
    inner.give(withOperations('a'));
    server.answer((_, response) => void response.writeHead(302, { location: inner.url }).end());
    const crib = await cribOf(remote(server));
    expect(statusOf(crib)).toMatchObject({ state: 'failed' });
    expect(inner.requests).toEqual([]);
  });

  it('ends with the crib while it is fetched', async () => {
    const server = await startServer(() => {});
    const source = openapi({ name: 'pets', description: server.url });
    const closing = new AbortController();
    const asked = server.nextRequest();
    const starting = source.start({
      clock: { now: () => 0, setTimer: () => () => {} },
      services: {},
      signal: closing.signal,
      warn() {},
    });
    await asked;
    closing.abort();
    const live = await starting;
    expect(live.specs()).toEqual([]);
    await live.close();
  });
});

describe('openapi()', () => {
  it.each([[undefined], [7], ['']])('requires a file or an address, not %s', (description) => {
    const given = { name: 'pets', description } as { name: string; description: string }; // what careless code hands in
    expect(() => openapi(given)).toThrow('description must be a file or a URL');
  });
});
