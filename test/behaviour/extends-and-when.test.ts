import { afterEach, describe, expect, it, vi } from 'vitest';
import { createCrib, type When } from '../../src/index.ts';
import { bundleOf, changingSource, namesOf, reasonOf, toolOf } from './small-crib.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('extends', () => {
  it('extends merges members, instructions and requirements over several levels.', async () => {
    const bundles = [
      { name: 'top', extends: 'middle', tools: [toolOf('t')], instructions: 'Top.', requires: 'x' },
      { name: 'middle', extends: ['base', 'other'], tools: [toolOf('m')], instructions: 'Middle.' },
      { name: 'base', tools: [toolOf('b')], instructions: 'Base.', requires: ['y'] },
      { name: 'other', include: ['o'] },
      bundleOf('x'),
      bundleOf('y'),
    ];
    const crib = await createCrib({ tools: [toolOf('o')], bundles });
    expect(crib.bundles.get('top')).toMatchObject({
      members: ['b', 'o', 'm', 't'],
      instructions: 'Base.\n\nMiddle.\n\nTop.',
      requires: ['y', 'x'],
    });
    expect(crib.bundles.get('base')?.members).toEqual(['b']);
  });

  it('A bundle that two others extend is merged once.', async () => {
    const bundles = [
      { name: 'top', extends: ['left', 'right'] },
      { name: 'left', extends: 'base' },
      { name: 'right', extends: 'base' },
      bundleOf('base', { requires: 'x' }),
      bundleOf('x'),
    ];
    const { members, requires } = (await createCrib({ bundles })).bundles.get('top') ?? {};
    expect([members, requires]).toEqual([['base_tool'], ['x']]);
  });

  it('A tool that joins the base later also joins the bundles that extend it.', async () => {
    const crib = await createCrib({ bundles: [{ name: 'top', extends: 'base' }, bundleOf('base')] });
    crib.bundles.addTools('base', toolOf('later'));
    expect(crib.bundles.info('top')?.toolNames).toEqual(['base_tool', 'later']);
  });

  it('Activating it sets up the requirements of the bundles it extends.', async () => {
    const setup = vi.fn(() => ({ state: 'x' }));
    const bundles = [
      { name: 'top', extends: 'base', setup: ({ use }: { use(name: string): unknown }) => ({ state: use('x') }) },
      bundleOf('base', { requires: 'x' }),
      bundleOf('x', { setup }),
    ];
    expect((await (await (await createCrib({ bundles })).open()).activate('top')).ok).toBe(true);
    expect(setup).toHaveBeenCalledOnce();
  });

  it.each([
    ['itself', [{ name: 'a', extends: 'a' }]],
    [
      'in a cycle',
      [
        { name: 'a', extends: 'b' },
        { name: 'b', extends: 'c' },
        { name: 'c', extends: 'a' },
      ],
    ],
  ])('A cycle is an error at load: a bundle that extends %s.', async (_, bundles) => {
    await expect(createCrib({ bundles })).rejects.toMatchObject({ name: 'ToolcribError', code: 'cycle' });
  });

  it('Extending an unknown bundle is an error naming the nearest known one.', async () => {
    const bundles = [bundleOf('files'), { name: 'a', extends: 'fils' }];
    await expect(createCrib({ bundles })).rejects.toThrow(
      'extends "fils", which does not exist. Did you mean "files"?',
    );
  });
});

describe('when', () => {
  const otherPlatform = process.platform === 'aix' ? 'sunos' : 'aix';
  const explained: readonly [string, When, string | RegExp][] = [
    ['env', { env: 'TOOLCRIB_TEST_UNSET' }, 'the environment variable TOOLCRIB_TEST_UNSET is not set'],
    ['env, one of several', { env: ['PATH', 'TOOLCRIB_TEST_UNSET'] }, 'TOOLCRIB_TEST_UNSET is not set'],
    ['platform', { platform: otherPlatform }, `the platform is ${process.platform}, not ${otherPlatform}`],
    ['service present', { service: 'printer' }, 'the service "printer" is missing'],
    ['predicate', { predicate: () => false }, 'its predicate returned false'],
    [
      'a predicate that throws',
      {
        predicate: () => {
          throw new Error('disk');
        },
      },
      /its predicate failed: .*disk/,
    ],
    [
      'the second of two conditions',
      { platform: process.platform, service: 'printer' },
      'the service "printer" is missing',
    ],
  ];

  it.each(explained)('when on a tool is explained when it says no: %s.', async (_, when, reason) => {
    const crib = await createCrib({ tools: [toolOf('t', { when }), toolOf('u')] });
    const chest = await crib.open();
    expect(namesOf(chest.list())).toEqual(['u']);
    const { visible, reasons } = crib.explain({}, undefined, 't');
    expect([visible, reasons]).toEqual([false, [expect.stringMatching(reason)]]);
  });

  it.each(explained)('when on a bundle is explained when it says no: %s.', async (_, when, reason) => {
    const crib = await createCrib({ bundles: [bundleOf('a', { when }), bundleOf('b')] });
    const chest = await crib.open();
    expect([chest.available(), namesOf(chest.list())]).toEqual([['b'], ['b_tool']]);
    expect(crib.explain({}, undefined, 'a_tool').reasons).toEqual([expect.stringMatching(reason)]);
    expect(reasonOf(await chest.activate('a'), 'a')).toContain('unknown bundle');
  });

  it('A tool is listed if all its conditions hold.', async () => {
    vi.stubEnv('TOOLCRIB_TEST_SET', 'yes');
    const when: When = {
      env: 'TOOLCRIB_TEST_SET',
      platform: [otherPlatform, process.platform],
      service: 'printer',
      predicate: ({ env, services }) => env.TOOLCRIB_TEST_SET === 'yes' && services.printer !== undefined,
    };
    const crib = await createCrib({
      tools: [toolOf('t', { when })],
      bundles: [bundleOf('a', { when })],
      services: { printer: {} },
    });
    expect(namesOf((await crib.open()).list())).toEqual(['t', 'a_tool']);
  });

  it('A misspelt condition is an error with the nearest known one, because it would always hold.', async () => {
    const when = { evn: 'DISPLAY' } as When; // what untyped code may write
    await expect(createCrib({ bundles: [bundleOf('a', { when })] })).rejects.toThrow('Did you mean "env"?');
    expect(() => toolOf('t', { when })).toThrow('Did you mean "env"?');
  });

  it('The name of a tool that its when leaves out stays taken.', async () => {
    const remote = changingSource('remote', [toolOf('t')]);
    const tools = [toolOf('t', { when: { predicate: () => false } })];
    const crib = await createCrib({ tools, sources: [remote.source] });
    expect([crib.get('t'), namesOf((await crib.open()).list())]).toEqual([undefined, []]);
  });

  it('A bundle that its when leaves out takes no tool of the same name with it.', async () => {
    const bundles = [bundleOf('files', { when: { predicate: () => false } })];
    const crib = await createCrib({ tools: [toolOf('files')], bundles });
    expect(namesOf((await crib.open()).list())).toEqual(['files']);
  });

  it('A tool in two bundles is there while one of them is.', async () => {
    const shared = toolOf('shared');
    const bundles = [
      { name: 'gone', tools: [shared], when: { predicate: () => false } },
      { name: 'there', tools: [shared] },
    ];
    const crib = await createCrib({ bundles });
    expect(namesOf(crib.bundles.of('shared'))).toEqual(['there']);
  });
});
