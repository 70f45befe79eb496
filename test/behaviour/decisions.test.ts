import { describe, expect, it } from 'vitest';
import {
  type CribOptions,
  createCrib,
  defaultCrib,
  type ProfileInput,
  resetDefaultCrib,
  type Source,
  ToolcribError,
} from '../../src/index.ts';
import { bundleOf, changingSource, endOf, namesOf, toolOf } from './small-crib.ts';

describe('duplicate tool name', () => {
  it.each<[string, CribOptions]>([
    ['twice from tools', { tools: [toolOf('t'), toolOf('t')] }],
    ['from both tools and bundle b', { tools: [toolOf('t')], bundles: [{ name: 'b', tools: [toolOf('t')] }] }],
    [
      'from both bundle a and bundle b',
      {
        bundles: [
          { name: 'a', tools: [toolOf('t')] },
          { name: 'b', tools: [toolOf('t')] },
        ],
      },
    ],
  ])('Explicit registration: error naming both (%s).', async (places, options) => {
    await expect(createCrib(options)).rejects.toMatchObject({
      name: 'ToolcribError',
      code: 'duplicate',
      message: expect.stringContaining(`"t" comes ${places}`),
    });
  });

  it('The very same tool from two places is not a duplicate.', async () => {
    const shared = toolOf('shared');
    const bundles = [
      { name: 'a', tools: [shared] },
      { name: 'b', tools: [shared] },
    ];
    const crib = await createCrib({ tools: [shared], bundles });
    expect(namesOf(crib.bundles.of('shared'))).toEqual(['a', 'b']);
    expect(namesOf(crib.catalog.specs)).toEqual(['shared']);
  });

  it('register refuses a name that a source has, naming both.', async () => {
    const crib = await createCrib({ sources: [changingSource('remote', [toolOf('t')]).source] });
    expect(crib.register(toolOf('t'))).toMatchObject({
      ok: false,
      rejected: [{ name: 't', reason: '"t" comes from both remote and register; rename one of them.' }],
    });
  });

  it('Remote: the first in configuration order owns the name, the other is held back with a warning naming both.', async () => {
    const sources = ['files', 'github'].map(
      (name) => changingSource(name, [toolOf('read'), toolOf(`${name}_only`)]).source,
    );
    const crib = await createCrib({ tools: [toolOf('github_only')], sources });
    expect(crib.catalog.specs.map(({ name, source }) => `${source}:${name}`)).toEqual([
      'code:github_only',
      'files:read',
      'files:files_only',
    ]);
    expect(crib.warnings()).toEqual([
      expect.stringContaining('"read" comes from both files and github'),
      expect.stringContaining('"github_only" comes from both code and github'),
    ]);
  });

  it('Two sources of one name are an error.', async () => {
    const sources = [changingSource('s', []).source, changingSource('s', []).source];
    await expect(createCrib({ sources })).rejects.toMatchObject({ code: 'duplicate' });
  });
});

describe('allow-list absent / empty', () => {
  const open = async (profile: ProfileInput) => {
    return (await createCrib({ bundles: [bundleOf('a'), bundleOf('b')], profiles: { p: profile } })).open();
  };

  it('include absent = all, [] = none.', async () => {
    expect(namesOf((await open({})).list())).toEqual(['a_tool', 'b_tool']);
    const none = await open({ include: [] });
    expect([none.list(), none.available(), endOf(await none.call('a_tool'))]).toEqual([[], [], 'unknown_tool']);
  });

  it('active absent = every bundle in view, [] = the essential ones only.', async () => {
    expect((await open({ essential: 'a' })).active()).toEqual(['a', 'b']);
    expect((await open({ essential: 'a', active: [] })).active()).toEqual(['a']);
  });

  it('active absent shows bundles that come later, too.', async () => {
    const crib = await createCrib({ bundles: [bundleOf('a')] });
    const chest = await crib.open();
    crib.bundles.define(bundleOf('later'));
    expect(chest.active()).toEqual(['a', 'later']);
  });

  it('A change that is refused altogether chooses nothing: bundles that come later are still shown.', async () => {
    const crib = await createCrib({ bundles: [bundleOf('a')] });
    const chest = await crib.open();
    await chest.activate('unknown');
    await chest.deactivate('unknown');
    crib.bundles.define(bundleOf('later'));
    expect(chest.active()).toEqual(['a', 'later']);
  });

  it('A caller’s profiles absent = all, [] = none, else as globs.', async () => {
    const crib = await createCrib({ profiles: { reader: {}, writer: {} } });
    expect((await crib.open('reader', { id: 'x' })).profile).toBe('reader');
    expect((await crib.open('reader', { id: 'x', profiles: ['read*'] })).profile).toBe('reader');
    await expect(crib.open('writer', { id: 'x', profiles: ['read*'] })).rejects.toMatchObject({ code: 'denied' });
    await expect(crib.open('reader', { id: 'x', profiles: [] })).rejects.toMatchObject({ code: 'denied' });
  });

  it('The kinds a source may bring: absent = any, [] = none.', async () => {
    const kinds = async (changes: Partial<Source>) => {
      const crib = await createCrib({ sources: [changingSource('s', [toolOf('t')], changes).source] });
      return namesOf(crib.catalog.specs);
    };
    expect([await kinds({}), await kinds({ kinds: ['function'] }), await kinds({ kinds: [] })]).toEqual([
      ['t'],
      ['t'],
      [],
    ]);
  });
});

