import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toSchemaPair } from '../../src/schemas/standard-schema.ts';

function standard(validate: (value: unknown) => unknown) {
  const jsonSchema = { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) };
  return { '~standard': { version: 1, vendor: 'test', validate, jsonSchema } };
}

describe('the same tool input', () => {
  const shown = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'number' } },
    required: ['city', 'days'],
  };
  const bad = { city: 'Oslo', days: 'three' };

  it.each([
    ['zod', z.object({ city: z.string(), days: z.number() })],
    ['arktype', type({ city: 'string', days: 'number' })],
    ['valibot', toStandardJsonSchema(v.object({ city: v.string(), days: v.number() }))],
  ])('reads the same in %s', async (_, schema) => {
    const pair = toSchemaPair(schema, 'input');
    expect(pair.schema).toEqual(shown);
    expect(await pair.parse?.({ city: 'Oslo', days: 3 })).toEqual({ ok: true, value: { city: 'Oslo', days: 3 } });
    expect(await pair.parse?.(bad)).toEqual({ ok: false, issues: [{ path: '/days', message: expect.any(String) }] });
  });

  it('as a JSON Schema is copied and has no validation of its own', () => {
    const pair = toSchemaPair(shown, 'input');
    expect(pair).toEqual({ schema: shown });
    expect(pair.schema).not.toBe(shown);
  });
});

describe('a shown schema', () => {
  it('is frozen to the last leaf', () => {
    const { schema } = toSchemaPair(z.object({ a: z.string() }), 'input');
    expect(Object.isFrozen(schema)).toBe(true);
    expect(Object.isFrozen(schema.properties)).toBe(true);
  });

  it('does not repeat the default dialect, but keeps any other', () => {
    const $schema = 'http://json-schema.org/draft-07/schema#';
    expect(toSchemaPair({ $schema, type: 'object' }, 'input').schema).toEqual({ $schema, type: 'object' });
    expect(toSchemaPair(z.toJSONSchema(z.object({})), 'input').schema).not.toHaveProperty('$schema');
  });

  it('of the output is that of the returned value, which is passed on', () => {
    const answer = z.object({ a: z.number().default(3), b: z.string().transform(Number) });
    expect(toSchemaPair(answer, 'output').schema).toEqual({
      type: 'object',
      properties: { a: { type: 'number', default: 3 }, b: { type: 'string' } },
      required: ['b'],
    });
  });

  it('of the output may be other than an object', () => {
    expect(toSchemaPair({ type: 'array' }, 'output').schema).toEqual({ type: 'array' });
  });
});

describe('an unusable schema is an error with the reason', () => {
  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /got nothing/],
    ['a list', [], /got a list/],
    ['text', 'object', /got "object"/],
    ['a function', () => {}, /got a function/],
    ['a JSON Schema of something else', { type: 'string' }, /must describe an object.*"string"/],
    ['a zod schema of something else', z.string(), /must describe an object.*"string"/],
    ['a JSON Schema with a function in it', { properties: { a: () => {} } }, /\/properties\/a is a function/],
    ['a type that JSON has not', z.object({ a: z.bigint() }), /cannot be converted to JSON Schema: .*BigInt/],
    ['valibot alone', v.object({}), /valibot.*toStandardJsonSchema\(schema\), from @valibot\/to-json-schema/],
    ['another vendor', { '~standard': { vendor: 'acme', validate() {} } }, /\(acme\).*Standard JSON Schema/],
  ])('%s', (_, schema, message) => {
    const read = () => toSchemaPair(schema, 'input');
    expect(read).toThrow(expect.objectContaining({ code: 'invalid_schema' }));
    expect(read).toThrow(message);
  });
});

describe("an author's validation", () => {
  it('passes on its output', () => {
    const { parse } = toSchemaPair(z.object({ a: z.string().transform(Number) }), 'input');
    expect(parse?.({ a: '5' })).toEqual({ ok: true, value: { a: 5 } });
  });

  it('may be asynchronous', async () => {
    const { parse } = toSchemaPair(
      standard(async (value) => ({ value })),
      'input',
    );
    expect(await parse?.(1)).toEqual({ ok: true, value: 1 });
  });

  it('has issues with JSON pointers', () => {
    const issues = [{ message: 'no', path: ['a/b', { key: 0 }, { key: 'c~d' }] }, { message: 'never' }];
    expect(
      toSchemaPair(
        standard(() => ({ issues })),
        'input',
      ).parse?.({}),
    ).toEqual({
      ok: false,
      issues: [
        { path: '/a~1b/0/c~0d', message: 'no' },
        { path: '', message: 'never' },
      ],
    });
  });

  it.each([
    [
      'at once',
      () => {
        throw new TypeError('secret');
      },
    ],
    ['later', () => Promise.reject(new TypeError('secret'))],
  ])('that throws %s is an issue without secrets', async (_, validate) => {
    expect(await toSchemaPair(standard(validate), 'input').parse?.({})).toEqual({
      ok: false,
      issues: [{ path: '', message: 'could not be checked: its schema threw a TypeError' }],
    });
  });

  it('keeps its this', () => {
    const pair = toSchemaPair(
      {
        '~standard': {
          answer: 7,
          validate() {
            return { value: this.answer };
          },
          jsonSchema: { input: () => ({}) },
        },
      },
      'input',
    );
    expect(pair.parse?.({})).toEqual({ ok: true, value: 7 });
  });
});
