import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/core/json.ts';

/** The definition, member by member. */
function spelledOut(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spelledOut).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${spelledOut(member)}`).join(',')}}`;
}

describe('canonical JSON', () => {
  it('is the JSON of every member in the order of its keys', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => canonicalJson(value) === spelledOut(value)));
    const keys = fc.oneof(fc.string(), fc.constantFrom('10', '9', '2', '__proto__', 'toJSON', ''));
    const odd = fc.dictionary(keys, fc.oneof(fc.jsonValue(), fc.constant(undefined)), { noNullPrototype: false });
    fc.assert(fc.property(odd, (value) => canonicalJson([value]) === spelledOut([value])));
  });

  it('is the same whatever the order of keys, and changes nothing', () => {
    const value = Object.freeze({ b: [{ y: 1, x: 2 }], a: { d: 1, c: undefined } });
    expect(canonicalJson(value)).toBe('{"a":{"d":1},"b":[{"x":2,"y":1}]}');
    expect(value).toEqual({ b: [{ y: 1, x: 2 }], a: { d: 1, c: undefined } });
  });

  it.each([
    [new Date(0), '{}'],
    [{ a: () => 1 }, '{"a":null}'],
    [{ a: Symbol('x') }, '{"a":null}'],
    [{ toJSON: () => 1 }, '{"toJSON":null}'],
    [[undefined, 1], '[null,1]'],
    [undefined, 'null'],
    [new Map([[1, 2]]), '{}'],
  ])('of a value that is not JSON stays as it was before', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
    expect(spelledOut(value)).toBe(text);
  });
});
