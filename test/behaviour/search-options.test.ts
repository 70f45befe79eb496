import { expect, it } from 'vitest';
import { createCrib, type SearchOptions } from '../../src/index.ts';
import { toolOf } from './small-crib.ts';

const named = (name: string, description: string) => toolOf(name, { description });

it.each([
  [{ limit: -1 }, /search: "limit" must be a number of at least 0, got -1/],
  [{ limit: Number.NaN }, /"limit"/],
  [{ limit: '2' }, /"limit" .*got "2"/],
  [{ limit: null }, /"limit" .*got null/],
  [{ minScore: Number.NaN }, /"minScore"/],
  [{ minScore: null }, /search: "minScore" must be a number, got null/],
  [{ minScore: '0.5' }, /"minScore"/],
  [{ expand: 'yes' }, /search: "expand" must be true or false, got "yes"/],
  [{ bundleFilter: ['a'] }, /search: "bundleFilter" must be a function, got a list/],
  [{ limits: 3 }, /search has no "limits"/],
])('search with %j is an error that names the option', async (options, expected) => {
  const chest = await (await createCrib({ tools: [named('mail', 'Send a letter')] })).open();
  await expect(chest.search('letter', options as unknown as SearchOptions)).rejects.toThrow(expected);
});

it('search accepts no limit and an infinite limit', async () => {
  const chest = await (await createCrib({ tools: [named('mail', 'Send a letter')] })).open();
  expect(await chest.search('letter', { limit: 0 })).toEqual([]);
  expect(await chest.search('letter', { limit: Number.POSITIVE_INFINITY })).toHaveLength(1);
});

it('an added tool names the hits it belongs with', async () => {
  const crib = await createCrib({
    bundles: [
      { name: 'web', tools: [named('click', 'Click a button'), named('type_text', 'Fill in a field')] },
      { name: 'office', tools: [named('mail', 'Send a letter'), named('stamp', 'Buy postage')], requires: 'purse' },
      { name: 'purse', tools: [named('pay', 'Hand over money')] },
    ],
  });
  const hits = await (await crib.open()).search('click a button. send a letter.', { expand: true });
  const why = Object.fromEntries(hits.map((hit) => [hit.name, hit.why]));
  expect(why.type_text).toBe('belongs with click');
  expect(why.stamp).toBe('belongs with mail');
  expect(why.pay).toMatch(/^belongs with (click, mail|mail, click)$/);
});

it('a reason names only a few of many hits', async () => {
  const tools = Array.from({ length: 9 }, (_, index) => named(`copy_${index}`, 'Copy a page'));
  const chest = await (await createCrib({ bundles: [{ name: 'copies', tools }] })).open();
  const hits = await chest.search('copy_0 copy_1 copy_2 copy_3', { limit: 4, expand: true });
  expect(hits.at(-1)?.why).toMatch(/^belongs with copy_[0-3], copy_[0-3], copy_[0-3] and others$/);
});
