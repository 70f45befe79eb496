import { describe, expect, it, vi } from 'vitest';
import { type Chest, createCrib, type Outcome, type ProfileInput } from '../../src/index.ts';
import { bundleOf, endOf, namesOf, reasonOf, stateIn, toolOf } from './small-crib.ts';

/** A chest over the bundles a, b and c, each with one tool and one prompt text. */
async function openAbc(profile: ProfileInput = {}): Promise<Chest> {
  const bundles = ['a', 'b', 'c'].map((name) => bundleOf(name, { instructions: `How to use ${name}.` }));
  return (await createCrib({ bundles, profiles: { p: profile } })).open();
}

describe('opening', () => {
  it('Before the first use nothing is set up, yet everything is listed.', async () => {
    const setup = vi.fn();
    const crib = await createCrib({ bundles: [bundleOf('a', { setup, instructions: 'Use a.' })] });
    const chest = await crib.open();
    expect(namesOf(chest.list())).toEqual(['a_tool']);
    expect(namesOf(await chest.search('a tool'))).toEqual(['a_tool']);
    expect(chest.instructions()).toBe('Use a.');
    expect(crib.bundles.info('a')?.toolNames).toEqual(['a_tool']);
    expect(setup).not.toHaveBeenCalled();
  });

  it('Opening a chest shows its essential bundles and the profile’s active ones.', async () => {
    const chest = await openAbc({ essential: 'a', active: 'b' });
    expect([chest.available(), chest.active(), chest.essential()]).toEqual([['a', 'b', 'c'], ['a', 'b'], ['a']]);
    expect(namesOf(chest.list())).toEqual(['a_tool', 'b_tool']);
  });

  it('Setup runs before the first call of a bundle.', async () => {
    const order: string[] = [];
    const run = () => void order.push('run');
    const setup = () => void order.push('setup');
    const crib = await createCrib({ bundles: [{ name: 'a', tools: [toolOf('t', { run })], setup }] });
    const chest = await crib.open();
    await chest.call('t');
    await chest.call('t');
    expect(order).toEqual(['setup', 'run', 'run']);
  });

  it('Setup runs on activate.', async () => {
    const setup = vi.fn();
    const crib = await createCrib({ bundles: [bundleOf('a', { setup })], profiles: { p: { active: [] } } });
    await (await crib.open()).activate('a');
    expect(setup).toHaveBeenCalledOnce();
  });

  it('Active or not is presentation: calling a tool of an inactive bundle sets the bundle up.', async () => {
    const bundles = [bundleOf('a', { setup: () => ({ state: 'ready' }) })];
    const chest = await (await createCrib({ bundles, profiles: { p: { active: [] } } })).open();
    expect(stateIn(await chest.call('a_tool'))).toBe('ready');
    expect([chest.active(), chest.list()]).toEqual([[], []]);
  });
});

