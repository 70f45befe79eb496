import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Crib } from '../../../src/index.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { startSessions } from './http-servers.ts';
import { cribWith, saidOf, serverOf, stateOf, untilChanged, watchPresence } from './upstream.ts';

const namesOf = (crib: Crib) => crib.catalog.specs.map(({ name }) => name);
const storeIn = (folder: string) => ({ store: { url: `sqlite:${join(folder, 'crib.db')}` } });

/** A folder whose store has its tables: a start that creates them may wait too long for the store to use it. */
async function folderWithStore(): Promise<string> {
  const folder = temporaryFolder();
  const store = await openStore({ ...storeIn(folder).store, env: {} });
  await store.close();
  return folder;
}

async function start(sources: object, folder: string) {
  const crib = await cribWith(sources, { ...storeIn(folder), watch: false });
  return { crib, names: namesOf(crib) };
}

describe('the last known list of a server', () => {
  it('is enough for a start: no server starts until a caller needs it', async () => {
    const folder = await folderWithStore();
    const presence = await watchPresence();
    const sources = { r: { mcp: serverOf('rough.ts', [], presence) } };
    const first = await start(sources, folder);
    await first.crib.close();
    await presence.left();
    await presence.arrived(1);
    const second = await start(sources, folder);
    expect(second.names).toEqual(first.names);
    expect(stateOf(second.crib, 'r')).toEqual({ name: 'r', state: 'ready', toolCount: 9 });
    expect(second.crib.get('r_work')).toEqual(first.crib.get('r_work'));
    expect(presence.pids()).toEqual([]);
    expect(saidOf(await (await second.crib.open()).call('r_work'))).toBe('work done');
    await presence.arrived(2);
  });

  it('shows a dead server as registered, not reachable; its calls answer unavailable', async () => {
    const folder = await folderWithStore();
    const server = await startSessions();
    const sources = { r: { mcp: { url: server.url } } };
    await (await start(sources, folder)).crib.close();
    await server.stop();
    const { crib, names } = await start(sources, folder);
    expect(names).toContain('r_work');
    const chest = await crib.open();
    expect(await chest.call('r_work')).toMatchObject({ error: { code: 'unavailable', retryable: true } });
    expect(stateOf(crib, 'r')).toMatchObject({ state: 'down', toolCount: 4 });
    await server.start();
    server.sessions.clear();
    expect(await chest.call('r_work', {}, { retries: 5 })).toMatchObject({ ok: true });
    await crib.reload();
    expect(stateOf(crib, 'r')).toEqual({ name: 'r', state: 'ready', toolCount: 4 });
  });

  it('is corrected by the first connection', async () => {
    const folder = await folderWithStore();
    const tools = ['work', 'old'];
    const server = await startSessions(tools);
    const sources = { r: { mcp: { url: server.url } } };
    await (await start(sources, folder)).crib.close();
    tools.splice(1, 1, 'new');
    const { crib, names } = await start(sources, folder);
    expect(names).toEqual(['r_work', 'r_old']);
    await (await crib.open()).call('r_work');
    await untilChanged(crib, () => namesOf(crib).includes('r_new'));
    await crib.close();
    expect((await start(sources, folder)).names).toEqual(['r_work', 'r_new']);
  });

  it('is used only for the server it came from', async () => {
    const folder = await folderWithStore();
    await (await start({ r: { mcp: serverOf('rough.ts') } }, folder)).crib.close();
    const { crib, names } = await start({ r: { mcp: serverOf('rough.ts', ['exits']) } }, folder);
    expect(names).toEqual([]);
    expect(stateOf(crib, 'r')).toMatchObject({ state: 'failed' });
  });

  it('is validated: another process may have written it', async () => {
    const folder = await folderWithStore();
    const sources = { r: { mcp: serverOf('rough.ts') } };
    const { crib } = await start(sources, folder);
    await crib.store?.status();
    await crib.close();
    const again = await start(sources, folder);
    const list = await again.crib.store?.lists.get('r');
    const forged = [{ name: 7 }, { name: 'x' }, { name: 'fine', inputSchema: { type: 'object' } }];
    await again.crib.store?.lists.put('r', { ...list, specs: forged, hash: 'x', at: 0 } as never);
    await again.crib.close();
    expect((await start(sources, folder)).names).toEqual(['r_fine']);
  });

  it('contains neither addresses nor secrets', async () => {
    const folder = await folderWithStore();
    const server = await startSessions();
    process.env.LIST_KEY = 'very-secret-key';
    try {
      const rest = { secrets: { key: { env: 'LIST_KEY', hosts: ['127.0.0.1'] } } };
      // biome-ignore lint/suspicious/noTemplateCurlyInString: so are secrets written
      const mcp = { url: server.url, headers: { 'x-key': '${secret:key}', 'x-plain': 'plain-value' } };
      const crib = await cribWith({ r: { mcp } }, { ...storeIn(folder), rest, watch: false });
      expect(server.requests[0]?.headers).toMatchObject({ 'x-key': 'very-secret-key', 'x-plain': 'plain-value' });
      await crib.close();
      const written = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
      expect(written.join('')).toContain('"work"');
      for (const hidden of ['very-secret-key', 'plain-value', server.host])
        expect(written.join('')).not.toContain(hidden);
    } finally {
      delete process.env.LIST_KEY;
    }
  });
});

describe('a list that is not stored', () => {
  it('is fetched before createCrib resolves, at least two servers at once', async () => {
    const presence = await watchPresence();
    const hanging = { mcp: serverOf('rough.ts', ['hangs'], presence), initTimeoutMs: 3000 };
    const starting = cribWith({ a: hanging, b: hanging, r: { mcp: serverOf('rough.ts') } });
    await presence.arrived(2);
    expect(presence.pids()).toHaveLength(2); // one after the other, the first would be gone
    const crib = await starting;
    expect(namesOf(crib)).toContain('r_work');
    for (const name of ['a', 'b']) expect(stateOf(crib, name)).toMatchObject({ state: 'failed' });
  });

  it('is fetched in the background on request', async () => {
    const crib = await cribWith({ r: { mcp: serverOf('rough.ts') } }, { background: true });
    expect(stateOf(crib, 'r')).toEqual({ name: 'r', state: 'starting', toolCount: 0 });
    await untilChanged(crib, () => namesOf(crib).includes('r_work'));
    expect(stateOf(crib, 'r')).toMatchObject({ state: 'ready' });
  });
});
