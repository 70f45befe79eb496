import { describe, expect, it } from 'vitest';
import { createCrib } from '../../src/index.ts';

const tools = [
  { name: 'open', description: '', run: () => 'open' },
  { name: 'secret', description: '', policy: { access: { roles: ['admin'] } }, run: () => 'secret' },
  { name: 'rm', description: '', effects: { destructive: true }, run: () => 'gone' },
];

describe("the operator's chest", () => {
  const make = () => createCrib({ tools, profiles: { reader: { include: ['open'] } } });

  it('shows all tools, whatever any profile or access clause hides', async () => {
    const chest = await (await make()).openAll({ id: 'op' });
    expect(chest.list().map((spec) => spec.name)).toEqual(['open', 'secret', 'rm']);
    expect(await chest.call('secret')).toMatchObject({ ok: true });
  });

  it('approval still applies', async () => {
    const crib = await make();
    expect(await (await crib.openAll()).call('rm')).toMatchObject({ ok: false, error: { code: 'denied' } });
    expect(await (await crib.openAll({ approve: () => true })).call('rm')).toMatchObject({ ok: true });
  });

  it('an operator under a profile sees the tools of the profile, past access clauses', async () => {
    const crib = await createCrib({ tools, profiles: { some: { include: ['secret'] } } });
    expect((await crib.open('some', { id: 'op', operator: true })).list()).toHaveLength(1);
    expect((await crib.open('some', { id: 'op' })).list()).toHaveLength(0);
  });

  it('operator must be true or false', async () => {
    await expect((await make()).open('reader', { operator: 'yes' as never })).rejects.toThrow('"operator" of a caller');
  });
});
