// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are variables written
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { done, type Executor } from '../../src/index.ts';
import { startServer, type TestServer } from '../sources/http-server.ts';
import { cribOf, folderWith, namesOf, write } from './workshop.ts';

const HTTP = { kind: 'http', method: 'GET', url: 'https://example.com' };
const tool = (name: string, kind = 'http') => ({
  name,
  description: '',
  tags: ['theirs'],
  run: { ...HTTP, kind },
});
const config = (server: TestServer, more = '') =>
  `sources: { team: { http: "${server.url}"${more} } }\nstore: { url: "sqlite:crib.db" }\n`;
const storeOf = (folder: string) => ({ store: { url: `sqlite:${join(folder, 'crib.db')}` } });

/** An executor for a kind that a list may bring, and how often it ran. */
function counting(): Executor & { runs: number } {
  return {
    kind: 'counted',
    runs: 0,
    runSchema: { type: 'object', additionalProperties: false, properties: { kind: {}, method: {}, url: {} } },
    async execute() {
      this.runs++;
      return done('ran');
    },
  };
}

async function firstStart(folder: string, executors: readonly Executor[] = []) {
  const crib = await cribOf(folder, { ...storeOf(folder), executors });
  const names = namesOf(crib);
  await crib.close();
  return names;
}

describe('a source that fails to list', () => {
  it('keeps its last known list over a restart; calls answer unavailable until it is back', async () => {
    const server = await startServer();
    server.give({ tools: [tool('kept', 'counted')] });
    const folder = folderWith({ 'toolcrib.yaml': config(server, ', kinds: [counted]') });
    expect(await firstStart(folder, [counting()])).toEqual(['kept']);
    server.answer((_, response) => void response.destroy());
    const executor = counting();
    const crib = await cribOf(folder, { ...storeOf(folder), executors: [executor] });
    const chest = await crib.open();
    expect(chest.list().map((spec) => spec.name)).toEqual(['kept']);
    expect(crib.sources()).toContainEqual({
      name: 'team',
      state: 'down',
      toolCount: 1,
      reason: expect.stringContaining('closed the connection'),
    });
    expect(await chest.call('kept')).toMatchObject({
      error: { code: 'unavailable', message: '"kept" cannot be called while its source "team" is not available.' },
    });
    expect(executor.runs).toBe(0);
    server.give({ tools: [tool('kept', 'counted')] });
    expect(await crib.reload()).toEqual({ added: [], removed: [], changed: [] });
    expect(await chest.call('kept')).toMatchObject({ ok: true });
    expect(crib.sources()).toContainEqual({ name: 'team', state: 'ready', toolCount: 1 });
  });

  it('does not use the list of another address', async () => {
    const [server, other] = [await startServer(), await startServer()];
    server.give({ tools: [tool('old')] }, { etag: '"one"' });
    const folder = folderWith({ 'toolcrib.yaml': config(server) });
    await firstStart(folder);
    write(folder, { 'toolcrib.yaml': config(other) });
    other.answer((_, response) => void response.writeHead(304).end());
    expect(await firstStart(folder)).toEqual([]);
    expect(other.requests[0]?.headers).not.toHaveProperty('if-none-match');
  });

  it('checks a stored list like a fetched one', async () => {
    const server = await startServer();
    server.give({
      tools: [
        tool('fine'),
        { ...tool('danger'), run: { kind: 'agent', host: 'helper' } },
        { ...tool('secret'), run: { ...HTTP, body: '${secret:s}' } },
      ],
    });
    const secrets = 'secrets: { s: { env: X } }\n';
    const folder = folderWith({
      'toolcrib.yaml': secrets + config(server, ', kinds: [http, agent], trust: true, secrets: [s]'),
    });
    expect(await firstStart(folder)).toEqual(['fine', 'danger', 'secret']);
    await server.close();
    write(folder, { 'toolcrib.yaml': config(server) });
    const crib = await cribOf(folder, storeOf(folder));
    expect(namesOf(crib)).toEqual(['fine']);
    expect(crib.get('fine')).toMatchObject({ tags: [] });
    expect(crib.warnings().join('\n')).toContain('its source allows only http');
  });

  it('leaves neither its address nor a secret in the store', async () => {
    const server = await startServer();
    server.give({ tools: [tool('kept')] });
    process.env.LIST_KEY = 'very-secret-key';
    const address = `${server.url}?key=\${LIST_KEY}&other=\${secret:list}`;
    const folder = folderWith({
      'toolcrib.yaml': `
sources: { team: { http: "${address}", headers: { Authorization: "Bearer \${secret:list}" } } }
secrets: { list: { env: LIST_KEY, hosts: ["127.0.0.1"] } }
`,
    });
    try {
      expect(await firstStart(folder)).toEqual(['kept']);
      expect(server.requests[0]).toMatchObject({ url: '/specs?key=very-secret-key&other=very-secret-key' });
      const written = readdirSync(folder).filter((name) => name.startsWith('crib.db'));
      const text = written.map((name) => readFileSync(join(folder, name), 'latin1')).join('');
      expect(text).toContain('toolcrib_lists');
      expect(text).toContain('"kept"');
      expect(text).not.toContain('very-secret-key');
    } finally {
      delete process.env.LIST_KEY;
    }
  });

  it('lists its tools even if nothing can be stored', async () => {
    const server = await startServer();
    server.give({ tools: [tool('a')] });
    const folder = folderWith({ 'toolcrib.yaml': `sources: { team: { http: "${server.url}" } }\n`, 'crib.db/x': '' });
    const crib = await cribOf(folder, storeOf(folder));
    expect(namesOf(crib)).toEqual(['a']);
    expect(crib.sources()).toContainEqual({ name: 'team', state: 'ready', toolCount: 1 });
    expect(crib.warnings().join('\n')).toMatch(/team: the last list cannot be read from the store: .*is a folder/);
  });
});

describe('the store', () => {
  it('is not opened if no source needs it', async () => {
    const folder = folderWith({
      'toolcrib.yaml': 'sources: { local: { files: ./tools } }\n',
      'tools/a.json': JSON.stringify({ tools: [tool('a')] }),
    });
    expect(await firstStart(folder)).toEqual(['a']);
    expect(existsSync(join(folder, 'crib.db'))).toBe(false);
  });
});
