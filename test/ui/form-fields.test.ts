import { describe, expect, it } from 'vitest';
import { describeField } from '../../ui/src/form/field.ts';
import { findHints } from '../../ui/src/form/hints.ts';
import type { Schema } from '../../ui/src/form/schema.ts';
import { firstValue, fittingVariant, switchVariant } from '../../ui/src/form/variants.ts';
import { type JsonNode, parseJson } from '../../ui/src/json/json-text.ts';

const field = (schema: unknown, root: Schema = {}) => describeField(schema, root);

function nodeOf(text: string): JsonNode {
  const parsed = parseJson(text);
  if ('problem' in parsed) throw new Error(parsed.problem.message);
  return parsed.node;
}

const NOTICE = {
  type: 'object',
  properties: { note: { type: 'string' } },
  oneOf: [
    { properties: { kind: { const: 'email' }, address: { type: 'string' } }, required: ['kind', 'address'] },
    { properties: { kind: { const: 'sms' }, number: { type: 'string' } }, required: ['kind', 'number'] },
  ],
};

describe('a field made from a schema', () => {
  it('has the kind of its type, or the one that its keywords imply', () => {
    expect(field({ type: 'string', format: 'date-time' })).toMatchObject({ kind: 'text', format: 'date-time' });
    expect(field({ type: 'integer', minimum: 1 })).toMatchObject({ kind: 'number', limits: ['at least 1'] });
    expect(field({ properties: { a: {} } })).toMatchObject({ kind: 'object', members: [{ name: 'a' }] });
    expect(field({ items: { type: 'string' } })).toMatchObject({ kind: 'list', type: 'list of text' });
    expect(field({ pattern: '^a' })).toMatchObject({ kind: 'text' });
    expect(field({})).toMatchObject({ kind: 'any' });
    expect(field(true)).toMatchObject({ kind: 'any' });
    expect(field('nonsense')).toMatchObject({ kind: 'any' });
  });

  it('is nullable by a type list, by a union with null, and by null among its choices', () => {
    expect(field({ type: ['string', 'null'] })).toMatchObject({ kind: 'text', isNullable: true });
    expect(field({ anyOf: [{ type: 'integer' }, { type: 'null' }] })).toMatchObject({
      kind: 'number',
      isNullable: true,
    });
    expect(field({ enum: ['a', null] })).toMatchObject({ kind: 'choice', isNullable: true, choices: [{ raw: '"a"' }] });
    expect(field({ type: 'string' })).toMatchObject({ isNullable: false });
  });

  it('follows references, also to itself, and joins what allOf demands', () => {
    const root = {
      $defs: {
        tree: { type: 'object', properties: { left: { $ref: '#/$defs/tree' } } },
        'a/b': { type: 'number' },
        loop: { $ref: '#/$defs/loop' },
      },
    };
    expect(field({ $ref: '#/$defs/tree' }, root)).toMatchObject({ kind: 'object', members: [{ name: 'left' }] });
    expect(field({ $ref: '#/$defs/a~1b', title: 'Size' }, root)).toMatchObject({ kind: 'number', title: 'Size' });
    expect(field({ $ref: '#/$defs/loop' }, root)).toMatchObject({ kind: 'any' });
    const joined = {
      allOf: [
        { properties: { a: {} }, required: ['a'] },
        { properties: { b: {} }, required: ['b'] },
      ],
    };
    expect(field(joined)).toMatchObject({
      members: [
        { name: 'a', isRequired: true },
        { name: 'b', isRequired: true },
      ],
    });
  });

  it('offers the variants of a union, with what they have in common', () => {
    const union = field(NOTICE);
    expect(union).toMatchObject({ kind: 'union', variants: [{ label: 'kind: email' }, { label: 'kind: sms' }] });
    if (union.kind !== 'union') return;
    expect(field(union.variants[1]?.schema)).toMatchObject({
      members: [{ name: 'note' }, { name: 'kind' }, { name: 'number' }],
    });
    expect(fittingVariant(nodeOf('{"kind":"sms"}'), union.variants, {})).toBe(1);
    expect(fittingVariant(nodeOf('7'), union.variants, {})).toBeUndefined();
    const [email, sms] = union.variants;
    if (email === undefined || sms === undefined) return;
    const before = nodeOf('{"kind":"email","address":"a@b","note":"x","other":9007199254740993}');
    expect(switchVariant(before, [email, sms], {})).toBe('{"kind": "sms", "note": "x", "other": 9007199254740993}');
  });

  it('shows unions of constants as choices, and one constant as fixed', () => {
    const choice = field({ oneOf: [{ const: 1, title: 'One' }, { const: 2 }] });
    expect(choice).toMatchObject({
      kind: 'choice',
      choices: [
        { raw: '1', label: '1 · One' },
        { raw: '2', label: '2' },
      ],
    });
    expect(field({ const: 'x' })).toMatchObject({ kind: 'constant', raw: '"x"' });
  });

  it('lets members be added where the schema allows them', () => {
    expect(field({ type: 'object' })).toMatchObject({ others: {} });
    expect(field({ type: 'object', additionalProperties: { type: 'integer' } })).toMatchObject({
      others: { type: 'integer' },
    });
    expect(field({ type: 'object', properties: { a: {} } })).toMatchObject({ others: undefined });
    expect(field({ type: 'object', additionalProperties: false })).toMatchObject({ others: undefined });
  });

  it('begins a new item with a value of its type and without defaults', () => {
    expect(firstValue({ type: 'string', default: 'x' }, {})).toBe('""');
    expect(firstValue({ enum: ['b', 'a'] }, {})).toBe('"b"');
    expect(firstValue(NOTICE, {})).toBe('{"kind": "email"}');
  });
});

