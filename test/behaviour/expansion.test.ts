import { describe, expect, it } from 'vitest';
import { type BundleInput, type CribBundles, createCrib, type ToolInput } from '../../src/index.ts';
import { bundleOf, namesOf, toolOf } from './small-crib.ts';

async function bundlesOf(bundles: readonly BundleInput[], tools: readonly ToolInput[] = []): Promise<CribBundles> {
  return (await createCrib({ bundles, tools })).bundles;
}

const WEB = { name: 'web', tools: [toolOf('open_page'), toolOf('click'), toolOf('snapshot')] };
const FILES = { name: 'files', tools: [toolOf('read'), toolOf('write')] };

describe('expansion', () => {
  it('Hits first in order, then missing siblings in bundle order.', async () => {
    const { expand } = await bundlesOf([FILES, WEB]);
    expect(expand(['snapshot', 'write'])).toEqual(['snapshot', 'write', 'open_page', 'click', 'read']);
    expect(expand(['click', 'open_page'])).toEqual(['click', 'open_page', 'snapshot']);
  });

  it('Among siblings a higher priority comes first, equal ones in bundle order.', async () => {
    const tools = [
      toolOf('a'),
      toolOf('b', { priority: 1 }),
      toolOf('c'),
      toolOf('d', { priority: 5 }),
      toolOf('e', { priority: 1 }),
    ];
    const { expand } = await bundlesOf([{ name: 'x', tools }]);
    expect(expand(['c'])).toEqual(['c', 'd', 'b', 'e', 'a']);
  });

  it('Of several bundles of a hit the one of higher priority is expanded first.', async () => {
    const low = { name: 'low', tools: [toolOf('hit'), toolOf('low_sibling')] };
    const high = { name: 'high', tools: [toolOf('high_sibling')], include: ['hit'], priority: 1 };
    expect((await bundlesOf([low, high])).expand(['hit'])).toEqual(['hit', 'high_sibling', 'low_sibling']);
  });

  it('bundleFilter is asked once about a bundle, however many of its tools are hits.', async () => {
    const { expand } = await bundlesOf([FILES, WEB]);
    const asked: string[] = [];
    expand(['click', 'read', 'snapshot', 'write'], { bundleFilter: ({ name }) => asked.push(name) > 0 });
    expect(asked).toEqual(['web', 'files']);
  });

  it('Requirements of a bundle are added after its siblings.', async () => {
    const { expand } = await bundlesOf([{ ...WEB, requires: 'files' }, FILES]);
    expect(expand(['click'])).toEqual(['click', 'open_page', 'snapshot', 'read', 'write']);
  });

  it('Requirements of a bundle are added recursively, as activating it shows them.', async () => {
    const bundles = [bundleOf('a', { requires: 'b' }), bundleOf('b', { requires: 'c' }), bundleOf('c')];
    expect((await bundlesOf(bundles)).expand(['a_tool'])).toEqual(['a_tool', 'b_tool', 'c_tool']);
  });

  it('Requirements of a tool are added always, also of a hit in no bundle, and theirs in turn.', async () => {
    const tools = [
      toolOf('order', { requires: ['pay'] }),
      toolOf('pay', { requires: ['sign'] }),
      toolOf('sign'),
      toolOf('other'),
    ];
    expect((await bundlesOf([], tools)).expand(['order'])).toEqual(['order', 'pay', 'sign']);
  });

  it('Requirements of a tool are added even if bundleFilter leaves its bundle unexpanded.', async () => {
    const shop = { name: 'shop', tools: [toolOf('order', { requires: ['pay'] }), toolOf('browse')] };
    const { expand } = await bundlesOf([shop], [toolOf('pay')]);
    expect(expand(['order'], { bundleFilter: () => false })).toEqual(['order', 'pay']);
  });

  it('A required tool that is nowhere is left out.', async () => {
    const tools = [toolOf('order', { requires: ['nowhere', 'pay'] }), toolOf('pay')];
    expect((await bundlesOf([], tools)).expand(['order'])).toEqual(['order', 'pay']);
  });

  it('Tools that require each other end the search.', async () => {
    const tools = [toolOf('a', { requires: ['b'] }), toolOf('b', { requires: ['a'] })];
    expect((await bundlesOf([], tools)).expand(['a'])).toEqual(['a', 'b']);
  });

  it('Never twice.', async () => {
    const both = { name: 'both', include: ['read', 'click', 'write'], requires: ['files', 'web'] };
    const { expand } = await bundlesOf([FILES, WEB, both]);
    const names = expand(['read', 'click', 'read']);
    expect(names).toEqual([...new Set(names)]);
    expect([...names].sort()).toEqual(['click', 'open_page', 'read', 'snapshot', 'write']);
  });

  it('bundleFilter returning false leaves that bundle unexpanded and keeps the hit.', async () => {
    const { expand } = await bundlesOf([FILES, WEB]);
    expect(expand(['read', 'click'], { bundleFilter: (bundle) => bundle.name === 'web' })).toEqual([
      'read',
      'click',
      'open_page',
      'snapshot',
    ]);
  });

  it.each([
    [{ bundleFiltr: () => true }, 'expand has no "bundleFiltr". Did you mean "bundleFilter"?'],
    [{ bundleFilter: 'web' }, '"bundleFilter" of expand must be a function, got "web".'],
    [() => true, 'expand must be an object, got a function.'],
  ])('Meaningless options are refused: %o', async (options, message) => {
    const { expand } = await bundlesOf([FILES, WEB]);
    expect(() => expand(['read'], options as never)).toThrow(message); // plain JavaScript gives anything
  });

  it('Tools in no bundle pass through.', async () => {
    const { expand } = await bundlesOf([FILES], [toolOf('lonely')]);
    expect(expand(['lonely', 'read'])).toEqual(['lonely', 'read', 'write']);
  });

  it('Empty in, empty out.', async () => {
    expect((await bundlesOf([FILES])).expand([])).toEqual([]);
  });
});

