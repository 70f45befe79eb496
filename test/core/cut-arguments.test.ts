import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutArguments } from '../../src/core/approval-text.ts';
import type { JsonObject, JsonValue } from '../../src/core/json.ts';

describe('arguments in a list of requests', () => {
  it('that are short are shown in full', () => {
    const short = { path: '/etc/passwd', text: 'x'.repeat(3000) };
    expect(cutArguments(short)).toEqual({ arguments: short });
  });

  it('that are long name every argument, each value cut on its own', () => {
    const given = {
      text: 'x'.repeat(1_000_000),
      list: Array.from({ length: 5000 }, () => 'word'),
      path: '/etc/passwd',
    };
    const cut = cutArguments(given);
    expect(cut.argumentsLength).toBe(JSON.stringify(given).length);
    expect(Object.keys(cut.arguments)).toEqual(['text', 'list', 'path']);
    expect(cut.arguments.text).toBe(`${'x'.repeat(200)}… (1000000 characters)`);
  });

  it('hide no argument behind another with a similar name, nor behind the notice that there are more', () => {
    const begin = 'a'.repeat(100);
    const alike = { [`${begin}1`]: 'evil', [`${begin}2`]: 'harmless', [`${begin}3`]: 'harmless' };
    const shown = cutArguments({ ...alike, inner: alike, text: 'x'.repeat(5000) }).arguments;
    expect(Object.values(shown).slice(0, 3)).toEqual(['evil', 'harmless', 'harmless']);
    expect(Object.values(shown.inner as JsonObject)).toEqual(['evil', 'harmless', 'harmless']); // as it was given
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`n${n}`, 'x'.repeat(100)]));
    expect(Object.values(cutArguments({ '…': 'evil', ...many }).arguments)).toContain('evil');
  });

  it.each([
    ['at the top', (key: string): JsonObject => ({ [key]: 'x', path: '/etc/passwd' })],
    ['inside', (key: string): JsonObject => ({ inner: { [key]: 'x' }, path: '/etc/passwd' })],
    ['in a list', (key: string): JsonObject => ({ list: [{ [key]: 'x' }], path: '/etc/passwd' })],
  ])('cut a name that is very long %s, state its length, and still name the others', (_, given) => {
    const { arguments: shown } = cutArguments(given('k'.repeat(1_000_000)));
    const text = JSON.stringify(shown);
    expect(text).toContain(`"${'k'.repeat(100)}… (1000000 characters)":`);
    expect(text.length).toBeLessThan(500);
    expect(shown.path).toBeDefined();
  });

  it('keep a key named __proto__', () => {
    const given = JSON.parse(`{"__proto__": {"a": "${'x'.repeat(5000)}"}}`) as JsonObject; // an own key
    expect(Object.keys(cutArguments(given).arguments)).toEqual(['__proto__']);
  });

  it('are bounded and plain JSON, whatever they are', () => {
    const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as JsonValue); // -0 is not JSON
    const long = fc.oneof(
      fc.string({ unit: 'binary', minLength: 5000, maxLength: 20_000 }),
      fc.array(json, { minLength: 500, maxLength: 2000 }),
      fc.dictionary(fc.string({ minLength: 1, maxLength: 300 }), fc.string(), { minKeys: 200, maxKeys: 400 }),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), long, { minKeys: 1, maxKeys: 80 }), (given) => {
        const cut = cutArguments(given as JsonObject); // made of JSON
        const text = JSON.stringify(cut.arguments);
        expect(text.length).toBeLessThan(20_000);
        expect(JSON.parse(text)).toEqual(cut.arguments);
      }),
      { numRuns: 50 },
    );
  });
});
