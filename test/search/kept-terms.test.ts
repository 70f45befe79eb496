import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countTerms, findTerm, packTerms, termAt } from '../../src/search/lexical/vocabulary.ts';

const term = fc.oneof(
  fc.stringMatching(/^[a-z]{1,4}$/),
  fc.constantFrom('überweisung', '文件', 'a'.repeat(64), '\u{1f527}', '__proto__', 'constructor'),
);
const terms = fc
  .tuple(fc.uniqueArray(term, { maxLength: 300 }), fc.array(fc.nat(300), { maxLength: 20 }))
  .map(([used, free]) => free.reduce<readonly string[]>((list, at) => list.toSpliced(at, 0, ''), used));

it('every term is found under its number, and no other', () => {
  fc.assert(
    fc.property(terms, term, (list, other) => {
      const kept = packTerms(list);
      expect(countTerms(kept)).toBe(list.length);
      list.forEach((text, number) => {
        expect(termAt(kept, number)).toBe(text);
        if (text !== '') expect(findTerm(kept, text)).toBe(number);
      });
      expect(findTerm(kept, other)).toBe(list.includes(other) ? list.indexOf(other) : undefined);
      expect(findTerm(kept, '')).toBeUndefined();
    }),
  );
});

it('a table without a free slot does not loop', () => {
  const { text, starts, slots } = packTerms(['read', 'write']);
  expect(findTerm({ text, starts, slots: slots.fill(1) }, 'send')).toBeUndefined();
  expect(findTerm({ text, starts, slots: new Uint32Array() }, 'send')).toBeUndefined();
});
