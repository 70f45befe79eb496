import { describe, expect, it, vi } from 'vitest';
import { type BundleInput, type Chest, type CribOptions, createCrib } from '../../src/index.ts';
import { bundleOf, endOf, heldSetup, namesOf, reasonOf, stateIn, toolOf } from './small-crib.ts';

async function open(bundles: readonly BundleInput[], more: CribOptions = {}): Promise<Chest> {
  return (await createCrib({ bundles, ...more })).open();
}

const broken = () => {
  throw new Error('no network');
};

describe('requires', () => {
  it('requires are set up first, recursively.', async () => {
    const order: string[] = [];
    const note = (name: string, requires: string[]) =>
      bundleOf(name, { requires, setup: () => ({ state: order.push(name) }) });
    const bundles = [note('top', ['left', 'right']), note('left', ['base']), note('right', ['base']), note('base', [])];
    const chest = await open(bundles);
    expect((await chest.activate('top')).ok).toBe(true);
    expect(order).toEqual(['base', 'left', 'right', 'top']);
  });

  it('requires are set up before the first call, too, also of a bundle without a setup of its own.', async () => {
    const setup = vi.fn(() => ({ state: 1 }));
    const chest = await open([bundleOf('top', { requires: 'base' }), bundleOf('base', { setup })]);
    expect(endOf(await chest.call('top_tool'))).toBe('done');
    expect(setup).toHaveBeenCalledOnce();
  });

  it('What several require is set up once, however many ask at once.', async () => {
    const held = heldSetup('base');
    const bundles = ['a', 'b', 'c'].map((name) =>
      bundleOf(name, { requires: 'base', setup: (context) => ({ state: context.use('base') }) }),
    );
    const chest = await open([...bundles, bundleOf('base', { setup: held.setup })]);
    const activation = chest.activate(['a', 'b', 'base']);
    const result = chest.call('c_tool');
    await held.started;
    held.finish();
    expect((await activation).applied).toEqual(['a', 'b', 'base']);
    expect(stateIn(await result)).toBe('base');
    expect(held.runs()).toBe(1);
  });

  it('A missing requirement rejects the dependent.', async () => {
    const setup = vi.fn();
    const chest = await open([bundleOf('a', { requires: 'nowhere', setup })]);
    expect(reasonOf(await chest.activate('a'), 'a')).toBe('it requires "nowhere": bundle "nowhere" does not exist');
    expect(endOf(await chest.call('a_tool'))).toBe('unavailable');
    expect(setup).not.toHaveBeenCalled();
  });

  it('A missing requirement is reported at start.', async () => {
    const crib = await createCrib({ bundles: [bundleOf('a', { requires: 'nowhere' })] });
    expect(crib.warnings()).toEqual(['Bundle "a" requires the bundle "nowhere", which does not exist.']);
  });

  it('A failing requirement rejects the dependent.', async () => {
    const setup = vi.fn();
    const bundles = [
      bundleOf('a', { requires: 'b', setup }),
      bundleOf('b', { requires: 'c' }),
      bundleOf('c', { setup: broken }),
    ];
    const chest = await open(bundles);
    const reason = reasonOf(await chest.activate('a'), 'a');
    expect(reason).toBe('it requires "b": it requires "c": its setup failed: no network');
    expect(endOf(await chest.call('a_tool'))).toBe('unavailable');
    expect(setup).not.toHaveBeenCalled();
  });

  it('A requirement that its when leaves out rejects the dependent and says why.', async () => {
    const chest = await open([
      bundleOf('a', { requires: 'b' }),
      bundleOf('b', { when: { env: 'TOOLCRIB_TEST_NEVER_SET' } }),
    ]);
    expect(reasonOf(await chest.activate('a'), 'a')).toContain('TOOLCRIB_TEST_NEVER_SET is not set');
  });

  it('A requirement that is added later is found by the next activate.', async () => {
    const crib = await createCrib({ bundles: [bundleOf('a', { requires: 'later' })] });
    const chest = await crib.open();
    expect((await chest.activate('a')).ok).toBe(false);
    crib.bundles.define(bundleOf('later'));
    expect((await chest.activate('a')).ok).toBe(true);
  });

  it('Activating a bundle shows its requirements, recursively.', async () => {
    const bundles = [bundleOf('a', { requires: 'b' }), bundleOf('b', { requires: 'c' }), bundleOf('c')];
    const chest = await open(bundles, { profiles: { p: { active: [] } } });
    await chest.activate('a');
    expect(namesOf(chest.list())).toEqual(['a_tool', 'b_tool', 'c_tool']);
  });
});

