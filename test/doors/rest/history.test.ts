import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { folderWith } from '../../crib/workshop.ts';
import { execute, serve } from './served.ts';

const toolOf = (description: string, max: number) => ({
  name: 'pay',
  description,
  input: { type: 'object', properties: { amount: { type: 'number', maximum: max } } },
  run: () => 1,
});

describe('GET /api/tools/{name}/history', () => {
  it('has the definitions as the server saw them, with their changes and what they touch', async () => {
    const { ask, crib, token } = await serve({ access: true });
    const { key, info } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    await crib.keys.create({ name: 'reader', roles: ['reader'] }, 'test');
    const stop = crib.server.definitions.watch();
    const look = async () => (await ask('/api/tools/pay/history', { token })).json;
    crib.register(toolOf('Pay', 100));
    expect((await look()).versions).toEqual([expect.objectContaining({ current: true, changes: [] })]);
    await execute(ask, 'pay', { amount: 1 }, {}, key);
    crib.unregister('pay');
    crib.register(toolOf('Pay more', 10));
    const { versions, touches } = await look();
    expect(versions.map(({ current }: { current: boolean }) => current)).toEqual([true, false]);
    expect(versions[0].changes).toEqual([
      { path: '/description', kind: 'words', says: 'description has other words', before: 'Pay', after: 'Pay more' },
      {
        path: '/inputSchema/properties/amount/maximum',
        kind: 'narrowed',
        says: 'inputSchema.amount.maximum allows less than before',
        before: 100,
        after: 10,
      },
    ]);
    expect(touches).toEqual({
      profiles: ['usual'],
      keys: [{ id: info.id, name: 'ci', caller: 'key:ci' }],
      calls7Days: 1,
      callers7Days: ['key:ci'],
    });
    crib.unregister('pay');
    expect((await look()).versions.map(({ current }: { current: boolean }) => current)).toEqual([false, false]);
    stop();
    expect((await ask('/api/tools/never_seen/history', { token })).status).toBe(404);
    expect((await ask('/api/tools/%00/history', { token })).status).toBe(404);
  });

  it('has definitions in which a number is the value of a secret, and hides it', async () => {
    vi.stubEnv('TOOLCRIB_TEST_PIN', '83927461');
    const { ask, crib, token } = await serve({ config: 'secrets: { pin: { env: TOOLCRIB_TEST_PIN } }\n' });
    crib.register(toolOf('Pay', 83_927_461));
    const { json } = await ask('/api/tools/pay/history', { token });
    expect(JSON.stringify(json.versions)).toContain('[secret pin]');
    expect(JSON.stringify(json.versions)).not.toContain('83927461');
  });

  it('records all tools in the background, also those of a later list', async () => {
    const { crib } = await serve();
    const stop = crib.server.definitions.watch();
    const seen = async () => (await crib.store?.definitions.seen())?.map(({ tool }) => tool) ?? [];
    await expect.poll(seen).toContain('add');
    crib.register(toolOf('Pay', 1));
    await expect.poll(seen).toContain('pay');
    stop();
  });
});

describe('GET /api/sources/{id}/changes', () => {
  it('has the states of a source and the tools it added, changed and removed, newest first and bounded', async () => {
    const folder = folderWith({
      'toolcrib.yaml': 'sources: { own: { files: ./own.json }, gone: { files: ./gone.json } }\n',
    });
    const write = (tools: readonly object[]) => writeFileSync(join(folder, 'own.json'), JSON.stringify(tools));
    const spec = (name: string, description = 'Reads') => ({
      name,
      description,
      run: { kind: 'http', method: 'GET', url: 'https://x.test' },
    });
    write([spec('one'), spec('two')]);
    const { ask, crib, token } = await serve({ folder });
    const look = async () => (await ask('/api/sources/own/changes', { token })).json;
    expect(await look()).toEqual({ changes: [] });
    const stop = crib.server.sourceLog.watch();
    write([spec('one', 'Reads more'), spec('three')]);
    await crib.server.reloadSource('own');
    const at = expect.any(String);
    await expect
      .poll(async () => (await look()).changes)
      .toEqual([{ at, added: ['three'], removed: ['two'], changed: ['one'] }]);
    writeFileSync(join(folder, 'own.json'), '{ broken');
    await crib.server.reloadSource('own');
    await expect
      .poll(async () => (await look()).changes[0])
      .toMatchObject({ state: 'down', reason: expect.stringContaining('own.json') });
    write(Array.from({ length: 60 }, (_, number) => spec(`tool_${number}`)));
    await crib.server.reloadSource('own');
    const ofTools = async () => (await look()).changes.find(({ added }: { added?: unknown }) => added !== undefined);
    await expect.poll(async () => (await ofTools()).added).toHaveLength(50);
    expect(await ofTools()).toMatchObject({ removed: expect.arrayContaining(['one', 'three']), count: 62 });
    for (let turn = 0; turn < 60; turn++) {
      write([spec('one', `Reads ${turn}`)]);
      await crib.server.reloadSource('own');
    }
    await expect.poll(async () => (await look()).changes).toHaveLength(50);
    expect((await look()).since).toEqual(at);
    stop();
    expect((await ask('/api/sources/nothing/changes', { token })).status).toBe(404);
    expect((await ask('/api/sources/own/changes')).status).toBe(401);
  });
});