describe('activate and deactivate', () => {
  it.each<[string, (chest: Chest, names: string | readonly string[]) => Promise<Outcome>]>([
    ['activate', (chest, names) => chest.activate(names)],
    ['deactivate', (chest, names) => chest.deactivate(names)],
    ['setActive', (chest, names) => chest.setActive(names)],
    ['addEssential', (chest, names) => chest.addEssential(names)],
  ])('One name and a one-element list behave the same: %s.', async (_, change) => {
    const [one, other] = [await openAbc({ active: ['a', 'b'] }), await openAbc({ active: ['a', 'b'] })];
    expect(await change(one, 'a')).toEqual(await change(other, ['a']));
    expect([one.active(), one.essential()]).toEqual([other.active(), other.essential()]);
  });

  it('[good, unknown, good2]: both good ones active, unknown rejected.', async () => {
    const chest = await openAbc({ active: [] });
    const outcome = await chest.activate(['a', 'unknown', 'b']);
    expect(outcome).toMatchObject({ ok: false, applied: ['a', 'b'], rejected: [{ name: 'unknown' }] });
    expect(reasonOf(outcome, 'unknown')).toContain('unknown bundle');
    expect(chest.active()).toEqual(['a', 'b']);
  });

  it('An unknown bundle is rejected naming the nearest one in view, never a hidden one.', async () => {
    const bundles = [bundleOf('browser'), bundleOf('secrets')];
    const chest = await (await createCrib({ bundles, profiles: { p: { exclude: ['secrets_*'] } } })).open();
    expect(reasonOf(await chest.activate('browsr'), 'browsr')).toBe('unknown bundle. Did you mean "browser"?');
    expect(reasonOf(await chest.activate('secret'), 'secret')).toBe('unknown bundle.');
    expect(reasonOf(await chest.activate('secrets'), 'secrets')).toBe('unknown bundle.');
  });

  it('Deactivate then activate: the same state, no second setup.', async () => {
    const setup = vi.fn(() => ({ state: { connection: 1 } }));
    const chest = await (await createCrib({ bundles: [bundleOf('a', { setup })] })).open();
    await chest.activate('a');
    await chest.deactivate('a');
    await chest.activate('a');
    expect(stateIn(await chest.call('a_tool'))).toEqual({ connection: 1 });
    expect(setup).toHaveBeenCalledOnce();
  });

  it('Deactivating removes its tools and its prompt text from the listings.', async () => {
    const chest = await openAbc();
    expect(await chest.deactivate('b')).toEqual({ ok: true, applied: ['b'], rejected: [] });
    expect(namesOf(chest.list())).toEqual(['a_tool', 'c_tool']);
    expect(chest.instructions()).toBe('How to use a.\n\nHow to use c.');
  });

  it('A tool is shown while any of its bundles is active.', async () => {
    const bundles = [bundleOf('a'), { name: 'b', include: ['a_tool'] }];
    const chest = await (await createCrib({ bundles })).open();
    await chest.deactivate('a');
    expect(namesOf(chest.list())).toEqual(['a_tool']);
    await chest.deactivate('b');
    expect(chest.list()).toEqual([]);
  });

  it('Tools in no bundle count as active.', async () => {
    const chest = await (await createCrib({ tools: [toolOf('t')], bundles: [bundleOf('a')] })).open();
    await chest.setActive([]);
    expect(namesOf(chest.list())).toEqual(['t']);
  });

  it('Deactivating an inactive bundle is rejected with reason "not active".', async () => {
    const outcome = await (await openAbc({ active: ['a'] })).deactivate(['b', 'a']);
    expect(outcome).toEqual({ ok: false, applied: ['a'], rejected: [{ name: 'b', reason: 'not active' }] });
  });

  it('Deactivating an essential: rejected, stays active, others in the list still applied.', async () => {
    const chest = await openAbc({ essential: ['a'] });
    const outcome = await chest.deactivate(['a', 'b']);
    expect(outcome).toEqual({ ok: false, applied: ['b'], rejected: [{ name: 'a', reason: 'essential' }] });
    expect(chest.active()).toEqual(['a', 'c']);
  });

  it('A bundle that deactivate reports as applied is inactive, even if another active bundle requires it.', async () => {
    const bundles = [bundleOf('a', { requires: 'b' }), bundleOf('b')];
    const chest = await (await createCrib({ bundles })).open();
    const { applied } = await chest.deactivate('b');
    expect(chest.active().filter((name) => applied.includes(name))).toEqual([]);
  });

  it('A bundle that is shown because another requires it cannot be deactivated, and the reason names the other.', async () => {
    const bundles = [bundleOf('a', { requires: 'b' }), bundleOf('b')];
    const chest = await (await createCrib({ bundles, profiles: { p: { active: 'a' } } })).open();
    expect(reasonOf(await chest.deactivate('b'), 'b')).toBe('required by "a"');
    expect(chest.active()).toEqual(['a', 'b']);
  });

  it('The reason names the active bundle also where it requires by way of one outside the view.', async () => {
    const bundles = [bundleOf('a', { requires: 'h' }), bundleOf('h', { requires: 'c' }), bundleOf('c')];
    const profiles = { p: { exclude: ['h_*'], active: 'a' } };
    const chest = await (await createCrib({ bundles, profiles })).open();
    expect(reasonOf(await chest.deactivate('c'), 'c')).toBe('required by "a"');
  });
});

