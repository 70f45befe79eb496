import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { definitionChanges } from '../../../src/crib/console/definition-changes.ts';

const schema = (properties: object, more: object = {}) => ({ inputSchema: { type: 'object', properties, ...more } });
const kinds = (before: object, after: object) =>
  Object.fromEntries(definitionChanges({ ...before }, { ...after }).map(({ path, kind }) => [path, kind]));
const A = '/inputSchema/properties/a';

describe('the changes of a definition', () => {
  it.each([
    [{ type: 'string' }, { type: ['string', 'null'] }, { [`${A}/type`]: 'widened' }],
    [{ enum: [1, 2] }, { enum: [1] }, { [`${A}/enum`]: 'narrowed' }],
    [{ enum: [1, 2] }, { enum: [1, 3] }, { [`${A}/enum`]: 'changed' }],
    [{}, { enum: [1] }, { [`${A}/enum`]: 'narrowed' }],
    [{ minimum: 1 }, { minimum: 2 }, { [`${A}/minimum`]: 'narrowed' }],
    [{ maxLength: 1 }, { maxLength: 2 }, { [`${A}/maxLength`]: 'widened' }],
    [{}, { pattern: 'x' }, { [`${A}/pattern`]: 'narrowed' }],
    [{ pattern: 'x' }, {}, { [`${A}/pattern`]: 'widened' }],
    [{ pattern: 'x' }, { pattern: 'y' }, { [`${A}/pattern`]: 'changed' }],
    [{ description: 'x' }, { description: 'y' }, { [`${A}/description`]: 'words' }],
    [{ items: { maximum: 2 } }, { items: { maximum: 1 } }, { [`${A}/items/maximum`]: 'narrowed' }],
    [{ additionalProperties: false }, {}, { [`${A}/additionalProperties`]: 'widened' }],
    [{ anyOf: [{ type: 'string' }] }, { anyOf: [{ type: 'string' }, { type: 'null' }] }, { [`${A}/anyOf`]: 'widened' }],
    [{ allOf: [] }, { allOf: [{ minimum: 1 }] }, { [`${A}/allOf`]: 'narrowed' }],
    [{ default: 1 }, { default: 2 }, { [`${A}/default`]: 'changed' }],
  ])('%j to %j is named by what callers may still send', (before, after, expected) => {
    expect(kinds(schema({ a: before }), schema({ a: after }))).toEqual(expected);
  });

  it('name added, removed and required arguments, words and effects', () => {
    const before = { description: 'x', effects: { readOnly: true }, tags: ['a'], ...schema({ a: {}, b: {} }) };
    const after = {
      description: 'y',
      effects: { readOnly: false, destructive: true },
      tags: ['b'],
      ...schema({ a: {}, 'c/d': {} }, { required: ['a'] }),
    };
    expect(kinds(before, after)).toEqual({
      '/description': 'words',
      '/effects/readOnly': 'changed',
      '/effects/destructive': 'added',
      '/tags': 'changed',
      '/inputSchema/properties/b': 'removed',
      '/inputSchema/properties/c~1d': 'added',
      '/inputSchema/required/a': 'narrowed',
    });
    expect(definitionChanges(before, structuredClone(before))).toEqual([]);
  });

  it('are the opposite in the other direction, for any two schemas', () => {
    const part = fc.record(
      {
        type: fc.constantFrom<unknown>('string', 'number', ['string', 'null']),
        enum: fc.uniqueArray(fc.integer({ min: 0, max: 3 })),
        minimum: fc.integer(),
        maxItems: fc.nat(),
        pattern: fc.constantFrom('a', 'b'),
        additionalProperties: fc.constantFrom<unknown>(true, false, { type: 'string' }),
        required: fc.uniqueArray(fc.constantFrom('a', 'b')),
        properties: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom({}, { type: 'string' })),
      },
      { requiredKeys: [] },
    );
    const turned = {
      narrowed: 'widened',
      widened: 'narrowed',
      added: 'removed',
      removed: 'added',
      words: 'words',
      changed: 'changed',
    };
    fc.assert(
      fc.property(part, part, (a, b) => {
        const there = kinds({ inputSchema: a }, { inputSchema: b });
        const back = kinds({ inputSchema: b }, { inputSchema: a });
        expect(Object.fromEntries(Object.entries(there).map(([path, kind]) => [path, turned[kind]]))).toEqual(back);
      }),
      { seed: 22, numRuns: 300 },
    );
  });

  it('stay bounded, however deep and large the schemas are', () => {
    const deep = (leaf: object) =>
      Array.from({ length: 200 }).reduce<object>((inner) => ({ properties: { a: inner } }), leaf);
    expect(definitionChanges({ inputSchema: deep({}) }, { inputSchema: deep({ type: 'string' }) })).toHaveLength(1);
    const many = (letter: string) => Array.from({ length: 150_000 }, (_, index) => `${letter}${index}`);
    const [a, b] = [many('a'), many('b')]; // each of one list is not looked for in all of the other
    expect(definitionChanges(schema({}, { required: a }), schema({}, { required: b }))).toHaveLength(500);
    const turned = [...a, 'b'].reverse();
    expect(kinds(schema({ a: { enum: a } }), schema({ a: { enum: turned } }))).toEqual({ [`${A}/enum`]: 'widened' });
    const wide = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`p${index}`, {}]));
    expect(definitionChanges(schema(wide), schema({}))).toHaveLength(500);
  });
});
