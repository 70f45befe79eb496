import { describe, expect, it } from 'vitest';
import { createCrib, defineBundle } from '../../src/index.ts';
import { bundleOf, changingSource, namesOf, toolOf } from './small-crib.ts';

describe('crib.bundles', () => {
  it('define brings a bundle and its tools, and open chests see it.', async () => {
    const crib = await createCrib();
    const chest = await crib.open();
    crib.bundles.define(bundleOf('a'));
    expect([crib.bundles.names(), namesOf(chest.list())]).toEqual([['a'], ['a_tool']]);
  });

  it('get gives the bundle with its members, requirements and instructions.', async () => {
    const crib = await createCrib({
      bundles: [bundleOf('b'), bundleOf('a', { requires: 'b', instructions: 'Mind.' })],
    });
    expect(crib.bundles.get('a')).toMatchObject({
      name: 'a',
      members: ['a_tool'],
      requires: ['b'],
      instructions: 'Mind.',
    });
  });

  it('of(tool) gives the bundles a tool is in, higher priority first.', async () => {
    const bundles = [bundleOf('low'), { name: 'high', include: ['low_tool'], priority: 5 }, bundleOf('other')];
    const crib = await createCrib({ bundles });
    expect(namesOf(crib.bundles.of('low_tool'))).toEqual(['high', 'low']);
    expect(crib.bundles.of('nowhere')).toEqual([]);
  });

  it('info is { name, toolCount, toolNames, meta }.', async () => {
    const tools = [toolOf('x'), toolOf('y')];
    const crib = await createCrib({ bundles: [{ name: 'a', tools, meta: { team: 'blue' } }, { name: 'empty' }] });
    expect(crib.bundles.info('a')).toEqual({ name: 'a', toolCount: 2, toolNames: ['x', 'y'], meta: { team: 'blue' } });
    expect(crib.bundles.info('empty')).toEqual({ name: 'empty', toolCount: 0, toolNames: [], meta: {} });
  });

  it('addTools adds new tools and known ones by name, one or several.', async () => {
    const crib = await createCrib({ tools: [toolOf('known')], bundles: [bundleOf('a')] });
    crib.bundles.addTools('a', ['known', toolOf('new')]);
    crib.bundles.addTools('a', 'known');
    crib.bundles.addTools('a', toolOf('newer'));
    expect(crib.bundles.info('a')?.toolNames).toEqual(['a_tool', 'known', 'new', 'newer']);
    expect(crib.get('newer')?.name).toBe('newer');
  });

  it('addTools takes all or none.', async () => {
    const crib = await createCrib({ tools: [toolOf('taken')], bundles: [bundleOf('a')] });
    expect(() => crib.bundles.addTools('a', [toolOf('fresh'), toolOf('taken')])).toThrow('"taken" comes from both');
    expect(() => crib.bundles.addTools('a', [toolOf('fresh'), 'nowhere'])).toThrow('The tool "nowhere" was not found');
    expect([crib.get('fresh'), crib.bundles.info('a')?.toolNames]).toEqual([undefined, ['a_tool']]);
  });

  it('removeTool takes a tool out of a bundle; the tool itself stays.', async () => {
    const crib = await createCrib({ bundles: [bundleOf('a')] });
    crib.bundles.removeTool('a', 'a_tool');
    expect([crib.bundles.info('a')?.toolNames, crib.get('a_tool')?.name]).toEqual([[], 'a_tool']);
  });

  it('clear forgets all bundles; their tools stay.', async () => {
    const crib = await createCrib({ bundles: [bundleOf('a'), bundleOf('b')] });
    const chest = await crib.open();
    crib.bundles.clear();
    expect([crib.bundles.names(), crib.bundles.of('a_tool'), chest.available()]).toEqual([[], [], []]);
    expect(namesOf(chest.list())).toEqual(['a_tool', 'b_tool']);
  });

  it('After clear a name is free again.', async () => {
    const crib = await createCrib({ bundles: [bundleOf('a')] });
    crib.bundles.clear();
    crib.bundles.define({ name: 'a', include: ['a_tool'] });
    expect(crib.bundles.info('a')?.toolNames).toEqual(['a_tool']);
  });

  it('Same name twice is an error, and the first stays as it was.', async () => {
    const crib = await createCrib({ bundles: [bundleOf('a')] });
    expect(() => crib.bundles.define({ name: 'a', tools: [toolOf('other')] })).toThrow('two bundles named "a"');
    expect([crib.bundles.info('a')?.toolNames, crib.get('other')]).toEqual([['a_tool'], undefined]);
    await expect(createCrib({ bundles: [{ name: 'x' }, { name: 'x' }] })).rejects.toMatchObject({ code: 'duplicate' });
  });

  it('Unknown is undefined on read.', async () => {
    const { bundles } = await createCrib({ bundles: [bundleOf('a')] });
    expect([bundles.get('z'), bundles.info('z'), bundles.of('z')]).toEqual([undefined, undefined, []]);
  });

  it('Unknown is an error on write, naming the nearest known one.', async () => {
    const { bundles } = await createCrib({ bundles: [bundleOf('files')] });
    expect(() => bundles.addTools('fils', toolOf('t'))).toThrow(
      'The bundle "fils" was not found. Did you mean "files"?',
    );
    expect(() => bundles.removeTool('fils', 'files_tool')).toThrow('Did you mean "files"?');
    expect(() => bundles.removeTool('files', 'nowhere')).toThrow('"nowhere" cannot be removed from bundle "files"');
  });

  it('Reading a bundle cannot change the crib.', async () => {
    const crib = await createCrib({ bundles: [bundleOf('a')] });
    const info = crib.bundles.info('a');
    Reflect.set(info?.toolNames ?? [], 0, 'forged');
    Reflect.set(crib.bundles.names(), 0, 'forged');
    expect([crib.bundles.info('a')?.toolNames, crib.bundles.names()]).toEqual([['a_tool'], ['a']]);
  });
});