describe('setActive and addEssential', () => {
  it('setActive([N]) with essential E gives {E, N}.', async () => {
    const chest = await openAbc({ essential: ['a'] });
    expect((await chest.setActive(['c'])).ok).toBe(true);
    expect(chest.active()).toEqual(['a', 'c']);
  });

  it('setActive with any unknown name: nothing changes.', async () => {
    const chest = await openAbc({ active: ['b'] });
    const outcome = await chest.setActive(['a', 'unknown', 'c']);
    expect(outcome).toMatchObject({ ok: false, applied: [], rejected: [{ name: 'unknown' }] });
    expect(chest.active()).toEqual(['b']);
  });

  it('setActive with any unknown name sets nothing up either.', async () => {
    const setup = vi.fn();
    const chest = await (await createCrib({ bundles: [bundleOf('a', { setup })] })).open();
    await chest.setActive(['a', 'unknown']);
    expect(setup).not.toHaveBeenCalled();
  });

  it('setActive is atomic: one failing setup and nothing changes.', async () => {
    const setup = () => {
      throw new Error('no network');
    };
    const bundles = [bundleOf('a'), bundleOf('b'), bundleOf('broken', { setup })];
    const chest = await (await createCrib({ bundles, profiles: { p: { active: ['a'] } } })).open();
    expect(await chest.setActive(['b', 'broken'])).toMatchObject({ applied: [], rejected: [{ name: 'broken' }] });
    expect(chest.active()).toEqual(['a']);
  });

  it('setActive([]) leaves the essentials.', async () => {
    const chest = await openAbc({ essential: ['a'] });
    await chest.setActive([]);
    expect(chest.active()).toEqual(['a']);
  });

  it('The caller’s array is not modified.', async () => {
    const chest = await openAbc();
    const names = Object.freeze(['b', 'a', 'b', 'unknown']);
    await chest.setActive(names);
    await chest.activate(names);
    await chest.deactivate(names);
    await chest.addEssential(names);
    expect(names).toEqual(['b', 'a', 'b', 'unknown']);
  });

  it('addEssential(X) makes X active and undeactivatable.', async () => {
    const chest = await openAbc({ active: [] });
    expect(await chest.addEssential('b')).toEqual({ ok: true, applied: ['b'], rejected: [] });
    expect([chest.active(), chest.essential()]).toEqual([['b'], ['b']]);
    expect(reasonOf(await chest.deactivate('b'), 'b')).toBe('essential');
    expect(namesOf(chest.list())).toEqual(['b_tool']);
    await chest.setActive([]);
    expect(chest.active()).toEqual(['b']);
  });

  it('addEssential is partial with report.', async () => {
    const chest = await openAbc({ active: [] });
    expect(await chest.addEssential(['unknown', 'b'])).toMatchObject({ ok: false, applied: ['b'] });
    expect(chest.essential()).toEqual(['b']);
  });
});

describe('two chests', () => {
  it('What is active belongs to the chest.', async () => {
    const crib = await createCrib({ bundles: [bundleOf('a'), bundleOf('b')] });
    const [one, other] = [await crib.open(), await crib.open()];
    await one.deactivate('a');
    await one.addEssential('b');
    expect([one.active(), one.essential()]).toEqual([['b'], ['b']]);
    expect([other.active(), other.essential()]).toEqual([['a', 'b'], []]);
  });

  it('Two chests share state and have their own active bundles.', async () => {
    const setup = vi.fn(() => ({ state: 'shared' }));
    const profiles = { shown: {}, quiet: { active: [] } };
    const crib = await createCrib({ bundles: [bundleOf('a', { setup })], profiles });
    const [shown, quiet] = [await crib.open('shown', { id: 'alice' }), await crib.open('quiet', { id: 'bob' })];
    expect([stateIn(await shown.call('a_tool')), stateIn(await quiet.call('a_tool'))]).toEqual(['shared', 'shared']);
    expect([shown.active(), quiet.active()]).toEqual([['a'], []]);
    expect(setup).toHaveBeenCalledOnce();
    expect(endOf(await quiet.call('a_tool'))).toBe('done');
  });
});
