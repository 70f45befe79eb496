import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactValue } from '../../../src/system/secrets/redact-value.ts';

const SECRET = 'hunter2-hunter2';
const redact = (text: string) => text.replaceAll(SECRET, '[secret s]').replaceAll('12345678', '[secret pin]');
const show = createRedactValue({ redact, keys: ['mine', '*_code', 'Other-Key'] });

describe('a redacted value', () => {
  it.each([
    'password',
    'Password',
    'user_password',
    'PASSWD',
    'pwd',
    'secret',
    'clientSecret',
    'token',
    'access_token',
    'accessToken',
    'x-auth-token',
    'apiKey',
    'api_key',
    'X-API-Key',
    'Authorization',
    'Proxy-Authorization',
    'Cookie',
    'set-cookie',
    'private_key',
    'privateKey',
    'passphrase',
    'credentials',
    'mine',
    'MINE',
    'pin_code',
    'otherKey',
  ])('hides values under %s, at any depth', (key) => {
    expect(show({ a: [{ [key]: { plain: 'text' } }] })).toEqual({ a: [{ [key]: '[redacted]' }] });
  });

  it.each(['maxTokens', 'tokenizer', 'author', 'key', 'passage', 'minefield'])('shows values under %s', (key) => {
    expect(show({ [key]: 'text' })).toEqual({ [key]: 'text' });
  });

  it('hides known secrets in texts, keys and numbers', () => {
    expect(show({ [`x${SECRET}`]: [`a ${SECRET} b`, 12345678, 1234] })).toEqual({
      'x[secret s]': ['a [secret s] b', '[secret pin]', 1234],
    });
  });

  it('cuts long texts only after secrets were removed', () => {
    expect(show(`${'x'.repeat(490)}${SECRET}`)).toBe(`${'x'.repeat(490)}[secret s]`);
    expect(show('x'.repeat(600))).toBe(`${'x'.repeat(500)}…`);
    expect(show('x'.repeat(200_000))).toBe('[text of 200000 characters]');
    expect(show({ ['k'.repeat(300)]: 1 })).toEqual({ [`${'k'.repeat(100)}…`]: 1 });
  });

  it('shows a few of many members and levels', () => {
    expect(show(Array.from({ length: 80 }, () => 0))).toHaveLength(51);
    expect(
      Object.keys(show(Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`k${i}`, i]))) as object),
    ).toHaveLength(51);
    const deep = Array.from({ length: 50 }).reduce<object>((inner) => ({ inner }), {});
    expect(JSON.stringify(show(deep))).toContain('…');
  });

  it('is never large, however large the value is', () => {
    const wide = (depth: number): unknown =>
      depth === 0 ? 'x'.repeat(400) : Array.from({ length: 40 }, () => wide(depth - 1));
    expect(JSON.stringify(show(wide(3))).length).toBeLessThan(30_000);
  });

  it('breaks cycles, and does not throw for unreadable values', () => {
    const circle: Record<string, unknown> = { a: 1 };
    circle.self = [circle];
    expect(show(circle)).toEqual({ a: 1, self: ['[circular]'] });
    const hostile = {
      get x() {
        throw new Error(SECRET);
      },
    };
    expect(show(hostile)).toBe('[unreadable]');
    expect(JSON.stringify(show(new Proxy({}, { ownKeys: () => [SECRET] })))).not.toContain(SECRET);
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(show(proxy)).toBe('[unreadable]');
  });

  it('is plain JSON, for any input', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (value) => {
          const shown = show(value);
          expect(JSON.parse(JSON.stringify(shown))).toEqual(shown);
        },
      ),
    );
    expect(show([undefined, 1n, Symbol('s'), () => 1, Number.NaN])).toEqual([
      '[undefined]',
      '[bigint]',
      '[symbol]',
      '[function]',
      'NaN',
    ]);
  });

  it('a key named __proto__ changes nothing', () => {
    const shown = show(JSON.parse(`{"__proto__": {"password": "x"}, "a": 1}`)) as Record<string, unknown>;
    expect(JSON.stringify(shown)).toBe('{"__proto__":{"password":"[redacted]"},"a":1}');
    expect(shown.password).toBeUndefined();
  });
});
