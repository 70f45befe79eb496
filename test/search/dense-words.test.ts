import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sentencesOf } from '../../src/search/dense/dense-index.ts';
import { createFingerprintsOf, fingerprint, wordsOf } from '../../src/search/dense/embed-words.ts';

const found = createFingerprintsOf(1000);
const fingerprintsOf = (text: string) => [...found(text)];

describe('the words of vectors', () => {
  it('names are split at case changes, digits and punctuation', () => {
    expect(wordsOf('getHTTPResponse2xx')).toEqual(['get', 'http', 'response', '2', 'xx']);
    expect(wordsOf('files/read_text-v2')).toEqual(['files', 'read', 'text', 'v', '2']);
  });

  it('other scripts and wide letters are words as well', () => {
    expect(wordsOf('Überweisung ＡＢＣ 天气')).toEqual(['überweisung', 'abc', '天气']);
  });

  it('text without words has none', () => {
    expect(wordsOf('')).toEqual([]);
    expect(wordsOf('🎉 … —')).toEqual([]);
  });

  it('the implementation without strings finds the same words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 60 }), (text) => {
        expect(fingerprintsOf(text)).toEqual(wordsOf(text).map(fingerprint));
      }),
      { examples: [['aB1C'], ['ABc'], ['A'.repeat(60)], ['HTTPServer 1st 22Nd'], ['\u007f\u0000']] },
    );
    fc.assert(
      fc.property(fc.array(fc.constantFrom('aB', '1', 'Word', '’', '—', '…', '\u2003', '\u205f', ' ')), (parts) => {
        expect(fingerprintsOf(parts.join(''))).toEqual(wordsOf(parts.join('')).map(fingerprint));
      }),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^[abAB12 _-]{0,30}$/), (text) => {
        expect(fingerprintsOf(text)).toEqual(wordsOf(text).map(fingerprint));
      }),
    );
  });
});

describe('the sentences of a request', () => {
  it('are found by their ends and by lines', () => {
    expect(sentencesOf('Find a flight. Is it late? Then\nbook version 2.5 of it')).toEqual([
      'Find a flight.',
      'Is it late?',
      'Then',
      'book version 2.5 of it',
    ]);
    expect(sentencesOf('查天气。发邮件！')).toEqual(['查天气。', '发邮件！']);
  });

  it('are empty for an empty request', () => {
    for (const text of ['', ' \n ', '🎉🎉', '...']) expect(sentencesOf(text)).toEqual([]);
  });

  it('are few, however long the request', () => {
    expect(sentencesOf('Do this. '.repeat(100_000)).length).toBeLessThanOrEqual(16);
    expect(sentencesOf('a'.repeat(1_000_000)).join('').length).toBeLessThanOrEqual(8192);
  });
});
