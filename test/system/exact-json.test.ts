import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyJson } from '../../src/core/json.ts';
import { keepDigits, parseExact } from '../../src/system/exact-json.ts';

describe('parseExact', () => {
  it('reads what JSON.stringify has written like JSON.parse, without an issue', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(parseExact(text)).toEqual({ value: JSON.parse(text), inexact: [] });
      }),
    );
  });

  it('keeps the digits of every integer, or names it', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.nat(40), (integer, indent) => {
        const { value, inexact } = parseExact(`${' '.repeat(indent)}{"a/b":[${integer}]}`);
        const [read] = (value as { readonly 'a/b': readonly [number | bigint] })['a/b'];
        if (typeof read === 'number') expect(BigInt(read) === integer || String(read) === String(integer)).toBe(true);
        else expect([read, inexact[0]?.path]).toEqual([integer, '/a~1b/0']);
        expect(inexact).toHaveLength(typeof read === 'number' ? 0 : 1);
      }),
    );
  });

  it.each([
    [
      '9007199254740993',
      'is the integer 9007199254740993, which a number would round to 9007199254740992; send it as text',
    ],
    [
      '-12345678901234567890',
      'is the integer -12345678901234567890, which a number would round to -12345678901234567000; send it as text',
    ],
  ])('names %s', (text, message) => {
    expect(parseExact(text).inexact).toEqual([{ path: '', message }]);
    expect(() => copyJson(parseExact(text).value)).toThrow(`the value ${message}`);
    expect(JSON.stringify({ n: parseExact(text).value }, keepDigits)).toBe(`{"n":${text}}`);
  });

  it.each([
    '9007199254740992',
    '12345678901234567000',
    '0.1234567890123456789',
    '"9007199254740993"',
    '1e400',
    '18446744073709551616',
  ])('takes %s, whose digits are not rounded or not an integer', (text) =>
    expect(parseExact(text).inexact).toEqual([]),
  );

  it('refuses what is nested too deeply to read, as JSON that cannot be read', () => {
    const deep = `${'['.repeat(200_000)}9007199254740993${']'.repeat(200_000)}`;
    expect(() => parseExact(deep)).toThrow(SyntaxError);
  });

  it('lists the first of many integers, with a cut path, and not those inside of a member', () => {
    const many = `{"${'k'.repeat(500_000)}":[${Array(50_000).fill('9007199254740993').join(',')}]}`;
    const { inexact } = parseExact(`{"x":${many},"a":{"b":${many}}}`, ['a', 'b']);
    expect(inexact).toHaveLength(20);
    expect(inexact[0]?.path).toMatch(/^\/x\/k{297}…$/);
    const { value, inexact: none } = parseExact(`{"a":{"b":${many}}}`, ['a', 'b']);
    expect(none).toEqual([]);
    expect(value).toMatchObject({
      a: { b: { [`${'k'.repeat(500_000)}`]: expect.arrayContaining([9007199254740993n]) } },
    });
    expect(parseExact('{"a":9007199254740993}', ['a']).inexact).toMatchObject([{ path: '/a' }]);
  });

  it('reads a large text hardly slower than JSON.parse, however it is written', () => {
    const cpuOf = (work: () => unknown) => {
      const begun = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(begun);
      return user + system;
    };
    for (const last of ['"9007199254740993"', '9007199254740993']) {
      const text = `[${'1,"\\\\",{},'.repeat(200_000)}${last}]`;
      expect(cpuOf(() => parseExact(text))).toBeLessThan(20 * cpuOf(() => JSON.parse(text)));
    }
  });
});
