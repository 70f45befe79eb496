import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKnownWords, createWordScan, OTHER_LETTERS } from '../../src/search/lexical/scan-words.ts';
import { type TextWord, wordsOf } from '../../src/search/lexical/split-words.ts';

const scan = createWordScan(2000);

function scanned(text: string): readonly TextWord[] {
  const count = scan.scan(text);
  return Array.from({ length: count }, (_, place) => ({ text: scan.word(place), isWhole: scan.wholes[place] === 1 }));
}

describe('words without strings', () => {
  it('are the same as with strings', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme-ascii', maxLength: 80 }),
      fc.stringMatching(/^[abAB12 _.-]{0,40}$/),
      fc
        .array(fc.constantFrom('gitHub', 'HTTPRequest', 'URLs', 'x'.repeat(70), '’', '—', '…', '\u2003', 'a1B', ' '))
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (given) => {
        expect(scanned(given)).toEqual(wordsOf(given));
      }),
      { numRuns: 500, examples: [[''], ['A'], ['aBcDeFgH'], ['don’t—stop…'], [`${'A'.repeat(64)}b`]] },
    );
  });

  it.each(['é', 'naïve', '天气', 'ﬁle', 'Ａ', '²', '🎉', 'a\u0301', '\ud800', '\u2060', '\u2070'])(
    '%s is left to strings',
    (text) => {
      expect(scan.scan(`read ${text}`)).toBe(OTHER_LETTERS);
    },
  );

  it('a text beyond the buffer is left to strings', () => {
    expect(scan.scan('a '.repeat(1000))).toBe(1000);
    expect(scan.scan('a '.repeat(1001))).toBe(OTHER_LETTERS);
    expect(scan.scan('aB '.repeat(666))).toBe(1998);
  });
});

describe('words that are known by their letters', () => {
  it('keep their number, however many there are', () => {
    const known = createKnownWords();
    const words = Array.from({ length: 5000 }, (_, index) => `w${index.toString(36)}`);
    for (const [number, word] of words.entries()) {
      scan.scan(word);
      expect(known.find(scan, 0)).toBeUndefined();
      known.note(scan, 0, number);
    }
    for (const [number, word] of words.entries()) {
      scan.scan(word);
      expect(known.find(scan, 0)).toBe(number);
    }
    known.clear();
    scan.scan('w1');
    expect(known.find(scan, 0)).toBeUndefined();
  });

  it('are distinguished if their hashes are equal', () => {
    const known = createKnownWords();
    const sameHash = { ...scan, hashes: new Int32Array(2000) };
    scan.scan('read write rea reads');
    known.note(sameHash, 0, 10);
    known.note(sameHash, 1, 11);
    expect([0, 1, 2, 3].map((place) => known.find(sameHash, place))).toEqual([10, 11, undefined, undefined]);
  });
});