describe('cycles', () => {
  it.each<[string, readonly BundleInput[]]>([
    ['itself', [bundleOf('a', { requires: 'a' })]],
    ['each other', [bundleOf('a', { requires: 'b' }), bundleOf('b', { requires: 'a' })]],
    [
      'each other by way of a third',
      [bundleOf('a', { requires: 'b' }), bundleOf('b', { requires: ['x', 'c'] }), bundleOf('c', { requires: 'a' })],
    ],
    ['the bundle that extends them', [bundleOf('a', { extends: 'b' }), bundleOf('b', { requires: 'a' })]],
  ])('A cycle is an error when defined: bundles that require %s.', async (_, bundles) => {
    await expect(createCrib({ bundles })).rejects.toMatchObject({ name: 'ToolcribError', code: 'cycle' });
  });

  it('The error names the way round.', async () => {
    const bundles = [bundleOf('a', { requires: 'b' }), bundleOf('b', { requires: 'a' })];
    await expect(createCrib({ bundles })).rejects.toThrow('a -> b -> a');
  });

  it('A cycle that a later definition would close is refused, and nothing of it stays.', async () => {
    const crib = await createCrib({ bundles: [bundleOf('a', { requires: 'b' })] });
    expect(() => crib.bundles.define(bundleOf('b', { requires: 'a' }))).toThrow('a -> b -> a');
    expect([crib.bundles.names(), crib.get('b_tool')]).toEqual([['a'], undefined]);
  });
});

describe('outside the view', () => {
  it('A requirement outside the view is set up but not shown.', async () => {
    const setup = vi.fn(() => ({ state: 'hidden' }));
    const bundles = [
      bundleOf('a', { requires: 'base', setup: (context) => ({ state: context.use('base') }) }),
      bundleOf('base', { setup, instructions: 'Secret advice.' }),
    ];
    const chest = await open(bundles, { profiles: { p: { include: ['a_*'] } } });
    expect((await chest.activate('a')).ok).toBe(true);
    expect(stateIn(await chest.call('a_tool'))).toBe('hidden');
    expect(setup).toHaveBeenCalledOnce();
    expect([chest.available(), chest.active(), namesOf(chest.list())]).toEqual([['a'], ['a'], ['a_tool']]);
    expect(chest.instructions()).toBe('');
    expect(endOf(await chest.call('base_tool'))).toBe('unknown_tool');
  });

  const tools = [toolOf('order', { requires: ['pay'] }), toolOf('pay')];

  it('A required tool outside it is left out.', async () => {
    const crib = await createCrib({ tools, profiles: { p: { exclude: 'pay' } } });
    const chest = await crib.open();
    expect(namesOf(await chest.search('order', { expand: true }))).toEqual(['order']);
    expect(namesOf(chest.list())).toEqual(['order']);
  });

  it('A required tool outside the view of a profile is reported.', async () => {
    const crib = await createCrib({ tools, profiles: { p: { exclude: 'pay' } } });
    expect(crib.warnings()).toEqual([expect.stringContaining('"pay"')]);
  });

  it('A required tool that is nowhere is reported.', async () => {
    const crib = await createCrib({ tools: [toolOf('order', { requires: ['pay'] })] });
    expect(crib.warnings()).toEqual(['Tool "order" requires the tool "pay", which does not exist.']);
  });
});
