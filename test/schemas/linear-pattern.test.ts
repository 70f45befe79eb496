import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLinearPatterns } from '../../src/schemas/linear-pattern.ts';
import { createWorkLimit, TooMuchWorkError } from '../../src/schemas/work-limit.ts';

function createPatterns() {
  const work = createWorkLimit();
  work.start(Number.MAX_SAFE_INTEGER);
  return createLinearPatterns(work);
}

function patternOf(pattern: string) {
  const found = createPatterns()(pattern);
  if (typeof found === 'string') throw new Error(`${pattern} ${found}`);
  return found;
}

// Those in a group are run by the linear engine, the others by the built-in one.
const PATTERNS = [
  '^[a-z0-9-]{1,64}$',
  '^\\d{4}-\\d{2}-\\d{2}$',
  '^a?b?c*d$',
  'ab',
  '',
  '(?:)',
  '^(?:\\s|x)*$',
  '^(?:\\S)+$',
  '^([\\s\\d]+|[^\\S.]+)$',
  '^(a|.)+$',
  '(^.$|^..$)',
  '(?<year>\\d{4})-(?<month>\\d\\d)',
  '(\\bfoo\\b|\\Bx\\B)',
  '([\\b\\t\\]\\[^-]|[^\\w]|\\W)$',
  '(\\u00e9|\\u{1F600}|\\uD83D\\uDE01|\\x41|\\cJ|\\0)',
  '^([\\u{1F600}-\\u{1F64F}]|[^])$',
  '(\\p{L}|\\p{Lu}|\\p{Script=Greek}|\\P{N})+$',
  '([]|a)b',
  '^(\\/|\\.|\\$|\\^|\\{|\\})+$',
  '(a{2}|b{1,}|c{0,2}?|d+?)e',
  '(\\n|\\r|\\t|\\v|\\f)',
  '(a-b|[a-]|[-a]|[+--])$',
  '^(a+)+$',
  '(x+x+)+y',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
];
// Written without the `u` flag in mind.
const LOOSE_PATTERNS = ['([[:word:]])', '^(a\\-b|\\_|\\@)$', '(a]|})', '^a{,3}$', '([\\w-.]+|x{)', '\\-'];

const ALPHABET = 'abcdefoxyzAZ019 \t\n\r\v\f\b\0.-_@/\\$^{}[]|+*?,é\u00a0\u2028\ufeffαΩ\u{1F600}\u{1F601}\u200b\u180e';
const text = fc.array(fc.constantFrom(...ALPHABET), { maxLength: 12 }).map((characters) => characters.join(''));
const anyText = fc.oneof(text, fc.string({ unit: 'binary', maxLength: 6 }), fc.constantFrom('foo', '2026-01', 'a'));

describe('a pattern has its meaning of JavaScript', () => {
  it.each(PATTERNS)('%s', (pattern) => {
    const linear = patternOf(pattern);
    const native = new RegExp(pattern, 'u');
    fc.assert(
      fc.property(anyText, (value) => {
        expect([value, linear.test(value)]).toEqual([value, native.test(value)]);
      }),
      { numRuns: 500 },
    );
  });

  it.each(LOOSE_PATTERNS)('%s, without the u flag', (pattern) => {
    const linear = patternOf(pattern);
    const native = new RegExp(pattern);
    fc.assert(
      fc.property(anyText, (value) => {
        expect([value, linear.test(value)]).toEqual([value, native.test(value)]);
      }),
      { numRuns: 500 },
    );
  });

  it('for any pattern', () => {
    const patterns = createPatterns();
    const atom = fc.constantFrom(
      'a',
      'b',
      '.',
      '\\s',
      '\\S',
      '\\d',
      '\\w',
      '[^a]',
      '[a-c\\s]',
      '\\.',
      'é',
      '$',
      '^',
      '\\b',
    );
    const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,2}', '*?');
    const piece = fc.tuple(atom, quantifier).map(([a, q]) => (/^(\$|\^|\\b)$/.test(a) ? a : a + q));
    const { pattern } = fc.letrec<{ pattern: string; group: string }>((tie) => ({
      pattern: fc.array(fc.oneof({ maxDepth: 2 }, piece, tie('group')), { maxLength: 3 }).map((all) => all.join('')),
      group: fc.tuple(tie('pattern'), tie('pattern'), quantifier).map(([a, b, q]) => `(?:${a}|${b})${q}`),
    }));
    fc.assert(
      fc.property(pattern, fc.array(anyText, { minLength: 1, maxLength: 8 }), (source, values) => {
        const linear = patterns(source);
        if (typeof linear === 'string') return expect(linear).toBe('only lookaround and the like are refused');
        const native = new RegExp(source, 'u');
        for (const value of values) expect([value, linear.test(value)]).toEqual([value, native.test(value)]);
      }),
      { numRuns: 400 },
    );
  });
});

describe('an unusable pattern', () => {
  it.each(['(?=x)', '(?!x)y', '(?<=x)y', '(?<!x)y', '(a)\\1', '(?<n>a)\\k<n>', '(?i:a)b', '(a{1001})'])(
    '%s cannot be run in linear time',
    (pattern) => {
      expect(createPatterns()(pattern)).toBe('cannot be run in linear time');
    },
  );

  it.each(['(', '[a', '(?P<n>a)', '(?i)a', 'a**', '\\p{Nothing}', '(?>a)'])(
    '%s is not valid in JavaScript',
    (pattern) => {
      expect(createPatterns()(pattern)).toBe('is not a valid JavaScript regular expression');
    },
  );

  it.each(['(a{50}|b){50}', '(?:(?:a|b{20}){10}){10}c', '(.{0,900}|.{0,900}|.{0,900})'])(
    '%s is too large',
    (pattern) => {
      expect(createPatterns()(pattern)).toBe('is too large to run');
    },
  );

  it('is too long', () => {
    expect(createPatterns()('a'.repeat(2001))).toBe('is longer than 2000 characters');
  });
});

describe('a hostile pattern', () => {
  const many = 50_000;

  it.each<[string, string]>([
    ['^(a+)+$', `${'a'.repeat(many)}b`],
    ['(x+x+)+y', 'x'.repeat(many)],
    ['^a*a*a*a*b', 'a'.repeat(many)],
    ['[a-z]+$', `${'a'.repeat(many)}!`],
    [`^${'a?'.repeat(40)}${'a'.repeat(40)}$`, `${'a'.repeat(60)}b`],
    ['^a*a{50000}b', 'a'.repeat(many)],
    ['(.*)*=.*', 'x'.repeat(many)],
  ])('%s cannot hang', (pattern, value) => {
    const found = createPatterns()(pattern);
    expect(typeof found === 'string' ? false : found.test(value)).toBe(false);
  });

  it('uses an allowance that ends', () => {
    const work = createWorkLimit();
    const pattern = createLinearPatterns(work)('(a|b)c');
    if (typeof pattern === 'string') throw new Error(pattern);
    work.start(100);
    expect(pattern.test('bc')).toBe(true);
    expect(() => pattern.test('a'.repeat(100))).toThrow(TooMuchWorkError);
  });
});
