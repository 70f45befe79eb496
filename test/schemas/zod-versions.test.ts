import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { z as z46 } from 'zod';
import * as mini46 from 'zod/mini';
import { z as v3of4 } from 'zod/v3';
import { z as z325 } from 'zod3';
import { z as v4of3 } from 'zod3/v4';
import { z as z40 } from 'zod40';
import * as mini40 from 'zod40/mini';
import { z as z41 } from 'zod41';
import * as mini41 from 'zod41/mini';
import { z as z322 } from 'zod322';
import { createCrib, defineTool } from '../../src/index.ts';
import { createSchemas } from '../../src/schemas/create-schemas.ts';
import { toSchemaPair } from '../../src/schemas/standard-schema.ts';

const require = createRequire(import.meta.url);

/** The calls that all of them have but zod/mini, whose schemas have fewer methods. */
type Classic = typeof z40;
const classic: readonly (readonly [string, Classic])[] = Object.entries({
  'zod 4.6': z46,
  'zod 4.1': z41,
  'zod 4.1, required': require('zod41').z,
  'zod 4.0': z40,
  'zod 4.0, required': require('zod40').z,
  'zod/v4 of zod 3.25': v4of3,
  'zod 3.25': z325,
  'zod 3.25, required': require('zod3').z,
  'zod 3.22': z322,
  'zod/v3 of zod 4': v3of4,
}) as never; // the calls made here are the same in all of them
const mini: readonly (readonly [string, typeof mini40])[] = Object.entries({
  'zod/mini 4.6': mini46,
  'zod/mini 4.1': mini41,
  'zod/mini 4.0': mini40,
}) as never; // likewise

describe.each(classic)('%s', (_, z) => {
  it('shows the input, with descriptions and defaults', () => {
    const schema = z.object({
      city: z.string().min(1).describe('Where it is'),
      days: z.number().int().default(3),
      unit: z.enum(['c', 'f']).optional(),
      near: z.array(z.object({ lat: z.number() })).optional(),
      when: z.string().transform((text) => new Date(text)),
    });
    expect(toSchemaPair(schema, 'input').schema).toMatchObject({
      type: 'object',
      properties: {
        city: { type: 'string', minLength: 1, description: 'Where it is' },
        days: { type: 'integer', default: 3 },
        unit: { type: 'string', enum: ['c', 'f'] },
        near: { type: 'array', items: { type: 'object', required: ['lat'] } },
        when: { type: 'string' },
      },
      required: ['city', 'when'],
    });
    expect(toSchemaPair(schema, 'input').schema).not.toHaveProperty('$schema');
    expect(toSchemaPair(schema, 'input').schema).not.toHaveProperty('additionalProperties');
  });

  it('validates and transforms arguments itself', async () => {
    const input = z.object({ a: z.string().transform(Number), b: z.number().default(2) });
    const add = defineTool({ name: 'add', description: '', input, run: ({ a, b }) => a + b });
    const chest = await (await createCrib({ tools: [add] })).open();
    expect(await chest.call('add', { a: '1' })).toMatchObject({ ok: true, data: 3 });
    expect(await chest.call('add', { a: 1, b: 'x' })).toMatchObject({
      ok: false,
      error: { code: 'invalid_input', issues: [{ path: '/a' }, { path: '/b' }] },
    });
  });

  it('validates with asynchronous refinements', async () => {
    const { parse } = toSchemaPair(z.object({ a: z.string().refine(async (text) => text === 'x') }), 'input');
    expect(await parse?.({ a: 'x' })).toMatchObject({ ok: true });
    expect(await parse?.({ a: 'y' })).toMatchObject({ ok: false, issues: [{ path: '/a' }] });
  });

  it('keeps a tuple in a dialect that has it', async () => {
    const { schema } = toSchemaPair(z.object({ pair: z.tuple([z.string(), z.number()]) }), 'input');
    const parse = createSchemas().parser(schema);
    expect(await parse({ pair: ['a', 1] })).toMatchObject({ ok: true });
    expect(await parse({ pair: [1, 'a'] })).toMatchObject({ ok: false });
  });

  it.each([
    ['a date', z.date()],
    ['a big integer', z.bigint()],
    ['a map', z.map(z.string(), z.string())],
  ])('refuses %s, which JSON does not have', (_name, type) => {
    expect(() => toSchemaPair(z.object({ a: type }), 'input')).toThrow(
      /cannot be converted to JSON Schema: .*Use JSON types/,
    );
  });

  it('refuses a schema that is not an object', () => {
    expect(() => toSchemaPair(z.string(), 'input')).toThrow('must describe an object');
  });
});

describe.each(mini)('%s', (_, z) => {
  it('shows the input, and validates it', async () => {
    const schema = z.object({
      city: z.string().check(z.minLength(1)),
      days: z._default(z.number(), 3),
    });
    const { schema: shown, parse } = toSchemaPair(schema, 'input');
    expect(shown).toMatchObject({
      type: 'object',
      properties: { city: { type: 'string', minLength: 1 }, days: { type: 'number', default: 3 } },
      required: ['city'],
    });
    expect(await parse?.({ city: 'Oslo' })).toEqual({ ok: true, value: { city: 'Oslo', days: 3 } });
    expect(await parse?.({ city: '' })).toMatchObject({ ok: false, issues: [{ path: '/city' }] });
  });

  it('shows the data of its registry', () => {
    const city = z.string().register(z.globalRegistry, { description: 'Where it is' });
    expect(toSchemaPair(z.object({ city }), 'input').schema).toMatchObject({
      properties: { city: { description: 'Where it is' } },
    });
  });
});

describe('a value that only resembles zod', () => {
  const validate = () => ({ value: {} });
  it.each([
    ['no way to be made again', { _zod: { def: {}, version: { major: 4, minor: 0, patch: 1 } } }],
    [
      'a definition that throws',
      {
        _zod: {
          get def() {
            throw new Error('no');
          },
        },
      },
    ],
    ['no version', { _zod: {} }],
  ])('is refused if it has %s, with what to install', (_, members) => {
    const fake = Object.assign({ '~standard': { version: 1, vendor: 'zod', validate } }, {});
    Object.defineProperties(fake, Object.getOwnPropertyDescriptors(members));
    expect(() => toSchemaPair(fake, 'input')).toThrow(/zod@\^4\.2/);
  });

  it('as data is a plain JSON Schema', () => {
    const data = { type: 'object', _zod: { def: {} }, _def: { typeName: 'ZodObject' } };
    expect(toSchemaPair(data, 'input').schema).toEqual(data);
  });
});
