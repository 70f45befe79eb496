import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, copyJson, freezeJson, isJson, type JsonValue, NotJsonError } from '../../src/core/json.ts';

/** JSON as it comes from a text. `__proto__` as a name is refused, so it does not stand here. */
const json: fc.Arbitrary<JsonValue> = fc
  .json()
  .filter((text) => !text.includes('__proto__'))
  .map((text) => JSON.parse(text));

function objectsIn(value: unknown): readonly object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

function errorOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

/** The value with `leaf` at the end of `path`, through lists and objects. */
function planted(path: readonly (string | number)[], leaf: unknown): unknown {
  return path.reduceRight<unknown>(
    (inner, step) => (typeof step === 'number' ? [...Array(step).fill(0), inner] : { before: 1, [step]: inner }),
    leaf,
  );
}

describe('copyJson', () => {
  it('A copy equals a round trip through JSON.', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(copyJson(value)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('A copy shares nothing with the original.', () => {
    fc.assert(
      fc.property(json, (value) => {
        const own = new Set(objectsIn(value));
        expect(objectsIn(copyJson(value)).filter((part) => own.has(part))).toEqual([]);
      }),
    );
  });

  it('A part that occurs twice is copied twice.', () => {
    const part = { a: 1 };
    const copy = copyJson([part, part]);
    expect(copy).toEqual([{ a: 1 }, { a: 1 }]);
    expect(new Set(objectsIn(copy)).size).toBe(3);
  });

  it('Members that are undefined are dropped, as JSON does.', () => {
    expect(Object.keys(copyJson({ a: undefined, b: 1 }) as object)).toEqual(['b']); // a copied object is an object
  });

  it('A value with toJSON is copied as its JSON.', () => {
    const at = new Date(0);
    expect(copyJson({ at, url: new URL('https://example.com/a') })).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      url: 'https://example.com/a',
    });
  });

  const notJson = fc.constantFrom<unknown>(() => 1, Symbol('s'), 10n);
  const step = fc.oneof(fc.nat({ max: 3 }), fc.constantFrom('a', 'b c', 'x/y', '~'));

  it('A value that is not JSON is refused with the path to it.', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 5 }), notJson, (path, leaf) => {
        const error = errorOf(() => copyJson(planted(path, leaf)));
        expect(error).toBeInstanceOf(NotJsonError);
        const pointer = path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
        expect(error).toHaveProperty('path', pointer);
      }),
    );
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    '%d is not JSON and is refused.',
    (value) => {
      expect(() => copyJson({ a: value })).toThrow(NotJsonError);
    },
  );

  it('undefined in a list is refused, as dropping it would move the others.', () => {
    expect(() => copyJson([1, undefined])).toThrow('/1 is undefined');
  });

  it('A list with holes is refused like one with undefined.', () => {
    expect(() => copyJson(new Array(2))).toThrow(NotJsonError);
  });

  it('A value that contains itself is refused.', () => {
    const loop: Record<string, unknown> = {};
    loop.a = [loop];
    expect(() => copyJson(loop)).toThrow('/a/0 contains itself');
  });

  it('A value that is nested too deeply is refused before the stack overflows.', () => {
    expect(copyJson(planted(Array(199).fill('a'), {}))).toBeDefined();
    expect(() => copyJson(planted(Array(200).fill('a'), {}))).toThrow('deeper than 200 levels');
    expect(() => copyJson(planted(Array(5000).fill(0), 1))).toThrow('deeper than 200 levels');
  });

  it('__proto__ is refused as a name and changes no prototype.', () => {
    expect(() => copyJson(JSON.parse('{"a":{"__proto__":{"polluted":true}}}'))).toThrow('/a/__proto__ is not allowed');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('isJson', () => {
  it('JSON is JSON.', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(isJson(value)).toBe(true);
      }),
    );
  });

  it('One value that is not JSON, at any depth, makes the whole not JSON.', () => {
    const leaf = fc.constantFrom<unknown>(() => 1, Symbol('s'), 10n, undefined, Number.NaN, new Date(0), new Map());
    const path = fc.array(fc.constantFrom<string | number>('a', 0, 2), { maxLength: 5 });
    fc.assert(
      fc.property(path, leaf, (steps, value) => {
        expect(isJson(planted(steps, value))).toBe(false);
      }),
    );
  });

  it('A list with holes is not JSON.', () => {
    expect(isJson(new Array(2))).toBe(false);
  });
});

describe('canonicalJson', () => {
  /** The same data with the members of every object in the opposite order. */
  function reversed(value: JsonValue): JsonValue {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(reversed);
    const members = Object.entries(value).map(([key, member]) => [key, reversed(member)] as const);
    return Object.fromEntries(members.reverse());
  }

  it('The order of keys does not matter.', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
    );
    expect(canonicalJson({ b: 1, a: [{ d: 2, c: 3 }] })).toBe('{"a":[{"c":3,"d":2}],"b":1}');
  });

  it('It is JSON text of the same data, so different data gives different text.', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(value);
      }),
    );
  });

  it('A member that is undefined counts as absent.', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe(canonicalJson({ b: 1 }));
  });
});

describe('freezeJson', () => {
  it('Data is frozen to the last leaf and stays the same object.', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(freezeJson(value)).toBe(value);
        expect(objectsIn(value).every(Object.isFrozen)).toBe(true);
      }),
    );
  });
});
