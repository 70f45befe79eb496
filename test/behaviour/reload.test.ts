import { describe, expect, it, vi } from 'vitest';
import { type Changes, createCrib, type Source } from '../../src/index.ts';
import { bundleOf, changingSource, endOf, namesOf, oneTurn, toolOf } from './small-crib.ts';

const NOTHING: Changes = { added: [], removed: [], changed: [] };

describe('reload', () => {
  it('Build new, swap, report added / removed / changed.', async () => {
    const same = toolOf('same');
    const remote = changingSource('remote', [same, toolOf('gone'), toolOf('edited')]);
    const crib = await createCrib({ sources: [remote.source] });
    const chest = await crib.open();
    remote.put([same, toolOf('edited', { description: 'Another' }), toolOf('new')]);
    expect(await crib.reload()).toEqual({ added: ['new'], removed: ['gone'], changed: ['edited'] });
    expect(namesOf(chest.list())).toEqual(['same', 'edited', 'new']);
    expect(chest.get('edited')?.description).toBe('Another');
    expect(await crib.reload()).toEqual(NOTHING);
  });

  it('A failure keeps the old list, affects only its source, and is shown.', async () => {
    const failing = changingSource('failing', [toolOf('old')]);
    const sound = changingSource('sound', []);
    const crib = await createCrib({ sources: [failing.source, sound.source] });
    failing.failWith(new Error('no network'));
    failing.put([toolOf('never_read')]);
    sound.put([toolOf('new')]);
    expect(await crib.reload()).toEqual({ added: ['new'], removed: [], changed: [] });
    expect(namesOf(crib.catalog.specs)).toEqual(['old', 'new']);
    expect(crib.sources().find(({ name }) => name === 'failing')).toMatchObject({
      state: 'down',
      reason: expect.stringContaining('no network'),
    });
    failing.failWith(undefined);
    expect(await crib.reload()).toEqual({ added: ['never_read'], removed: ['old'], changed: [] });
    expect(crib.sources().every(({ state }) => state === 'ready')).toBe(true);
  });

  it('A name never moves to another owner while its source is merely down.', async () => {
    const first = changingSource('first', [toolOf('t')]);
    const second = changingSource('second', [toolOf('t')]);
    const crib = await createCrib({ sources: [first.source, second.source] });
    first.failWith(new Error('gone for a while'));
    await crib.reload();
    expect(crib.get('t')?.source).toBe('first');
  });

  it('A name is free for the next source in order once its owner no longer lists it.', async () => {
    const first = changingSource('first', [toolOf('t')]);
    const second = changingSource('second', [toolOf('t')]);
    const crib = await createCrib({ sources: [first.source, second.source] });
    first.put([]);
    await crib.reload();
    expect([crib.get('t')?.source, crib.catalog.held]).toEqual(['second', []]);
  });

  it('Tools registered by hand survive, and so do bundles that were defined.', async () => {
    const crib = await createCrib({ sources: [changingSource('remote', []).source] });
    crib.register(toolOf('mine'));
    crib.bundles.define(bundleOf('a'));
    expect(await crib.reload()).toEqual(NOTHING);
    expect([namesOf(crib.catalog.specs), crib.bundles.names()]).toEqual([
      ['mine', 'a_tool'],
      ['a', 'remote'],
    ]);
  });

  it('Calls in flight keep the tool they began with.', async () => {
    const gate = Promise.withResolvers<string>();
    const remote = changingSource('remote', [toolOf('t', { run: () => gate.promise })]);
    const crib = await createCrib({ sources: [remote.source] });
    const chest = await crib.open();
    const result = chest.call('t');
    remote.put([]);
    await crib.reload();
    gate.resolve('from the old one');
    expect(await result).toMatchObject({ ok: true, content: [{ text: 'from the old one' }] });
    expect(endOf(await chest.call('t'))).toBe('unknown_tool');
  });

  it('What a chest has active stays.', async () => {
    const remote = changingSource('remote', [toolOf('one')]);
    const crib = await createCrib({ sources: [remote.source], bundles: [bundleOf('a')] });
    const chest = await crib.open();
    await chest.setActive('remote');
    remote.put([toolOf('two')]);
    await crib.reload();
    expect([chest.active(), namesOf(chest.list())]).toEqual([['remote'], ['two']]);
  });

  it('Reloads at once are made one after the other, so that each reports its own difference.', async () => {
    const remote = changingSource('remote', []);
    const crib = await createCrib({ sources: [remote.source] });
    remote.put([toolOf('new')]);
    const [first, second] = await Promise.all([crib.reload(), crib.reload()]);
    expect([first.added, second.added]).toEqual([['new'], []]);
  });
});

describe('changes between reloads', () => {
  it('A list that its source says has changed is seen by open chests.', async () => {
    const remote = changingSource('remote', [toolOf('one')]);
    const crib = await createCrib({ sources: [remote.source] });
    const chest = await crib.open();
    expect(namesOf(chest.list())).toEqual(['one']);
    remote.put([toolOf('two')]);
    remote.announce();
    expect([namesOf(chest.list()), endOf(await chest.call('one'))]).toEqual([['two'], 'unknown_tool']);
  });

  it('onChange tells each difference once, and many changes at once are one.', async () => {
    const remote = changingSource('remote', []);
    const crib = await createCrib({ sources: [remote.source] });
    const told: Changes[] = [];
    const stop = crib.onChange((changes) => told.push(changes));
    remote.put([toolOf('new')]);
    remote.announce();
    crib.register(toolOf('mine'));
    await oneTurn();
    expect(told).toEqual([{ added: ['mine', 'new'], removed: [], changed: [] }]);
    stop();
    crib.unregister('mine');
    await oneTurn();
    expect(told).toHaveLength(1);
  });

  it('A listener that throws keeps no other from being told.', async () => {
    const crib = await createCrib();
    const listener = vi.fn();
    crib.onChange(() => {
      throw new Error('broken listener');
    });
    crib.onChange(listener);
    crib.register(toolOf('t'));
    await oneTurn();
    expect(listener).toHaveBeenCalledOnce();
    expect(crib.warnings()).toEqual([expect.stringContaining('broken listener')]);
  });

  it.each<[string, Source['start']]>([
    ['rejects', () => Promise.reject(new Error('no such server'))],
    [
      'throws at once',
      () => {
        throw new Error('no such server');
      },
    ],
  ])('A source whose start %s affects no other.', async (_, start) => {
    const crib = await createCrib({ tools: [toolOf('t')], sources: [{ name: 'bad', start }] });
    expect(namesOf((await crib.open()).list())).toEqual(['t']);
    expect(crib.sources().find(({ name }) => name === 'bad')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('no such server'),
    });
  });
});
