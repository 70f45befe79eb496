import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../src/core/json.ts';
import { createSchemas } from '../../src/schemas/create-schemas.ts';
import { withImpliedTypes } from '../../src/schemas/implied-types.ts';

const schemas = createSchemas({ maxCompiled: 10 });
const accepts = (schema: JsonSchema, value: unknown) => {
  const parsed = schemas.parser(schema)(value);
  return 'ok' in parsed && parsed.ok;
};

/** A rule as a formula over bounds of the fields `a` and `b`. */
type Formula =
  | { readonly is: 'atom'; readonly field: 'a' | 'b'; readonly bound: 'minimum' | 'maximum'; readonly at: number }
  | { readonly is: 'allOf' | 'anyOf' | 'oneOf'; readonly parts: readonly Formula[] }
  | { readonly is: 'not' | 'ref'; readonly part: Formula }
  | { readonly is: 'if'; readonly parts: readonly [Formula, Formula, Formula] };

const { formula } = fc.letrec<{ formula: Formula }>((tie) => ({
  formula: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.record({
      is: fc.constant('atom' as const),
      field: fc.constantFrom('a' as const, 'b' as const),
      bound: fc.constantFrom('minimum' as const, 'maximum' as const),
      at: fc.integer({ min: 0, max: 4 }),
    }),
    fc.record({
      is: fc.constantFrom('allOf' as const, 'anyOf' as const, 'oneOf' as const),
      parts: fc.array(tie('formula'), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ is: fc.constantFrom('not' as const, 'ref' as const), part: tie('formula') }),
    fc.record({
      is: fc.constant('if' as const),
      parts: fc.tuple(tie('formula'), tie('formula'), tie('formula')),
    }),
  ),
}));

/** The rule as a schema of all arguments, or, where `place` says so, of the field `a` alone. */
function toSchema(root: Formula, place: 'arguments' | 'field'): JsonSchema {
  const $defs: Record<string, unknown> = {};
  const convert = (part: Formula): JsonSchema => {
    switch (part.is) {
      case 'atom':
        return place === 'field'
          ? { [part.bound]: part.at }
          : { properties: { [part.field]: { [part.bound]: part.at } } };
      case 'not':
        return { not: convert(part.part) };
      case 'ref': {
        const name = `d${Object.keys($defs).length}`;
        $defs[name] = {};
        $defs[name] = convert(part.part);
        return { $ref: `#/$defs/${name}` };
      }
      case 'if': {
        const [condition, met, unmet] = part.parts.map(convert);
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        return { if: condition, then: met, else: unmet };
      }
      default:
        return { [part.is]: part.parts.map(convert) };
    }
  };
  const made = convert(root);
  return { ...(place === 'field' ? { properties: { a: made } } : made), $defs };
}

/** Whether the rule holds, where bounds of a value that is not a number hold as `ofOthers` says. */
function holds(part: Formula, value: Readonly<Record<string, unknown>>, ofOthers: boolean): boolean {
  const inner = (one: Formula) => holds(one, value, ofOthers);
  switch (part.is) {
    case 'atom': {
      const given = value[part.field];
      if (typeof given !== 'number') return ofOthers;
      return part.bound === 'minimum' ? given >= part.at : given <= part.at;
    }
    case 'allOf':
      return part.parts.every(inner);
    case 'anyOf':
      return part.parts.some(inner);
    case 'oneOf':
      return part.parts.filter(inner).length === 1;
    case 'not':
      return !inner(part.part);
    case 'ref':
      return inner(part.part);
    case 'if':
      return inner(part.parts[0]) ? inner(part.parts[1]) : inner(part.parts[2]);
  }
}

const aNumber = fc.integer({ min: 0, max: 4 });
const another = fc.constantFrom<unknown>('5000', '', [5000], [], { amount: 5000 }, {}, true, false, null);
const place = fc.constantFrom('arguments' as const, 'field' as const);
const numRuns = 60; // each compiles two schemas

