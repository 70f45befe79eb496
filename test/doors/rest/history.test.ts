import { describe, expect, it } from 'vitest';
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
