// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are secrets written
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import type { Crib } from '../../src/index.ts';
import { api, echoServer, type Fields, tryCall } from '../kinds/http/openapi/api.ts';
import { startServer } from '../sources/http-server.ts';
import { cribOf, folderWith, write } from './workshop.ts';

const HIDDEN = 'hidden-value';
beforeEach(() => void vi.stubEnv('TOOLCRIB_TEST_GRANT', HIDDEN));
afterEach(() => vi.unstubAllEnvs());

type EchoServer = Awaited<ReturnType<typeof echoServer>>;

const settingsFor = (victim: EchoServer) => ({
  secrets: {
    victim: { env: 'TOOLCRIB_TEST_GRANT', hosts: [victim.host] },
    other: { env: 'TOOLCRIB_TEST_GRANT', hosts: [victim.host] },
  },
  executors: { http: { allowPrivate: ['127.0.0.1'] } },
});
const warningsOf = (crib: Crib) => crib.warnings().join('\n');

/** Every place of a run that takes a secret. */
const PLACES: Readonly<Record<string, (text: string) => Fields>> = {
  header: (text) => ({ headers: { 'x-key': text } }),
  query: (text) => ({ query: { key: text } }),
  cookie: (text) => ({ cookies: { sid: text } }),
  body: (text) => ({ method: 'POST', body: { deep: [{ er: text }] } }),
  bearer: (text) => ({ auth: { bearer: text } }),
  basic: (text) => ({ auth: [{ basic: { username: 'me', password: text } }] }),
  apiKey: (text) => ({ auth: { apiKey: { in: 'header', name: 'x-key', value: text } } }),
};
const SPELLINGS = ['${secret:victim}', 'a ${secret: victim } b', '${secret:victim} ${', '$$${ } ${secret:victim}'];

const toolWith = (run: Fields) => ({ name: 't', description: '', run: { kind: 'http', method: 'GET', ...run } });

/** The sources of remote specs. */
const LISTS: Readonly<Record<string, (entry: Fields, settings: Fields, more: Fields) => Promise<Crib>>> = {
  async http(entry, settings, more) {
    const server = await startServer();
    server.give({ tools: [entry] });
    const config = { ...settings, sources: { team: { http: server.url, ...more } } };
    return cribOf(folderWith({ 'toolcrib.yaml': JSON.stringify(config) }));
  },
  async database(entry, settings, more) {
    const config = { ...settings, sources: { team: { database: true, ...more } } };
    const crib = await cribOf(folderWith({ 'toolcrib.yaml': JSON.stringify(config) }));
    await crib.store?.specs.put(entry as JsonObject, 'ann'); // plain data
    await crib.reload();
    return crib;
  },
};

it('a tool whose name, tag or argument contains the value of a secret is left out, and the value is told nowhere, also not by a later start that cannot read the secret', async () => {
  const server = await startServer();
  const honest = toolWith({ url: 'https://x.test' });
  const input = { type: 'object', properties: { [HIDDEN]: { type: 'string' } } };
  server.give({
    tools: [
      { ...honest, name: `t_${HIDDEN}` },
      { ...honest, name: 'tagged', tags: [HIDDEN] },
      { ...honest, name: 'asking', input },
      { ...honest, description: `uses ${HIDDEN}` },
    ],
  });
  const secrets = { victim: { env: 'TOOLCRIB_TEST_GRANT', hosts: [new URL(server.url).hostname] } };
  const team = { http: server.url, trust: true, headers: { authorization: 'Bearer ${secret:victim}' } };
  const folder = folderWith({ 'toolcrib.yaml': JSON.stringify({ secrets, sources: { team } }) });
  const store = { url: `sqlite:${folder}/crib.db` };
  const crib = await cribOf(folder, { store });
  const namesOf = ({ catalog }: Crib) =>
    catalog.specs.filter(({ source }) => source === 'team').map(({ name }) => name);
  expect(namesOf(crib)).toEqual(['t']);
  expect(warningsOf(crib)).toContain('has the value of a secret in its name');
  expect(JSON.stringify([crib.warnings(), crib.catalog.specs.map(({ name }) => name)])).not.toContain(HIDDEN);
  await crib.close();

  vi.stubEnv('TOOLCRIB_TEST_GRANT', undefined);
  const later = await cribOf(folder, { store });
  expect(namesOf(later)).toContain('t');
  expect(JSON.stringify([later.warnings(), later.catalog.specs])).not.toContain(HIDDEN);
});

