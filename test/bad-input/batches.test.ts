import { describe, expect, it } from 'vitest';
import { type CallRequest, createCrib } from '../../src/index.ts';
import { wrong } from './wrong.ts';

async function callAll(calls: unknown) {
  const crib = await createCrib({ tools: [{ name: 'echo', description: '', run: (input: unknown) => input }] });
  return (await crib.open()).callAll(wrong(calls));
}

const good = (id: string): CallRequest => ({ id, name: 'echo', input: { id } });

describe('a batch', () => {
  it('answers in the order of the calls, each with its id', async () => {
    const answers = await callAll([good('1'), good('2'), good('3')]);
    expect(answers).toMatchObject(
      ['1', '2', '3'].map((id) => ({ id, name: 'echo', result: { ok: true, data: { id } } })),
    );
  });

  it('runs all calls at once', async () => {
    const both = Promise.withResolvers<void>();
    let running = 0;
    const run = async () => {
      running++;
      if (running === 2) both.resolve();
      await both.promise;
    };
    const chest = await (await createCrib({ tools: [{ name: 'meet', description: '', run }] })).open();
    const answers = await chest.callAll([
      { name: 'meet', input: {} },
      { name: 'meet', input: {} },
    ]);
    expect(answers).toHaveLength(2);
  });

  it('that is empty has no results', async () => {
    expect(await callAll([])).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['a name that does not exist', { id: 'x', name: 'nobody', input: {} }, 'unknown_tool'],
    ['arguments that are a text', { id: 'x', name: 'echo', input: '{"a"' }, 'invalid_input'],
    ['arguments that cannot be read', { id: 'x', name: 'echo', input: { f: () => 1 } }, 'invalid_input'],
    ['no name', { id: 'x', input: {} }, 'unknown_tool'],
    ['null', null, 'unknown_tool'],
    ['undefined', undefined, 'unknown_tool'],
    ['a text', 'echo', 'unknown_tool'],
    ['a list', [], 'unknown_tool'],
    ['an id that is not text', { id: { a: 1 }, name: 'nobody' }, 'unknown_tool'],
    [
      'a name that throws when it is read',
      {
        id: 'x',
        get name() {
          throw new Error('sprung');
        },
      },
      'unknown_tool',
    ],
    [
      'an id that throws when it is read',
      {
        get id() {
          throw new Error('sprung');
        },
        name: 'nobody',
      },
      'unknown_tool',
    ],
    [
      'arguments that throw when they are read',
      {
        id: 'x',
        name: 'echo',
        get input() {
          throw new Error('sprung');
        },
      },
      'invalid_input',
    ],
  ])('with one malformed call (%s) still runs the others', async (_, bad, code) => {
    const answers = await callAll([good('1'), bad, good('3')]);
    expect(answers).toMatchObject([
      { id: '1', result: { ok: true } },
      { result: { ok: false, error: { code } } },
      { id: '3', result: { ok: true } },
    ]);
    expect(typeof answers[1]?.id).toBe('string');
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['a text', 'echo'],
    ['an object', { name: 'echo' }],
  ])('that is not a list (%s) rejects with an error, and does not throw before it is awaited', async (_, calls) => {
    const chest = await (await createCrib()).open();
    let answers: unknown;
    expect(() => {
      answers = chest.callAll(wrong(calls)).catch((error: unknown) => error);
    }).not.toThrow();
    expect(await answers).toMatchObject({ name: 'ToolcribError' });
  });

  it('with invalid options fails every call with that reason', async () => {
    const chest = await (await createCrib({ tools: [{ name: 'echo', description: '', run: () => 1 }] })).open();
    const answers = await chest.callAll([good('1'), good('2')], wrong({ timeout: 5 }));
    expect(answers).toMatchObject([
      { result: { error: { code: 'invalid_input' } } },
      { result: { error: { code: 'invalid_input' } } },
    ]);
  });

  it('that is cancelled cancels every call', async () => {
    const chest = await (
      await createCrib({ tools: [{ name: 'echo', description: '', run: () => new Promise(() => {}) }] })
    ).open();
    const asker = new AbortController();
    const answers = chest.callAll([good('1'), good('2')], { signal: asker.signal });
    asker.abort();
    expect(await answers).toMatchObject([
      { result: { error: { code: 'cancelled' } } },
      { result: { error: { code: 'cancelled' } } },
    ]);
  });
});
