import { describe, expect, it, vi } from 'vitest';
import { createCrib, type SetupContext } from '../../src/index.ts';
import { bundleOf, changingSource, endOf, heldSetup, oneTurn, reasonOf, stateIn, toolOf } from './small-crib.ts';

describe('once', () => {
  it('Setup runs once, however many activate or call at once.', async () => {
    const held = heldSetup('ready');
    const crib = await createCrib({ bundles: [bundleOf('a', { setup: held.setup })] });
    const chests = await Promise.all(Array.from({ length: 20 }, () => crib.open()));
    const activations = chests.map((chest) => chest.activate('a'));
    const calls = chests.map((chest) => chest.call('a_tool'));
    await held.started;
    held.finish();
    expect((await Promise.all(activations)).every((outcome) => outcome.ok)).toBe(true);
    expect((await Promise.all(calls)).map(stateIn)).toEqual(Array(20).fill('ready'));
    expect(held.runs()).toBe(1);
  });

  it('Setup has finished before activate resolves.', async () => {
    const held = heldSetup();
    const crib = await createCrib({ bundles: [bundleOf('a', { setup: held.setup })] });
    let isActivated = false;
    const activations = [await crib.open(), await crib.open()].map(async (chest) => {
      await chest.activate('a');
      isActivated = true;
    });
    await held.started;
    await oneTurn();
    expect(isActivated).toBe(false);
    held.finish();
    await Promise.all(activations);
  });

  it('A call waits until the setup that another began has finished.', async () => {
    const held = heldSetup('ready');
    const run = vi.fn(() => 'ran');
    const bundles = [{ name: 'a', tools: [toolOf('t', { run })], setup: held.setup }];
    const chest = await (await createCrib({ bundles })).open();
    const activation = chest.activate('a');
    await held.started;
    const result = chest.call('t');
    await oneTurn();
    expect(run).not.toHaveBeenCalled();
    held.finish();
    await activation;
    expect(endOf(await result)).toBe('done');
  });

  it('Every activation waits for ready, too, however many there are at once.', async () => {
    const held = heldSetup();
    const ready = async (context: SetupContext) => void (await held.setup(context));
    const crib = await createCrib({ bundles: [bundleOf('a', { setup: () => ({ state: 1 }), ready })] });
    const [one, other] = [await crib.open(), await crib.open()];
    const first = one.activate('a');
    await held.started;
    let isActivated = false;
    const second = other.activate('a').then(() => {
      isActivated = true;
    });
    await oneTurn();
    expect(isActivated).toBe(false);
    held.finish();
    await Promise.all([first, second]);
  });

  it('Two activations and a reload at once: one setup, the new tools, and both are activated.', async () => {
    const held = heldSetup('ready');
    const remote = changingSource('remote', [toolOf('old')], { bundle: 'a' });
    const crib = await createCrib({ bundles: [bundleOf('a', { setup: held.setup })], sources: [remote.source] });
    const chest = await crib.open();
    const first = chest.activate('a');
    await held.started;
    remote.put([toolOf('new')]);
    const reload = crib.reload();
    const second = chest.activate('a');
    expect(await reload).toEqual({ added: ['new'], removed: ['old'], changed: [] });
    held.finish();
    expect([(await first).ok, (await second).ok]).toEqual([true, true]);
    expect(stateIn(await chest.call('new'))).toBe('ready');
    expect(held.runs()).toBe(1);
  });

  it('Tools may join or leave a bundle that has been set up; its state stays.', async () => {
    const setup = vi.fn(() => ({ state: 'kept' }));
    const crib = await createCrib({ bundles: [bundleOf('a', { setup })] });
    const chest = await crib.open();
    await chest.activate('a');
    crib.bundles.addTools('a', toolOf('later'));
    crib.bundles.removeTool('a', 'a_tool');
    expect(stateIn(await chest.call('later'))).toBe('kept');
    expect(setup).toHaveBeenCalledOnce();
  });

  it('ready runs after setup, once, when the bundle’s state can be used by its tools.', async () => {
    const order: string[] = [];
    const bundle = bundleOf('a', {
      setup: () => void order.push('setup'),
      ready: () => void order.push('ready'),
    });
    const chest = await (await createCrib({ bundles: [bundle] })).open();
    await chest.activate('a');
    await chest.call('a_tool');
    expect(order).toEqual(['setup', 'ready']);
  });

  it.each(['before', 'after'])(
    'A tool of a bundle gets that bundle’s state, even if a bundle that extends it is defined %s.',
    async (place) => {
      const base = bundleOf('base', { setup: () => ({ state: 'of base' }) });
      const more = { name: 'more', extends: 'base', setup: () => ({ state: 'of more' }) };
      const chest = await (await createCrib({ bundles: place === 'before' ? [more, base] : [base, more] })).open();
      expect(stateIn(await chest.call('base_tool'))).toBe('of base');
    },
  );
});

describe('the input of a setup', () => {
  it('Setup receives services, options and the state of required bundles (use).', async () => {
    const clock = { now: () => 1 };
    const connection = { query: () => 1 };
    const seen = vi.fn((context: SetupContext) => {
      const { services, options } = context;
      return { state: { clock: services.clock, url: options.url, connection: context.use('db') } };
    });
    const bundles = [
      bundleOf('db', { setup: () => ({ state: connection }) }),
      bundleOf('shop', { requires: 'db', setup: seen }),
    ];
    const crib = await createCrib({ bundles, services: { clock }, options: { url: 'db://x' } });
    await (await crib.open()).activate('shop');
    const made = seen.mock.results[0]?.value.state;
    expect(made).toEqual({ clock, url: 'db://x', connection });
    expect(made.clock).toBe(clock);
    expect(made.connection).toBe(connection);
  });

  it('Using a bundle that is not required fails the setup and says what to do.', async () => {
    const bundles = [bundleOf('db'), bundleOf('shop', { setup: (context) => ({ state: context.use('db') }) })];
    const outcome = await (await (await createCrib({ bundles })).open()).activate('shop');
    expect(reasonOf(outcome, 'shop')).toContain('uses "db" without requiring it; add it to requires');
  });

  it('The caller’s options object is never modified.', async () => {
    const options = { url: 'db://x' };
    const setup = (context: SetupContext) => {
      Reflect.set(context.options, 'url', 'changed');
      Reflect.set(context.options, 'more', 1);
      Reflect.deleteProperty(context.options, 'url');
    };
    const crib = await createCrib({ bundles: [bundleOf('a', { setup })], options });
    expect((await (await crib.open()).activate('a')).ok).toBe(true);
    expect(options).toEqual({ url: 'db://x' });
    expect(Object.isFrozen(options)).toBe(false);
  });

  it('Options belong to the crib: later changes by the caller have no effect.', async () => {
    const options: Record<string, unknown> = { url: 'db://x' };
    const setup = (context: SetupContext) => ({ state: { ...context.options } });
    const crib = await createCrib({ bundles: [bundleOf('a', { setup })], options });
    options.url = 'db://other';
    options.more = 1;
    expect(stateIn(await (await crib.open()).call('a_tool'))).toEqual({ url: 'db://x' });
  });

  it('What setup returns as state reaches the tools of the bundle and no others.', async () => {
    const bundles = [bundleOf('a', { setup: () => ({ state: 'of a' }) }), bundleOf('b', { setup: () => undefined })];
    const chest = await (await createCrib({ tools: [toolOf('t')], bundles })).open();
    const results = await Promise.all(['a_tool', 'b_tool', 't'].map((name) => chest.call(name)));
    expect(results.map(stateIn)).toEqual(['of a', null, null]);
  });
});