describe.each(Object.keys(LISTS))('a tool of a remote list (%s) that names a secret', (way) => {
  const listed = (entry: Fields, settings: Fields, more: Fields = {}) => {
    const make = LISTS[way];
    if (make === undefined) throw new Error(way);
    return make(entry, settings, more);
  };

  it.each(Object.keys(PLACES))(
    'in its %s is left out unless the operator granted the secret to the source',
    async (place) => {
      const victim = await echoServer();
      for (const spelling of SPELLINGS) {
        const entry = toolWith({ url: `${victim.base}/`, ...PLACES[place]?.(spelling) });
        for (const more of [{}, { secrets: ['other'] }, { trust: true }]) {
          const crib = await listed(entry, settingsFor(victim), more);
          expect([spelling, crib.get('t')]).toEqual([spelling, undefined]);
          expect(warningsOf(crib)).toContain(
            'names the secret "victim", which tools of the source "team" may not use: add secrets: [victim] to that source to allow it.',
          );
        }
      }
      expect(victim.requests).toEqual([]);
      const entry = toolWith({ url: `${victim.base}/`, ...PLACES[place]?.('${secret:victim}') });
      const crib = await listed(entry, settingsFor(victim), { secrets: ['victim'] });
      expect(await tryCall(crib, 't')).toMatchObject({ ok: true });
      expect(victim.requests).toHaveLength(1);
      expect(warningsOf(crib)).toBe('');
    },
  );

  it('in the format of older lists is left out, too', async () => {
    const victim = await echoServer();
    const implementation_config = { url: `${victim.base}/`, headers: { 'x-key': '${secret:victim}' } };
    const entry = { name: 't', description: '', tool_type: 'http', implementation_config };
    const crib = await listed(entry, settingsFor(victim));
    expect(crib.get('t')).toBeUndefined();
    expect(warningsOf(crib)).toContain('add secrets: [victim] to that source');
  });

  it('in the environment of a program is left out, too', async () => {
    const run = { kind: 'shell', command: ['env'], env: { KEY: '${secret:victim}' } };
    const settings = { secrets: { victim: { env: 'TOOLCRIB_TEST_GRANT' } } };
    const crib = await listed({ name: 't', description: '', run }, settings, { kinds: ['shell'] });
    expect(crib.get('t')).toBeUndefined();
    expect(warningsOf(crib)).toContain('add secrets: [victim] to that source');
  });

  it('in an escaped text does not count', async () => {
    const victim = await echoServer();
    const entry = toolWith({ url: `${victim.base}/`, method: 'POST', body: 'write $${secret:victim}' });
    const crib = await listed(entry, settingsFor(victim));
    expect([warningsOf(crib), crib.get('t')?.name]).toEqual(['', 't']);
  });
});

describe('the key secrets of a source', () => {
  it('names declared secrets: another name is reported', async () => {
    const server = await startServer();
    server.give({ tools: [] });
    const sources = { team: { http: server.url, secrets: ['gihtub'] } };
    const secrets = { github: { env: 'TOOLCRIB_TEST_GRANT' } };
    const crib = await cribOf(folderWith({ 'toolcrib.yaml': JSON.stringify({ sources, secrets }) }));
    expect(warningsOf(crib)).toContain('names the secret "gihtub", which is not declared under secrets.');
  });

  it('is refused on a source of a kind that would ignore it', async () => {
    for (const entry of [{ openapi: './api.json' }, { files: './x.json' }, { mcp: { command: 'true' } }]) {
      const sources = { team: { ...entry, secrets: ['s'] } };
      const folder = folderWith({ 'toolcrib.yaml': JSON.stringify({ sources, secrets: { s: { env: 'X' } } }) });
      const crib = await cribOf(folder);
      expect(warningsOf(crib)).toContain('sources.team.secrets is not known');
      expect(crib.catalog.specs).toEqual([]);
    }
  });

  it('takes effect while the crib runs, and so does its removal', async () => {
    const victim = await echoServer();
    const server = await startServer();
    server.give({ tools: [toolWith({ url: `${victim.base}/`, headers: { 'x-key': '${secret:victim}' } })] });
    const text = (more: Fields) =>
      JSON.stringify({ ...settingsFor(victim), sources: { team: { http: server.url, ...more } } });
    const folder = folderWith({ 'toolcrib.yaml': text({}) });
    const crib = await cribOf(folder, { watch: false });
    for (const [more, name] of [
      [{ secrets: 'victim' }, 't'],
      [{}, undefined],
    ] as const) {
      write(folder, { 'toolcrib.yaml': text(more) });
      await crib.reload();
      expect(crib.get('t')?.name).toBe(name);
    }
  });
});

describe('an OpenAPI description', () => {
  const SCHEMES = {
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    inQuery: { type: 'apiKey', in: 'query', name: 'key' },
    inCookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
    token: { type: 'http', scheme: 'bearer' },
    user: { type: 'http', scheme: 'basic' },
    oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: '/token', scopes: {} } } },
    openid: { type: 'openIdConnect', openIdConnectUrl: 'https://id.test' },
  };
  const described = (victim: EchoServer, scheme: string) =>
    api(
      { '/x': { get: { operationId: 'x', security: [{ [scheme]: [] }] } } },
      { servers: [{ url: victim.base }], components: { securitySchemes: SCHEMES } },
    );

  it.each(Object.keys(SCHEMES))(
    'at an address gets no secret by a name, the one of its scheme %s or of its source',
    async (scheme) => {
      const victim = await echoServer();
      const server = await startServer();
      server.give(described(victim, scheme));
      const secret = { env: 'TOOLCRIB_TEST_GRANT', hosts: [victim.host, server.host] };
      const settings = { ...settingsFor(victim), secrets: { [scheme]: secret, pets: secret } };
      const crib = await cribOf(
        folderWith({ 'toolcrib.yaml': JSON.stringify({ ...settings, sources: { pets: { openapi: server.url } } }) }),
      );
      const result = await tryCall(crib, 'pets_x');
      expect(result).toMatchObject({ ok: true });
      const asked = victim.requests.map(({ url, headers }) => [url, headers]);
      expect(JSON.stringify(asked)).not.toContain(HIDDEN);
      expect(victim.requests[0]?.headers).not.toHaveProperty('authorization');
      expect(warningsOf(crib)).toContain(
        `Its security scheme "${scheme}" has no secret, so calls are sent without a credential. Set auth: { ${scheme}: SECRET }.`,
      );
    },
  );

  it('at an address gets the secret that the operator names under auth', async () => {
    const victim = await echoServer();
    const server = await startServer();
    server.give(described(victim, 'key'));
    const sources = { pets: { openapi: server.url, auth: { key: 'victim' } } };
    const crib = await cribOf(folderWith({ 'toolcrib.yaml': JSON.stringify({ ...settingsFor(victim), sources }) }));
    await tryCall(crib, 'pets_x');
    expect(victim.requests[0]?.headers).toMatchObject({ 'x-key': HIDDEN });
  });
});