describe('hints', () => {
  const schema = {
    type: 'object',
    properties: {
      count: { type: 'integer', minimum: 1 },
      'a.b/c': { type: 'string', format: 'date-time' },
      name: { type: 'string', minLength: 2 },
      to: { anyOf: NOTICE.oneOf.map((form) => ({ type: 'object', ...form })) },
    },
    required: ['count'],
    additionalProperties: false,
  };
  const hints = (text: string) => findHints(schema, text);

  it('stand at their field', () => {
    expect(hints('{}')).toEqual([{ path: '/count', message: 'is required' }]);
    expect(hints('{"count":0}')).toEqual([{ path: '/count', message: 'must be at least 1' }]);
    expect(hints('{"count":"1"}')).toEqual([{ path: '/count', message: 'must be integer' }]);
    expect(hints('{"count":1,"name":"x"}')).toEqual([{ path: '/name', message: 'must have at least 2 characters' }]);
    expect(hints('{"count":1,"a.b/c":"2026-01-01"}')).toEqual([
      { path: '/a.b~1c', message: 'must be written as date-time' },
    ]);
    expect(hints('{"count":1,"more":1}')).toEqual([{ path: '/more', message: 'is not an argument of this tool' }]);
  });

  it('tell of a union only what the nearest form lacks', () => {
    expect(hints('{"count":1,"to":{"kind":"sms"}}')).toEqual([{ path: '/to/number', message: 'is required' }]);
    expect(hints('{"count":1,"to":7}')).toEqual([{ path: '/to', message: 'fits none of the forms' }]);
  });

  it('warn of integers that lose digits, and of nothing in a text that does not parse', () => {
    expect(hints('{"count":9007199254740993}')).toEqual([
      {
        path: '/count',
        message: 'has more digits than a number keeps: it would be rounded to 9007199254740992. Send it as text',
      },
    ]);
    expect(hints('{"count":')).toEqual([]);
    expect(findHints({ $ref: '#/nowhere' }, '{}')).toEqual([]);
  });
});
