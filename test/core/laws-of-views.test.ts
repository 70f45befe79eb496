import fc from 'fast-check';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type Chest, type Crib, createCrib, defineTool, type ToolResult, tighten } from '../../src/index.ts';
import { sourceLists, sourceOf } from './arbitraries.ts';
import { bundlesOf, toolsOf, WORLD_NAMES, type World, world } from './worlds.ts';

// Selectors that match nothing are warned about on purpose, hundreds of times.
beforeAll(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
});

const ALL_NAMES = [...WORLD_NAMES, 'probe', 'nobody', '', 'constructor', '__proto__'];

function reached(result: ToolResult): string {
  return result.status === 'failed' ? result.error.code : result.status;
}

function namesOf(named: readonly { readonly name: string }[]): readonly string[] {
  return named.map(({ name }) => name);
}

async function inChest(made: Promise<Crib>, world: World, use: (chest: Chest, crib: Crib) => Promise<void>) {
  const crib = await made;
  await use(await crib.open('p', world.caller), crib);
  await crib.close();
}

describe('law 2: views', () => {
  it('Views filter after names are resolved, so that hiding one tool never lets a namesake take its place.', async () => {
    const hidden = fc.subarray(['source:source0', 'source:source1', 'alpha', 'w_*']);
    await fc.assert(
      fc.asyncProperty(sourceLists, hidden, fc.boolean(), async (lists, exclude, isGuarded) => {
        const guard = { access: [{ roles: ['ops'] }] };
        const sources = lists.map(({ source, specs }, index) =>
          sourceOf(source, isGuarded && index === 0 ? tighten(specs, guard) : specs),
        );
        const isHidden = (name: string, source: string) =>
          exclude.includes(`source:${source}`) ||
          exclude.includes(name) ||
          (exclude.includes('w_*') && name.startsWith('w_')) ||
          (isGuarded && source === 'source0');
        const crib = await createCrib({ sources, profiles: { p: { exclude } } });
        const chest = await crib.open('p', { id: 'alice', roles: ['dev'] });
        for (const name of new Set(lists.flatMap((list) => list.specs.map((spec) => spec.name)))) {
          const owner = lists.find((list) => list.specs.some((spec) => spec.name === name))?.source ?? '';
          expect(chest.get(name)?.source).toBe(isHidden(name, owner) ? undefined : owner);
        }
        await crib.close();
      }),
      { numRuns: 60 },
    );
  });
});

describe('law 5: calls', () => {
  it('chest.call(name) reaches a tool iff it is in the chest’s view. Anything else, role-hidden too, is unknown_tool.', async () => {
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        const runs: string[] = [];
        const tools = toolsOf(given, (name) => runs.push(name));
        const made = createCrib({ tools, bundles: bundlesOf(given), profiles: { p: given.profile } });
        await inChest(made, given, async (chest) => {
          for (const name of ALL_NAMES) {
            const isVisible = given.isVisible(name);
            expect([name, reached(await chest.call(name))]).toEqual([name, isVisible ? 'done' : 'unknown_tool']);
            expect(chest.get(name)?.name).toBe(isVisible ? name : undefined);
          }
          expect(runs).toEqual(WORLD_NAMES.filter(given.isVisible));
        });
      }),
      { numRuns: 100 },
    );
  });

  it('A tool that is hidden is answered exactly as one that does not exist.', async () => {
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        const profiles = { p: given.profile };
        const everything = createCrib({ tools: toolsOf(given, () => {}), bundles: bundlesOf(given), profiles });
        const visible = { ...given, tools: given.tools.filter(({ name }) => given.isVisible(name)) };
        const without = createCrib({ tools: toolsOf(visible, () => {}), bundles: bundlesOf(visible), profiles });
        const answers: ToolResult[][] = [];
        for (const made of [everything, without]) {
          await inChest(made, given, async (chest) => {
            answers.push(await Promise.all(ALL_NAMES.map((name) => chest.call(name))));
          });
        }
        expect(answers[0]).toEqual(answers[1]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('law 6: the reach of a tool', () => {
  it('Nested calls never leave the view they started in.', async () => {
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        const runs: string[] = [];
        const seen: { listed?: readonly string[]; found?: readonly string[]; called?: readonly string[] } = {};
        const probe = defineTool({
          name: 'probe',
          description: 'Looks around',
          input: { type: 'object' },
          async run(_, { tools }) {
            seen.listed = namesOf(tools.list());
            seen.found = namesOf(await tools.search(WORLD_NAMES.join(' '), { limit: 100 }));
            seen.called = (await Promise.all(WORLD_NAMES.map((name) => tools.call(name, {})))).map(reached);
          },
        });
        const tools = [...toolsOf(given, (name) => runs.push(name)), probe];
        const { include = ['*'] } = given.profile;
        const profile = { ...given.profile, include: [...include, 'probe'] };
        const made = createCrib({ tools, bundles: bundlesOf(given), profiles: { p: profile } });
        await inChest(made, given, async (chest) => {
          if (chest.get('probe') === undefined) return; // the whole profile is closed to this caller
          await chest.call('probe');
          const visible = WORLD_NAMES.filter(given.isVisible);
          expect(seen.listed).toEqual(namesOf(chest.list()));
          expect([...visible, 'probe']).toEqual(expect.arrayContaining([...(seen.listed ?? [])]));
          // It is in the view itself, and may be near in meaning where nothing else is.
          expect(seen.found?.filter((name) => name !== 'probe').toSorted()).toEqual(visible.toSorted());
          expect(seen.called).toEqual(WORLD_NAMES.map((name) => (given.isVisible(name) ? 'done' : 'unknown_tool')));
          expect(runs).toEqual(visible);
        });
      }),
      { numRuns: 100 },
    );
  });

  it('Expansion never leaves the view, and never leaves out a tool that belongs to a hit.', async () => {
    await fc.assert(
      fc.asyncProperty(world, fc.constantFrom(...WORLD_NAMES), async (given, wanted) => {
        const made = createCrib({
          tools: toolsOf(given, () => {}),
          bundles: bundlesOf(given),
          profiles: { p: given.profile },
        });
        await inChest(made, given, async (chest) => {
          const [first] = await chest.search(wanted, { limit: 1 });
          const expanded = await chest.search(wanted, { limit: 1, expand: true });
          const names = namesOf(expanded);
          expect(names.filter((name) => !given.isVisible(name))).toEqual([]);
          expect(names[0]).toBe(first?.name);
          const home = given.tools.find((tool) => tool.name === first?.name)?.bundle;
          for (const { name, bundle } of given.tools) {
            if (home !== undefined && bundle === home && given.isVisible(name)) expect(names).toContain(name);
          }
        });
      }),
      { numRuns: 100 },
    );
  });
});