describe('a schema in which bounds imply types', () => {
  it('judges numbers as before', () => {
    fc.assert(
      fc.property(formula, place, aNumber, aNumber, (rule, where, a, b) => {
        const schema = toSchema(rule, where);
        expect(accepts(withImpliedTypes(schema), { a, b })).toBe(accepts(schema, { a, b }));
      }),
      { numRuns },
    );
  });

  it('accepts nothing that it did not accept before', () => {
    const any = fc.oneof(aNumber, another);
    fc.assert(
      fc.property(formula, place, any, any, (rule, where, a, b) => {
        const schema = toSchema(rule, where);
        fc.pre(accepts(withImpliedTypes(schema), { a, b }));
        expect(accepts(schema, { a, b })).toBe(true);
      }),
      { numRuns },
    );
  });

  it('accepts a value of another type only if the rule holds without its bounds', () => {
    fc.assert(
      fc.property(formula, another, aNumber, (rule, a, b) => {
        fc.pre(accepts(withImpliedTypes(toSchema(rule, 'arguments')), { a, b }));
        expect([true, false].map((ofOthers) => holds(rule, { a, b }, ofOthers))).toEqual([true, true]);
      }),
      { numRuns },
    );
  });
});

const MUCH = 'x'.repeat(10);

describe('a bound', () => {
  it.each<[string, unknown, readonly unknown[], readonly unknown[]]>([
    ['maximum', { maximum: 100 }, [100, -1], ['5000', [5000], { a: 5000 }, true, null, 101]],
    ['minimum', { minimum: 10 }, [10], ['5', [5], {}, false, null, 9]],
    ['exclusiveMaximum', { exclusiveMaximum: 100 }, [99], ['5000', [5000], true, null, 100]],
    ['exclusiveMinimum', { exclusiveMinimum: 0 }, [1], ['-1', [-1], null, 0]],
    ['multipleOf', { multipleOf: 5 }, [10], ['7', [7], null, 7]],
    ['maxLength', { maxLength: 3 }, ['abc'], [5000, [MUCH], { a: MUCH }, null, MUCH]],
    ['minLength', { minLength: 3 }, ['abc'], [1, ['a'], null, 'a']],
    ['pattern', { pattern: '^[a-z]+$' }, ['abc'], [7, ['../x'], { a: '../x' }, null, '../x']],
    ['format', { format: 'email' }, ['a@b.test'], [7, ['x'], null, 'x']],
    ['a format of numbers', { format: 'int32' }, [7], ['7', [7], null]],
    ['maxItems', { maxItems: 1 }, [[1]], ['1,2', { 0: 1, 1: 2 }, 12, null, [1, 2]]],
    ['items', { items: { maximum: 100 } }, [[1, 2]], [5000, '5000', ['5000'], [[5000]], null, [5000]]],
    ['prefixItems', { prefixItems: [{ maxLength: 1 }] }, [['a']], ['a', [5], [['a']], null]],
    ['contains', { contains: { const: 'ok' } }, [['ok']], ['ok', { 0: 'ok' }, null, []]],
    ['uniqueItems', { uniqueItems: true }, [[1, 2]], ['aa', null, [1, 1]]],
    [
      'maxContains',
      { contains: { minimum: 10 }, maxContains: 1, minContains: 0 },
      [[10, 1], []],
      [[10, '5000'], [10, [50]], '5'],
    ],
    ['required', { required: ['who'] }, [{ who: 1 }], ['who', ['who'], null, {}]],
    ['maxProperties', { maxProperties: 1 }, [{ a: 1 }], [['a', 'b'], 'ab', null, { a: 1, b: 2 }]],
    ['additionalProperties', { additionalProperties: false }, [{}], [['a'], 'a', null, { a: 1 }]],
    ['propertyNames', { propertyNames: { maxLength: 1 } }, [{ a: 1 }], [['abc'], 'abc', null, { abc: 1 }]],
    [
      'one inside',
      { properties: { deep: { properties: { amount: { maximum: 1 } } } } },
      [{ deep: { amount: 1 } }, {}],
      [{ deep: { amount: '5' } }, { deep: [5] }, { deep: '5' }, [{ deep: { amount: 5 } }]],
    ],
    ['one under allOf', { allOf: [{ maximum: 100 }, { minimum: 0 }] }, [5], ['5000', [5000], null, 5000]],
    ['one under anyOf', { anyOf: [{ maximum: 100 }, { const: 'all' }] }, [5, 'all'], ['5000', [5000], null, 5000]],
    ['one under oneOf', { oneOf: [{ maximum: 100 }, { minimum: 1000 }] }, [5, 2000], ['5000', [5000], null, 500]],
    ['one under not', { not: { maximum: 100 } }, [101], ['5000', [5000], null, 5]],
    ['one under two nots', { not: { not: { maximum: 100 } } }, [5], ['5000', [5000], null, 5000]],
    ['one behind a reference', { $ref: '#/$defs/small' }, [5], ['5000', [5000], null, 5000]],
    ['bounds of two types', { maximum: 100, maxLength: 3 }, [5, 'abc'], [[5000], { a: 1 }, null, 5000, MUCH]],
  ])('%s implies the type of its value', (_, bound, good, bad) => {
    const schema = withImpliedTypes({ properties: { value: bound }, $defs: { small: { maximum: 100 } } });
    for (const value of good) expect([value, accepts(schema, { value })]).toEqual([value, true]);
    for (const value of bad) expect([value, accepts(schema, { value })]).toEqual([value, false]);
    expect(accepts(schema, {})).toBe(true);
  });

  it.each<[string, unknown, readonly unknown[]]>([
    ['a type', { type: ['number', 'string'], maximum: 100 }, [5, 'a']],
    ['a type beside a reference', { type: ['number', 'string'], $ref: '#/$defs/small' }, [5, 'a']],
    ['a type of a part', { allOf: [{ type: ['number', 'string'] }, { maximum: 100 }, { maxLength: 3 }] }, [5, 'abc']],
    ['values', { enum: [1, 'all'], maximum: 100 }, [1, 'all']],
    ['a type in each form', { anyOf: [{ type: 'number' }, { type: 'string' }], maximum: 100 }, [5, 'a']],
  ])('keeps %s of the author', (_, said, good) => {
    const schema = withImpliedTypes({ properties: { value: said }, $defs: { small: { maximum: 100 } } });
    for (const value of good) expect([value, accepts(schema, { value })]).toEqual([value, true]);
  });

  it('is found in recursive schemas', () => {
    const part = { anyOf: [{ properties: { next: { $ref: '#/$defs/part' } } }, { $ref: '#' }], minProperties: 0 };
    const schema = withImpliedTypes({
      properties: { amount: { maximum: 100 }, next: { $ref: '#' }, part: { $ref: '#/$defs/part' } },
      $defs: { part },
    });
    expect(accepts(schema, { amount: 1, next: { next: { amount: 2 } }, part: { next: {} } })).toBe(true);
    expect(accepts(schema, { amount: 1, next: { next: { amount: '2' } } })).toBe(false);
    expect(accepts(schema, { part: 'x' })).toBe(false);
  });

  it.each<[string, JsonSchema]>([
    ['an anchor', { properties: { a: { $ref: '#small' } }, $defs: { small: { $anchor: 'small', maximum: 1 } } }],
    ['a dynamic reference', { properties: { a: { $dynamicRef: '#x' } } }],
    ['an id of its own', { properties: { a: { $id: 'https://x.test/a', maximum: 1 } } }],
    ['nothing', { properties: { a: { $ref: '#/$defs/none' } } }],
    ['a broken pointer', { properties: { a: { $ref: '#/%zz' } } }],
  ])('behind %s is refused rather than missed', (_, schema) => {
    expect(() => withImpliedTypes(schema)).toThrow('cannot be resolved here');
  });
});
