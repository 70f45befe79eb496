import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolve } from '../../src/core/catalog.ts';
import { type Claim, refuseClashing } from '../../src/crib/sources/name-clashes.ts';
import { specOf } from './arbitraries.ts';

const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 4 });
const toSpecs = (list: readonly string[]) => list.map((name) => specOf(name));

/** Sources that have no name twice, each perhaps with a list that is to come. */
const claims = fc
  .tuple(fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.nat(3)), { selector: ([name]) => name }))
  .chain(([owned]) => fc.tuple(fc.constant(owned), fc.array(fc.option(names), { minLength: 4, maxLength: 4 })))
  .map(([owned, next]) =>
    next.map(
      (list, index): Claim => ({
        source: `source_${index}`,
        specs: toSpecs(owned.filter(([, owner]) => owner === index).map(([name]) => name)),
        next: list === null ? undefined : toSpecs(list),
      }),
    ),
  );

const listsAfter = (given: readonly Claim[], refused: ReadonlyMap<Claim, string>) =>
  given.map((claim) => ({
    source: claim.source,
    specs: refused.has(claim) ? claim.specs : (claim.next ?? claim.specs),
  }));

describe('lists that replace others', () => {
  it('are refused until no name is claimed twice', () => {
    fc.assert(
      fc.property(claims, (given) => {
        expect(resolve(listsAfter(given, refuseClashing(given))).held).toEqual([]);
      }),
    );
  });

  it('are all accepted if they fit together, however names move', () => {
    fc.assert(
      fc.property(claims, (given) => {
        fc.pre(resolve(listsAfter(given, new Map())).held.length === 0);
        expect([...refuseClashing(given).keys()]).toEqual([]);
      }),
    );
  });

  it('are refused only if they change something, with a message that names the tool and both sources', () => {
    fc.assert(
      fc.property(claims, (given) => {
        for (const [claim, words] of refuseClashing(given)) {
          expect(claim.next).toBeDefined();
          expect(words).toMatch(
            /^"[a-e]" (is defined twice in|comes from both source_\d and) source_\d; (rename|prefix) one/,
          );
        }
      }),
    );
  });
});
