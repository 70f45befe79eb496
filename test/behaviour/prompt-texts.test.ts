import { describe, expect, it } from 'vitest';
import { createCrib } from '../../src/index.ts';
import { bundleOf, toolOf } from './small-crib.ts';

const BUNDLES = [
  bundleOf('files', {
    instructions: 'Read before you write.',
    tools: [toolOf('read', { instructions: 'Give a path.' })],
  }),
  bundleOf('silent'),
  bundleOf('web', { instructions: 'Take a snapshot first.' }),
];

describe('prompt texts', () => {
  it('instructions() joins, by a blank line and in order, the prompt texts of active bundles and tools.', async () => {
    const chest = await (await createCrib({ bundles: BUNDLES })).open();
    expect(chest.instructions()).toBe('Read before you write.\n\nTake a snapshot first.\n\nGive a path.');
  });

  it('sections() gives them one by one.', async () => {
    const chest = await (await createCrib({ bundles: BUNDLES })).open();
    expect(chest.sections()).toEqual([
      { from: 'bundle', name: 'files', text: 'Read before you write.' },
      { from: 'bundle', name: 'web', text: 'Take a snapshot first.' },
      { from: 'tool', name: 'read', text: 'Give a path.' },
    ]);
  });

  it('Empty string if none.', async () => {
    const crib = await createCrib({ bundles: [bundleOf('silent')] });
    const chest = await crib.open();
    expect([chest.instructions(), chest.sections(), crib.instructions(), crib.sections()]).toEqual(['', [], '', []]);
  });

  it('The text of a tool outside the view is not shown.', async () => {
    const chest = await (
      await createCrib({ bundles: BUNDLES, profiles: { p: { exclude: ['read', 'web_*'] } } })
    ).open();
    expect(chest.instructions()).toBe('');
  });

  it('The crib has the same over everything.', async () => {
    const crib = await createCrib({ bundles: BUNDLES, profiles: { p: { include: [] } } });
    expect(crib.instructions()).toBe('Read before you write.\n\nTake a snapshot first.\n\nGive a path.');
    expect(crib.sections().map((section) => section.name)).toEqual(['files', 'web', 'read']);
  });

  it('The text of a tool in no bundle is shown.', async () => {
    const crib = await createCrib({
      tools: [toolOf('t', { instructions: 'Ask first.' })],
      profiles: { p: { active: [] } },
    });
    expect((await crib.open()).instructions()).toBe('Ask first.');
  });
});
