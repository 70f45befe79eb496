import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNearTools } from '../../src/search/dense/near-tools.ts';
import { createNameTerms } from '../../src/search/lexical/similar-names.ts';
import { createTopIds, type IsBefore, selectFirst, sortNumbers } from '../../src/search/top-ids.ts';

// Few different ones, so that many are equal; and some that differ in their last bits.
const score = fc.oneof(
  fc.constantFrom(0, 0.25, 0.5, 0.75, 1, 2),
  fc.float({ min: 0, max: 1000, noNaN: true }).map((value) => value + 0),
  fc.nat(5).map((step) => 1 + step * 2 ** -23),
);
const scores = fc.array(score, { maxLength: 60, size: 'max' });

describe('the best of many', () => {
  // One for all: what it found before must not matter.
  const topIds = createTopIds();

  it('by words equal those of a sort, among the allowed ones', () => {
    fc.assert(
      fc.property(scores, fc.integer({ min: 0, max: 20 }), fc.integer({ min: 1, max: 4 }), (list, limit, step) => {
        const isAllowed = (id: number) => id % step === 0;
        const isFirst = (a: number, b: number) => a % 7 < b % 7 || (a % 7 === b % 7 && a < b);
        const expected = [...list.keys()]
          .filter((id) => (list[id] ?? 0) > 0 && isAllowed(id))
          .sort((a, b) => (list[b] ?? 0) - (list[a] ?? 0) || (isFirst(a, b) ? -1 : 1))
          .slice(0, limit);
        const found = topIds(Float32Array.from(list), limit, { isAllowed, isFirst });
        expect([...found].sort((a, b) => a - b)).toEqual(expected.sort((a, b) => a - b));
      }),
      { numRuns: 1000 },
    );
  });

  it.each([1e12, Number.POSITIVE_INFINITY, Number.NaN])('by words are all if %d are requested', (limit) => {
    const choice = { isAllowed: () => true, isFirst: (a: number, b: number) => a < b };
    expect([...topIds(Float32Array.of(3, 0, 1, 2), limit, choice)].sort()).toEqual([0, 2, 3]);
  });

  it.each([0, -1, Number.NEGATIVE_INFINITY])('by words are none if %d are requested', (limit) => {
    const choice = { isAllowed: () => true, isFirst: (a: number, b: number) => a < b };
    expect(topIds(Float32Array.of(3, 0, 1, 2), limit, choice)).toHaveLength(0);
  });

  it('by words are found without checking each id again and again', () => {
    const numbers = Float32Array.from({ length: 5000 }, (_, id) => 1 + ((id * 2741) % 5000));
    const asked = [1, 2, 3].map(() => {
      let calls = 0;
      topIds(numbers, 10, { isAllowed: () => ++calls > 0, isFirst: (a, b) => a < b });
      return calls;
    });
    expect(asked[0]).toBeLessThan(500);
    expect(asked).toEqual([asked[0], asked[0], asked[0]]);
  });

  it('by meaning equal those of a sort, best first, and the nearest row of a tool counts', () => {
    const near = createNearTools();
    near.makeRoom(9);
    const row = fc.record({
      id: fc.nat(9),
      // No -0: it is equal to 0, and the order of the two is not defined.
      cosine: fc.oneof(
        fc.constantFrom(-1, -0.5, 0, 0.5, 1),
        fc.float({ min: -1, max: 1, noNaN: true }).map((value) => value + 0),
      ),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), fc.integer({ min: 0, max: 12 }), (rows, limit) => {
        near.clear();
        const owners = Int32Array.from(rows, ({ id }) => id);
        near.note(
          Int32Array.from(rows.keys()),
          Float32Array.from(rows, ({ cosine }) => cosine),
          owners,
        );
        const byId = Map.groupBy(rows, ({ id }) => id);
        const all = [...byId].map(([id, own]) => ({ id, similarity: Math.max(...own.map(({ cosine }) => cosine)) }));
        const expected = all.sort((a, b) => b.similarity - a.similarity || a.id - b.id);
        expect(near.best(limit)).toEqual(expected.slice(0, limit));
        const similarities = near.similarities(Uint32Array.from({ length: 12 }, (_, id) => id));
        for (let id = 0; id < 12; id += 1)
          expect(similarities[id]).toBe(all.find((hit) => hit.id === id)?.similarity ?? 0);
      }),
      { numRuns: 500 },
    );
  });

  it.each([10, 1000])('numbers below %d are sorted by any order', (most) => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(most), { maxLength: 600, size: 'max' }), (list) => {
        const sorted = Uint32Array.from(list);
        sortNumbers(sorted, (a, b) => a % 10 > b % 10 || (a % 10 === b % 10 && a < b));
        expect([...sorted]).toEqual(list.sort((a, b) => (b % 10) - (a % 10) || a - b));
      }),
    );
  });

  it.each([
    ['selecting', (list: Uint32Array, isBefore: IsBefore) => selectFirst(list, 2500, isBefore)],
    ['sorting', sortNumbers],
  ])('an adversarial order is not slow: %s', (_, order) => {
    const count = 5000;
    const list = Uint32Array.from({ length: count }, (_, place) => place);
    const { isBefore, ranks, calls } = slowOrder(count);
    order(list, isBefore);
    expect(calls()).toBeLessThan(count * 100);
    const inOrder = [...list].map((number) => ranks[number] ?? 0);
    expect(Math.max(...inOrder.slice(0, 2500))).toBeLessThan(Math.min(...inOrder.slice(2500)));
  });
});

/** Decides which number is before which only when it is asked, so that what it is compared with is of the least use. */
function slowOrder(count: number) {
  const ranks = new Float64Array(count).fill(count);
  let [decided, likelyPivot, calls] = [0, 0, 0];
  const isOpen = (number: number) => ranks[number] === count;
  const isBefore = (a: number, b: number): boolean => {
    calls += 1;
    if (a === b) return false;
    if (isOpen(a) && isOpen(b)) ranks[a === likelyPivot ? a : b] = decided++;
    if (isOpen(a)) likelyPivot = a;
    else if (isOpen(b)) likelyPivot = b;
    return (ranks[a] ?? 0) < (ranks[b] ?? 0);
  };
  return { isBefore, ranks, calls: () => calls };
}

describe('a mistyped word of a name', () => {
  const word = fc.stringMatching(/^[a-e]{5,12}$/);
  const letter = fc.constantFrom(...'abcxyzäü');

  it('is found with any letter but the first wrong, missing, doubled or swapped', () => {
    fc.assert(
      fc.property(
        word,
        letter,
        fc.nat(20),
        fc.constantFrom('put', 'drop', 'replace', 'swap'),
        (term, other, at, typo) => {
          const place = 1 + (at % (term.length - 2));
          const [start, own, next, rest] = [term.slice(0, place), term[place], term[place + 1], term.slice(place + 2)];
          const typed = {
            put: `${start}${other}${own}${next}${rest}`,
            drop: `${start}${next}${rest}`,
            replace: `${start}${other}${next}${rest}`,
            swap: `${start}${next}${own}${rest}`,
          }[typo];
          const names = createNameTerms();
          names.add(7, term);
          expect(names.near(typed), typed).toBe(7);
          names.remove(7, term);
          expect(names.near(typed)).toBeUndefined();
        },
      ),
      { numRuns: 500 },
    );
  });
});
