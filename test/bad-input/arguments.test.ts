import { describe, expect, it, vi } from 'vitest';
import { createCrib } from '../../src/index.ts';
import { wrong } from './wrong.ts';

const run = vi.fn((input: unknown) => input);

async function call(input: unknown) {
  run.mockClear();
  const crib = await createCrib({ tools: [{ name: 'tool', description: '', run }] });
  return (await crib.open()).call('tool', input);
}

const cycle: Record<string, unknown> = { list: [] };
cycle.self = cycle;

describe('invalid arguments', () => {
  it.each<[string, unknown, RegExp]>([
    ['__proto__', JSON.parse('{"__proto__": {"admin": true}}'), /__proto__/],
    ['__proto__ deep inside', JSON.parse('{"a": [{"__proto__": {"admin": true}}]}'), /\/a\/0\/__proto__/],
    [
      '10,000 levels deep',
      Array.from({ length: 10_000 }).reduce<object>((inner) => ({ inner }), {}),
      /nested deeper than 200/,
    ],
    [
      'a list 10,000 levels deep',
      { list: Array.from({ length: 10_000 }).reduce<unknown>((inner) => [inner], []) },
      /nested deeper/,
    ],
    ['a cycle', cycle, /\/self contains itself/],
    ['a function inside', { callback: () => 1 }, /\/callback is a function/],
    ['a symbol inside', { mark: Symbol('x') }, /\/mark is a symbol/],
    ['a BigInt inside', { list: [1, 5n] }, /\/list\/1 is a bigint/],
    ['a BigInt', 5n, /bigint/],
    ['a function', () => 1, /function/],
    ['a string of JSON', '{"a": 1}', /string that holds JSON; send the object itself/],
    ['a string that is not JSON', '{a: 1}', /string that is not JSON/],
    ['an empty string', '', /string that is not JSON/],
    ['a list', [{ a: 1 }], /must be a JSON object, not a list/],
    ['null', null, /must be a JSON object, not null/],
    ['a number', 5, /must be a JSON object, not 5/],
    ['true', true, /must be a JSON object, not true/],
  ])('%s: invalid_input with that reason, and the tool does not run', async (_, input, message) => {
    expect(await call(input)).toMatchObject({
      ok: false,
      error: { code: 'invalid_input', message: expect.stringMatching(message) },
    });
    expect(run).not.toHaveBeenCalled();
  });

  it('__proto__ does not reach any prototype', async () => {
    await call(JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}'));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('a string that is not JSON is not repeated in full', async () => {
    const result = await call('x'.repeat(1_000_000));
    expect(JSON.stringify(result).length).toBeLessThan(1000);
  });
});

describe('unusual arguments', () => {
  it.each<[string, unknown, unknown]>([
    ['undefined: none', undefined, {}],
    ['a member that is undefined: left out', { a: undefined, b: 1 }, { b: 1 }],
    ['a Date: as JSON writes it', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['names that every object has', { constructor: 1, toString: 2 }, { constructor: 1, toString: 2 }],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['200 levels, no more', Array.from({ length: 198 }).reduce<object>((inner) => ({ inner }), {}), expect.anything()],
  ])('%s', async (_, input, expected) => {
    expect(await call(input)).toMatchObject({ ok: true });
    expect(run.mock.calls[0]?.[0]).toEqual(expected);
  });

  it('one object in two places is not a cycle, and becomes two objects', async () => {
    const shared = { n: 1 };
    await call({ a: shared, b: shared });
    expect(run.mock.calls[0]?.[0]).toEqual({ a: { n: 1 }, b: { n: 1 } });
  });
});

describe('invalid names', () => {
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a number', 5],
    ['a symbol', Symbol('tool')],
    ['an object', { toString: () => 'tool' }],
    ['a list', ['tool']],
    ['an empty text', ''],
    ['a name that every object has', 'constructor'],
    ['a very long one', 'x'.repeat(1_000_000)],
  ])('%s: unknown_tool', async (_, name) => {
    const chest = await (await createCrib({ tools: [{ name: 'tool', description: '', run }] })).open();
    const result = await chest.call(wrong(name), {});
    expect(result).toMatchObject({ ok: false, error: { code: 'unknown_tool' } });
    expect(JSON.stringify(result).length).toBeLessThan(1000);
  });

  it('similar to a known name: the error names it', async () => {
    const chest = await (await createCrib({ tools: [{ name: 'read_file', description: '', run }] })).open();
    expect(await chest.call('readfile', {})).toMatchObject({
      error: { message: 'The tool "readfile" was not found. Did you mean "read_file"?' },
    });
  });

  it('similar to a hidden name: the error names none', async () => {
    const crib = await createCrib({
      tools: [{ name: 'read_file', description: '', run }],
      profiles: { only: { exclude: ['*'] } },
    });
    expect(await (await crib.open()).call('readfile', {})).toMatchObject({
      error: { message: 'The tool "readfile" was not found.' },
    });
  });
});
