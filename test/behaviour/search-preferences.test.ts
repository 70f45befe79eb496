import { expect, it } from 'vitest';
import { createCrib, defineTool } from '../../src/index.ts';

const tool = (name: string, description: string, tags: readonly string[] = []) =>
  defineTool({ name, description, tags, input: { type: 'object' }, run: () => name });

const TOOLS = [
  tool('send_letter', 'Send a letter to a customer', ['paper']),
  tool('send_mail', 'Send an email to a customer'),
  tool('send_parcel', 'Send a parcel to a customer'),
  tool('paint_fence', 'Paint the fence green'),
];

/** Searches under a profile with these preferences, beside one without. */
async function searchWith(query: string, search: object) {
  const crib = await createCrib({
    tools: TOOLS,
    profiles: { plain: {}, preferring: { search }, narrow: { exclude: ['send_parcel'], search } },
  });
  const hits = async (profile: string) => (await crib.open(profile, { id: 'ada' })).search(query);
  return { plain: await hits('plain'), preferring: await hits('preferring'), narrow: await hits('narrow') };
}

const namesOf = (hits: readonly { readonly name: string }[]) => hits.map(({ name }) => name);

it('a profile pins, boosts and buries tools by selectors: the order changes, the tools found do not', async () => {
  const preferences = { pin: ['send_parcel', 'paint_fence'], bury: 'tag:paper' };
  const { plain, preferring, narrow } = await searchWith('send a letter to a customer now', preferences);
  expect(namesOf(plain)).toEqual(['send_letter', 'send_mail', 'send_parcel']);
  expect(namesOf(preferring)).toEqual(['send_parcel', 'send_mail', 'send_letter']);
  expect(namesOf(narrow)).toEqual(['send_mail', 'send_letter']);
  expect(preferring[0]?.why).toMatch(/^pinned by the profile; /);
  expect(preferring[2]?.why).toMatch(/^buried by the profile; /);
  expect(preferring.map(({ score }) => score).toSorted()).toEqual(plain.map(({ score }) => score).toSorted());
});

it('the confidence of the best hit stays that of the request', async () => {
  const { plain, preferring } = await searchWith('send a letter to the green customer', { pin: 'paint_fence' });
  expect([plain[0]?.confidence, plain.at(-1)?.confidence]).toEqual(['high', 'low']);
  expect([preferring[0]?.name, preferring[0]?.confidence]).toEqual(['paint_fence', 'high']);
  const unclear = await searchWith('water the customer', { pin: 'send_parcel' });
  expect([unclear.plain[0]?.confidence, unclear.preferring[0]?.confidence]).toEqual(['low', 'low']);
});

it('a boosted tool comes before a slightly better one, and an exact match before a pinned tool', async () => {
  const { plain, preferring } = await searchWith('send a parcel to a customer or email', { boost: 'send_mail' });
  expect(namesOf(plain).slice(0, 2)).toEqual(['send_parcel', 'send_mail']);
  expect(namesOf(preferring).slice(0, 2)).toEqual(['send_mail', 'send_parcel']);
  const exact = await searchWith('send letter', { pin: 'send_parcel' });
  expect(namesOf(exact.preferring).slice(0, 2)).toEqual(['send_letter', 'send_parcel']);
});

it('a wrong list of preferences is refused with its place', async () => {
  await expect(searchWith('x', { pin: 7 })).rejects.toThrow(/search: pin must be a list of selectors/);
  await expect(searchWith('x', { pinned: [] })).rejects.toThrow(/search.*"pinned"/s);
});