describe('expansion in a search', () => {
  it('The default is off.', async () => {
    const chest = await (await createCrib({ bundles: [WEB, FILES] })).open();
    expect(namesOf(await chest.search('click'))).toEqual(['click']);
    expect(namesOf(await chest.search('click', { expand: true }))).toEqual(['click', 'open_page', 'snapshot']);
  });

  it('It is always inside the view.', async () => {
    const bundles = [{ ...WEB, requires: 'files' }, FILES];
    const chest = await (await createCrib({ bundles, profiles: { p: { exclude: ['snapshot', 'write'] } } })).open();
    expect(namesOf(await chest.search('click', { expand: true }))).toEqual(['click', 'open_page', 'read']);
  });

  it('bundleFilter is asked there, too.', async () => {
    const chest = await (await createCrib({ bundles: [WEB, FILES] })).open();
    const bundleFilter = ({ name }: { readonly name: string }) => name === 'files';
    expect(namesOf(await chest.search('click read', { expand: true, bundleFilter }))).toEqual([
      'click',
      'read',
      'write',
    ]);
  });

  it('What was added says with which hits it belongs and has no score.', async () => {
    const chest = await (await createCrib({ bundles: [FILES] })).open();
    const [hit, sibling] = await chest.search('read', { expand: true });
    expect(hit).toMatchObject({ name: 'read', bundle: 'files', why: expect.stringContaining('named in the request') });
    expect(sibling).toMatchObject({ name: 'write', bundle: 'files', score: 0, why: 'belongs with read' });
  });

  it('A search that finds nothing is not expanded.', async () => {
    const chest = await (await createCrib({ bundles: [FILES] })).open();
    expect(await chest.search('zebra', { expand: true })).toEqual([]);
  });
});
