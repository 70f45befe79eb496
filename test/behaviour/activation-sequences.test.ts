import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCrib } from '../../src/index.ts';
import { bundleOf, namesOf, toolOf } from './small-crib.ts';

const KNOWN = ['a', 'b', 'c', 'd'];
const names = fc.array(fc.constantFrom(...KNOWN, 'unknown'), { maxLength: 4 });
const step = fc.record({
  change: fc.constantFrom('activate', 'deactivate', 'setActive', 'addEssential'),
  names: fc.oneof(names, fc.constantFrom(...KNOWN, 'unknown')),
});
const start = fc.record({ essential: fc.subarray(KNOWN), active: fc.subarray(KNOWN) }, { requiredKeys: [] });

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What the statements say, on two sets. */
function createModel(profile: { readonly essential?: readonly string[]; readonly active?: readonly string[] }) {
  const essential = new Set(profile.essential);
  let chosen = new Set(profile.active ?? KNOWN);
  const active = () => KNOWN.filter((name) => essential.has(name) || chosen.has(name));

  /** Makes the change and tells which names it took. */
  const apply = ({ change, names }: Step): readonly string[] => {
    const wanted = [...new Set([names].flat())];
    const known = wanted.filter((name) => KNOWN.includes(name));
    switch (change) {
      case 'activate':
        chosen = chosen.union(new Set(known));
        return known;
      case 'addEssential':
        for (const name of known) essential.add(name);
        return known;
      case 'setActive':
        if (known.length < wanted.length) return [];
        chosen = new Set(known);
        return known;
      case 'deactivate': {
        const taken = known.filter((name) => active().includes(name) && !essential.has(name));
        chosen = chosen.difference(new Set(taken));
        return taken;
      }
    }
  };
  return { essential, active, apply };
}

describe('any sequence of changes', () => {
  it('Whatever is changed in whatever order, a chest shows what the statements say, and sets each bundle up at most once.', async () => {
    await fc.assert(
      fc.asyncProperty(start, fc.array(step, { maxLength: 12 }), async (profile, steps) => {
        const setups: string[] = [];
        const bundles = KNOWN.map((name) => bundleOf(name, { setup: () => void setups.push(name) }));
        const crib = await createCrib({ tools: [toolOf('free')], bundles, profiles: { p: profile } });
        const chest = await crib.open();
        const model = createModel(profile);
        for (const next of steps) {
          const outcome = await chest[next.change](next.names);
          const applied = model.apply(next);
          expect(outcome.applied).toEqual(applied);
          expect(outcome.ok).toBe(outcome.rejected.length === 0);
          expect(chest.active()).toEqual(model.active());
          expect(chest.essential()).toEqual(KNOWN.filter((name) => model.essential.has(name)));
          expect(namesOf(chest.list())).toEqual(['free', ...model.active().map((name) => `${name}_tool`)]);
        }
        expect(setups).toEqual([...new Set(setups)]);
        await crib.close();
      }),
      { numRuns: 150 },
    );
  });
});
