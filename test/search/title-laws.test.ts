import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCatalogue } from '../../bench/requests/catalogue-list.ts';
import { toSpecs } from '../../bench/retrieval-data.ts';
import type { ToolSpec } from '../../src/core/tool-spec.ts';
import { builtinRetriever } from '../../src/search/builtin-retriever.ts';
import { systemClock } from '../../src/system/clock.ts';
import { namesOf, specOf } from './specs.ts';

const VERBS = { create: 'Create', delete: 'Delete', update: 'Update', get: 'Get', list: 'List' } as const;
const SYNONYMS: Readonly<Record<keyof typeof VERBS, readonly string[]>> = {
  create: ['add', 'make', 'set up'],
  delete: ['remove', 'erase', 'get rid of'],
  update: ['edit', 'change', 'modify'],
  get: ['fetch', 'retrieve', 'show'],
  list: ['show', 'browse'],
};
const THINGS = ['invoice', 'repository', 'webhook', 'calendar event', 'shipping label', 'access token', 'newsletter'];
const TITLES = Object.keys(VERBS).flatMap((verb) =>
  THINGS.map((thing) => ({ verb: verb as keyof typeof VERBS, thing })),
);

/** Every verb with every thing: near-duplicates, as an API has them. */
const API: readonly ToolSpec[] = TITLES.map(({ verb, thing }) =>
  specOf(`${verb}_${thing.replaceAll(' ', '_')}`, `${VERBS[verb]} ${thing}. It needs the scope of the ${thing}.`, {
    title: `${VERBS[verb]} ${thing}`,
    source: 'shop',
  }),
);
const OTHERS: readonly ToolSpec[] = ['moon phase', 'tide table', 'star chart', 'meteor shower'].flatMap((thing) => [
  specOf(`compute_${thing.replace(' ', '_')}`, `Computes the ${thing} of a night.`, { source: 'sky' }),
  specOf(`draw_${thing.replace(' ', '_')}`, `Draws the ${thing} of a night.`, { source: 'sky' }),
]);

const title = fc.constantFrom(...TITLES);
const words = fc
  .array(fc.constantFrom('paginated', 'scope', 'invoice', 'deprecated', 'token', 'limit', 'delete', 'of', 'the'), {
    minLength: 5,
    maxLength: 60,
  })
  .map((list) => list.join(' '));

function retrieverOf(specs: readonly ToolSpec[]) {
  const retriever = builtinRetriever({
    clock: systemClock,
    warn: (message) => {
      throw new Error(message);
    },
  });
  retriever.add(specs);
  return (query: string) => retriever.rank(query, { limit: 10, minScore: 0 });
}

const nameOf = ({ verb, thing }: (typeof TITLES)[number]): string => `${verb}_${thing.replaceAll(' ', '_')}`;

describe('what a tool is called', () => {
  const rank = retrieverOf(API);

  it('a title as a request finds its tool first, with high confidence', async () => {
    for (const one of TITLES) {
      const [best] = await rank(`${VERBS[one.verb]} ${one.thing}`);
      expect(best).toMatchObject({ name: nameOf(one), confidence: 'high' });
    }
  });

  it('so does a title with a synonym of its verb', async () => {
    for (const one of TITLES.filter(({ verb }) => verb !== 'get' && verb !== 'list'))
      for (const synonym of SYNONYMS[one.verb])
        expect([synonym, (await rank(`${synonym} the ${one.thing}`))[0]?.name]).toEqual([synonym, nameOf(one)]);
    // Reading one thing and listing all of them have synonyms in common.
    for (const one of TITLES.filter(({ verb }) => verb === 'get' || verb === 'list'))
      for (const synonym of SYNONYMS[one.verb]) {
        const best = (await rank(`${synonym} the ${one.thing}`))[0]?.name;
        expect([nameOf({ ...one, verb: 'get' }), nameOf({ ...one, verb: 'list' })]).toContain(best);
      }
  });

  it.each(['python', 'shell'])('so does a description of one sentence, in the catalogue %s', async (catalogue) => {
    const specs = toSpecs(readCatalogue(catalogue) ?? []);
    const rankThese = retrieverOf(specs);
    for (const { name, description } of specs.filter((spec) => /^[^.]{20,}\.?$/.test(spec.description)))
      expect([description, (await rankThese(description))[0]?.name]).toEqual([description, name]);
  });

  it('a longer description and more parameters do not lower a tool for its title', async () => {
    await fc.assert(
      fc.asyncProperty(title, words, fc.array(words, { maxLength: 5 }), async (one, notes, parameters) => {
        const properties = Object.fromEntries(parameters.map((text, place) => [`p${place}`, { description: text }]));
        const longer = API.map((spec) =>
          spec.name === nameOf(one)
            ? { ...spec, description: `${spec.description} ${notes}`, input: { type: 'object', properties } }
            : spec,
        );
        const [best] = await retrieverOf(longer)(`${VERBS[one.verb]} ${one.thing}`);
        expect(best).toMatchObject({ name: nameOf(one), confidence: 'high' });
      }),
      { numRuns: 20 },
    );
  });

  it('tools of another domain change the order within this one by no more than ties', async () => {
    const rankAmongOthers = retrieverOf([...API, ...OTHERS]);
    await fc.assert(
      fc.asyncProperty(title, fc.constantFrom('', ' of the customer', ' for my shop'), async (one, rest) => {
        const query = `${SYNONYMS[one.verb][0]} a ${one.thing}${rest}`;
        const before = await rank(query);
        const scores = new Map(before.map(({ name, score }) => [name, score]));
        const after = namesOf(await rankAmongOthers(query)).flatMap((name) => scores.get(name) ?? []);
        after.forEach((score, place) => {
          expect(score).toBeLessThanOrEqual((after[place - 1] ?? 1) + TIE);
        });
      }),
      { numRuns: 40 },
    );
  });
});

/** Scores that differ by less count as equal. */
const TIE = 0.02;
