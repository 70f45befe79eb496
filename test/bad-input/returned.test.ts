import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCrib, type JsonSchema, textOf } from '../../src/index.ts';

async function resultOf(value: unknown, output?: JsonSchema) {
  const crib = await createCrib({
    tools: [{ name: 'tool', description: '', ...(output && { output }), run: () => value }],
  });
  return (await crib.open()).call('tool');
}

class Point {
  readonly x = 1;
  readonly #hidden = 'secret';
  get sum() {
    return this.x + this.#hidden.length;
  }
}

describe('a tool that returns a value that JSON cannot carry', () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = { again: [cycle] };

  it.each<[string, unknown, RegExp]>([
    ['a function', () => 1, /function/],
    ['a symbol', Symbol('x'), /symbol/],
    ['a BigInt', 5n, /bigint/],
    ['a BigInt inside', { list: [{ big: 5n }] }, /\/list\/0\/big.*bigint/],
    ['a function inside', { f: () => 1 }, /\/f.*function/],
    ['a cycle', cycle, /contains itself/],
    ['a value 10,000 levels deep', Array.from({ length: 10_000 }).reduce<unknown>((inner) => [inner], 1), /deeper/],
  ])('%s: a failure with that reason', async (_, value, message) => {
    expect(await resultOf(value)).toMatchObject({
      ok: false,
      error: { code: 'invalid_output', message: expect.stringMatching(message) },
    });
  });

  it.each<[string, unknown, string]>([
    ['a Map', new Map([['key', 'treasure']]), 'treasure'],
    ['a Set', new Set(['treasure']), 'treasure'],
  ])('%s: its entries are never lost silently', async (_, value, entry) => {
    const result = await resultOf(value);
    expect(result.ok ? textOf(result) : entry).toContain(entry);
  });

  it('NaN: text, and no data', async () => {
    expect(await resultOf(Number.NaN)).toEqual({ ok: true, status: 'done', content: [{ type: 'text', text: 'NaN' }] });
  });

  it('a Date: converted as in JSON', async () => {
    expect(await resultOf({ at: new Date(0) })).toMatchObject({ data: { at: '1970-01-01T00:00:00.000Z' } });
  });

  it('a class instance: its own enumerable members', async () => {
    expect(await resultOf(new Point())).toMatchObject({ ok: true, data: { x: 1 } });
    expect(JSON.stringify(await resultOf(new Point()))).not.toContain('secret');
  });

  it('an object with an undefined member: without the member', async () => {
    expect(await resultOf({ a: 1, b: undefined })).toEqual({
      ok: true,
      status: 'done',
      content: [{ type: 'text', text: '{"a":1}' }],
      data: { a: 1 },
    });
  });

  it('a huge text: unchanged without a limit', async () => {
    const huge = 'x'.repeat(20_000_000);
    const result = await resultOf(huge);
    expect(textOf(result).length).toBe(huge.length);
  });

  it('a promise of any implementation', async () => {
    // biome-ignore lint/suspicious/noThenProperty: a promise of another make
    const thenable = { then: (resolve: (value: unknown) => void) => resolve(5) };
    expect(await resultOf(thenable)).toMatchObject({ ok: true, data: 5 });
  });
});

describe('a tool that returns something like a result', () => {
  it.each<[string, unknown]>([
    ['done without content', { ok: true, status: 'done' }],
    ['done with content that is not a list', { ok: true, status: 'done', content: 'text' }],
    ['failed without an error', { ok: false, status: 'failed' }],
    ['failed with a code that does not exist', { ok: false, status: 'failed', error: { code: 'oops', message: 'x' } }],
    ['waiting for nothing', { ok: false, status: 'waiting' }],
  ])('%s: it is data', async (_, value) => {
    expect(await resultOf(value)).toMatchObject({ ok: true, status: 'done', data: value });
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a text', 'hello'],
    ['a part without a type', { text: 'hello' }],
    ['a text part without text', { type: 'text' }],
  ])('with an invalid part (%s): every reader can read the result', async (_, part) => {
    const result = await resultOf({ ok: true, status: 'done', content: [part] });
    expect(() => textOf(result)).not.toThrow();
  });

  it('with an invalid part is not a failure of an extension', async () => {
    const crib = await createCrib({
      tools: [
        {
          name: 'tool',
          description: '',
          policy: { maxResultBytes: 10 },
          run: () => ({ ok: true, status: 'done', content: [null] }),
        },
      ],
    });
    const result = await (await crib.open()).call('tool');
    expect(result.status === 'failed' ? result.error.code : 'done').not.toBe('internal');
  });
});

describe('for any value that a tool returns', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withTypedArray: true,
    withSparseArray: true,
  });

  it('the answer is a result, and its data is JSON', async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (value) => {
        const result = await resultOf(value);
        expect(['done', 'failed', 'waiting']).toContain(result.status);
        expect(typeof textOf(result)).toBe('string');
        if (result.ok && result.data !== undefined) {
          // Minus zero is the one JSON number that text does not keep.
          const text = JSON.stringify(result.data);
          expect(JSON.stringify(JSON.parse(text))).toBe(text);
          expect(isPlainJson(result.data)).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  function isPlainJson(value: unknown): boolean {
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
    if (typeof value === 'number') return Number.isFinite(value);
    if (typeof value !== 'object') return false;
    const members: readonly unknown[] = Array.isArray(value) ? Array.from(value) : Object.values(value);
    return members.every(isPlainJson);
  }
});