describe('joining a bundle', () => {
  const route = async (name: string) => {
    const remote = changingSource('remote', [toolOf('remote_tool')]);
    const homed = changingSource('homed', [toolOf('homed_tool')], { bundle: 'given' });
    const crib = await createCrib({
      tools: [toolOf('selected'), toolOf('added')],
      bundles: [
        defineBundle({ name: 'given', tools: [toolOf('inline')], include: ['selected'] }),
        { name: 'derived', extends: 'given' },
      ],
      sources: [remote.source, homed.source],
    });
    crib.bundles.addTools('given', ['added', toolOf('new')]);
    return { crib, of: namesOf(crib.bundles.of(name)) };
  };

  it.each([
    ['in code', 'inline', ['given', 'derived']],
    ['by a selector', 'selected', ['given', 'derived']],
    ['by addTools and its name', 'added', ['given', 'derived']],
    ['by addTools, new', 'new', ['given', 'derived']],
    ['from a source of its own', 'remote_tool', ['remote']],
    ['from a source that names the bundle', 'homed_tool', ['given', 'derived']],
  ])('A tool that joins a bundle %s is found by bundles.of(tool) and expanded.', async (_, name, homes) => {
    const { crib, of } = await route(name);
    expect(of).toEqual(homes);
    const siblings = crib.bundles.get(homes[0] ?? '')?.members ?? [];
    expect(crib.bundles.expand([name])).toEqual([name, ...siblings.filter((member) => member !== name)]);
    const other = siblings.find((member) => member !== name);
    if (other !== undefined) expect(crib.bundles.expand([other])).toContain(name);
  });

  it('A tool that a source lists later joins its bundle.', async () => {
    const remote = changingSource('remote', [toolOf('one')]);
    const crib = await createCrib({ sources: [remote.source] });
    remote.put([toolOf('one'), toolOf('two')]);
    remote.announce();
    expect([namesOf(crib.bundles.of('two')), crib.bundles.expand(['one'])]).toEqual([['remote'], ['one', 'two']]);
  });

  it('A tool that is registered later joins the bundle whose selector matches it.', async () => {
    const crib = await createCrib({ bundles: [{ name: 'reading', include: ['tag:read'] }] });
    crib.register(toolOf('later', { tags: ['read'] }));
    expect(crib.bundles.info('reading')?.toolNames).toEqual(['later']);
  });

  it('Inline tools make no bundle.', async () => {
    const crib = await createCrib({ tools: [toolOf('t')] });
    expect([crib.bundles.names(), crib.bundles.of('t')]).toEqual([[], []]);
  });
});
