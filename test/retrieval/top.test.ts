import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNearest } from '../../src/retrieval/dense/nearest.ts';
import { createNameTerms } from '../../src/retrieval/lexical/similar-names.ts';
import { topIds } from '../../src/retrieval/top-ids.ts';

// Few different ones, so that many are equal.
const scores = fc.array(fc.constantFrom(0, 0.25, 0.5, 0.75, 1, 2), { maxLength: 60, size: 'max' });

describe('the best of many', () => {
  it('by words are those that a sort finds, of those that are allowed', () => {
    fc.assert(
      fc.property(scores, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 4 }), (list, limit, step) => {
        const isAllowed = (id: number) => id % step === 0;
        const isFirst = (a: number, b: number) => a % 7 < b % 7 || (a % 7 === b % 7 && a < b);
        const expected = [...list.keys()]
          .filter((id) => (list[id] ?? 0) > 0 && isAllowed(id))
          .sort((a, b) => (list[b] ?? 0) - (list[a] ?? 0) || (isFirst(a, b) ? -1 : 1))
          .slice(0, limit);
        const found = topIds(Float32Array.from(list), limit, { isAllowed, isFirst });
        expect(new Set(found)).toEqual(new Set(expected));
        expect(found).toHaveLength(expected.length);
      }),
      { numRuns: 500 },
    );
  });

  it.each([1e12, Number.POSITIVE_INFINITY, Number.NaN])('by words are all where %d are wanted', (limit) => {
    const choice = { isAllowed: () => true, isFirst: (a: number, b: number) => a < b };
    expect(topIds(Float32Array.of(3, 0, 1, 2), limit, choice).toSorted()).toEqual([0, 2, 3]);
  });

  it('by meaning are those that a sort finds, best first', () => {
    fc.assert(
      fc.property(scores, fc.integer({ min: 0, max: 20 }), (list, limit) => {
        const nearest = createNearest(limit);
        const hits = list.map((similarity, id) => ({ id, similarity }));
        for (const { id, similarity } of hits.toReversed()) nearest.offer(id, similarity);
        const expected = hits.sort((a, b) => b.similarity - a.similarity || a.id - b.id).slice(0, limit);
        expect(nearest.hits()).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a mistyped word of a name', () => {
  const word = fc.stringMatching(/^[a-e]{5,12}$/);
  const letter = fc.constantFrom(...'abcxyzäü');

  it('is found, whichever letter but the first is wrong, missing, too many or swapped', () => {
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
          expect(names.near(typed), typed).toEqual([7]);
          names.remove(7, term);
          expect(names.near(typed)).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });
});
