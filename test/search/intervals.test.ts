import { expect, it } from 'vitest';
import { differenceOf, differenceOfSets, shareOf } from '../../bench/retrieval-intervals.ts';

const EVERY_SECOND = Array.from({ length: 400 }, (_, index) => index % 2);
const NONE = EVERY_SECOND.map(() => 0);
const ALL = EVERY_SECOND.map(() => 1);

it('an interval contains the mean, and is as wide as chance makes it', () => {
  const [, mean, from, to] = /^([\d.]+) \(([\d.]+) to ([\d.]+)\)$/.exec(shareOf(EVERY_SECOND)) ?? [];
  expect(Number(mean)).toBe(50);
  expect(Math.abs(Number(from) - 45.1)).toBeLessThan(0.8); // 50 - 1.96 * 100 * sqrt(0.25 / 400)
  expect(Math.abs(Number(to) - 54.9)).toBeLessThan(0.8);
});

it('shares without requests have no interval', () => {
  expect(shareOf([])).toBe('');
});

it('differences are those of the same requests', () => {
  expect(differenceOf(EVERY_SECOND, EVERY_SECOND)).toBe('+0.0 (+0.0 to +0.0)');
  expect(differenceOf(ALL, NONE)).toBe('+100.0 (+100.0 to +100.0)');
});

it('sets of different size count alike', () => {
  expect(
    differenceOfSets([
      [ALL, NONE],
      [
        [0, 0],
        [0, 0],
      ],
    ]),
  ).toBe('+50.0 (+50.0 to +50.0)');
});
