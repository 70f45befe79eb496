import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toLine, toLines } from '../../../src/doors/cli/output.ts';
import { cutTo, layOut, widthOf } from '../../../src/doors/cli/table.ts';

const columns = [
  { heading: 'NAME' },
  { heading: 'COUNT', align: 'right' },
  { heading: 'TEXT', flexible: true },
] as const;
const rows = [
  ['short', '5', 'a text that goes on for quite a while and then some'],
  ['a_rather_long_name', '12345', '清除一切的工具，没有任何例外，包括这一个'],
];

describe('tables', () => {
  it.each([20, 40, 60, 80, 200])('fit into %i columns', (width) => {
    const lines = layOut(columns, rows, width);
    expect(lines).toHaveLength(3);
    expect(lines.filter((line) => widthOf(line) > width)).toEqual([]);
  });

  it('cut long texts before names', () => {
    expect(layOut(columns, rows, 60)[2]).toMatch(/^a_rather_long_name {2}12345 {2}清除.*…$/);
  });

  it('are not cut without a terminal', () => {
    expect(layOut(columns, rows, undefined)[1]).toBe(`short${' '.repeat(19)}5  ${rows[0]?.[2]}`);
  });

  it('have one line per row, whatever the cells contain', () => {
    const lines = layOut([{ heading: 'A' }], [['one\ntwo\r\nthree\u2028four\tfive']], 80);
    expect(lines[1]).toBe('one two three four five');
  });
});

describe('text on a terminal', () => {
  it('cannot move the cursor, change colours or turn the reading direction', () => {
    expect(toLine('a\x1b[31mb\x1b]8;;http://x\x07c\x9b2Jd\u202ee\u200bf\x08')).toBe('abcdef');
    expect(toLines('one\x1b[2J\n\ttwo\r')).toBe('one\n  two');
  });

  it('is measured by columns and cut between characters', () => {
    expect(widthOf('日本é')).toBe(5);
    expect(cutTo('日本語', 5)).toBe('日本…');
    expect(cutTo('abc', 3)).toBe('abc');
    expect(cutTo('👩‍👩‍👧 family', 4)).toBe('👩‍👩‍👧…');
    expect(widthOf('한국어 → “日本” … привет')).toBe(24);
    expect(widthOf('e\u0301 и\u0306 か\u3099')).toBe(6);
  });

  it('is measured the same whether characters may join or not', () => {
    const among = [...'aé…—→жΩ日か가', '\u0301', '\u200d', '\ufe0f', '\u3099', '\u11a8', '👩', '🇩', '🏽'];
    const segmenter = new Intl.Segmenter();
    const characters = fc.array(fc.constantFrom(...among), { maxLength: 8 });
    fc.assert(
      fc.property(characters, (list) => {
        const text = list.join('');
        const segments = Array.from(segmenter.segment(text), ({ segment }) => segment);
        expect(widthOf(text)).toBe(segments.reduce((sum, segment) => sum + widthOf(segment), 0));
      }),
    );
  });
});