describe('unknown names', () => {
  it.each<[string, object, string]>([
    ['option', { tolls: [] }, 'createCrib has no "tolls". Did you mean "tools"?'],
    ['profile key', { profiles: { p: { inclde: [] } } }, 'Profile "p" has no "inclde". Did you mean "include"?'],
    ['bundle key', { bundles: [{ name: 'a', tool: [] }] }, 'Did you mean "tools"?'],
    [
      'essential bundle',
      { bundles: [bundleOf('files')], profiles: { p: { essential: 'fils' } } },
      'Did you mean "files"?',
    ],
    ['active bundle', { bundles: [bundleOf('files')], profiles: { p: { active: ['fils'] } } }, 'Did you mean "files"?'],
    ['default profile', { profiles: { reader: {} }, defaultProfile: 'raeder' }, 'Did you mean "reader"?'],
    ['criterion in a profile', { profiles: { p: { include: [{ tag: 'x' }] } } }, 'Did you mean "tags"?'],
    ['selector prefix', { profiles: { p: { exclude: ['tags:x'] } } }, 'Did you mean "tag"?'],
  ])('An unknown %s is an error naming the nearest known one.', async (_, options, message) => {
    const made = createCrib(options);
    await expect(made).rejects.toBeInstanceOf(ToolcribError);
    await expect(made).rejects.toThrow(message);
  });

  it('An unknown profile is an error naming the nearest known one.', async () => {
    const crib = await createCrib({ profiles: { reader: {} } });
    await expect(crib.open('raeder')).rejects.toMatchObject({
      code: 'unknown_profile',
      message: 'The profile "raeder" was not found. Did you mean "reader"?',
    });
  });

  it('Lookups return undefined, changes an Outcome, calls a ToolResult.', async () => {
    const crib = await createCrib();
    const chest = await crib.open();
    expect([crib.get('x'), chest.get('x'), crib.bundles.get('x')]).toEqual([undefined, undefined, undefined]);
    expect(await chest.activate('x')).toMatchObject({ ok: false, applied: [], rejected: [{ name: 'x' }] });
    expect(crib.unregister('x')).toEqual({ ok: false, applied: [], rejected: [{ name: 'x', reason: 'unknown tool' }] });
    expect(await chest.call('x')).toMatchObject({ ok: false, status: 'failed', error: { code: 'unknown_tool' } });
  });
});

describe('home bundle', () => {
  it('Every source makes a bundle of its name, or the one its bundle names, or none.', async () => {
    const sources = [
      changingSource('one', [toolOf('a')]).source,
      changingSource('two', [toolOf('b')], { bundle: 'shared' }).source,
      changingSource('three', [toolOf('c')], { bundle: 'shared' }).source,
      changingSource('four', [toolOf('d')], { bundle: false }).source,
    ];
    const { bundles } = await createCrib({ sources });
    expect(bundles.names()).toEqual(['one', 'shared']);
    expect([bundles.info('one')?.toolNames, bundles.info('shared')?.toolNames, bundles.of('d')]).toEqual([
      ['a'],
      ['b', 'c'],
      [],
    ]);
  });

  it('A tool may be in several.', async () => {
    const remote = changingSource('remote', [toolOf('t')]);
    const crib = await createCrib({ sources: [remote.source], bundles: [{ name: 'mine', include: ['t'] }] });
    expect(namesOf(crib.bundles.of('t'))).toEqual(['mine', 'remote']);
  });
});

describe('essential but excluded', () => {
  it('Exclude wins; reported at start.', async () => {
    const bundles = [bundleOf('a'), bundleOf('b')];
    const crib = await createCrib({ bundles, profiles: { p: { essential: ['a', 'b'], exclude: 'a_*' } } });
    const chest = await crib.open();
    expect([chest.essential(), chest.active(), namesOf(chest.list())]).toEqual([['b'], ['b'], ['b_tool']]);
    expect(crib.warnings()).toEqual(['Profile "p": bundle "a" is essential, but the profile shows none of its tools.']);
  });
});

describe('singleton', () => {
  it('Cribs are instances: two share nothing.', async () => {
    const [one, other] = [await createCrib(), await createCrib()];
    one.register(toolOf('t'));
    one.bundles.define(bundleOf('a'));
    expect([other.get('t'), other.bundles.names()]).toEqual([undefined, []]);
  });

  it('defaultCrib() exists for scripts and can be reset.', async () => {
    const first = await defaultCrib();
    expect(await defaultCrib()).toBe(first);
    first.register(toolOf('t'));
    const chest = await first.open();
    await resetDefaultCrib();
    expect(endOf(await chest.call('t'))).toBe('unavailable');
    const second = await defaultCrib();
    expect([second === first, second.get('t')]).toEqual([false, undefined]);
    await resetDefaultCrib();
    await resetDefaultCrib();
  });
});
