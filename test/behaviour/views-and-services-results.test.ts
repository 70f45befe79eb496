import { describe, expect, it, vi } from 'vitest';
import { createCrib, done, failed, type ToolCall, toolError } from '../../src/index.ts';

async function resultOf(run: (input: unknown, call: ToolCall) => unknown) {
  const crib = await createCrib({ tools: [{ name: 'tool', description: 'answers', run }] });
  return (await crib.open()).call('tool');
}

const text = (words: string) => [{ type: 'text', text: words }];

describe('return values of a tool', () => {
  it('string: as text', async () => {
    expect(await resultOf(() => 'hello')).toEqual({ ok: true, status: 'done', content: text('hello') });
  });

  it.each([
    [0, '0'],
    [-1.5, '-1.5'],
    [true, 'true'],
    [false, 'false'],
  ])('number, boolean: %s as text and data', async (value, words) => {
    expect(await resultOf(() => value)).toEqual({ ok: true, status: 'done', content: text(words), data: value });
  });

  it.each([[{ a: [1, { b: null }] }], [[1, 'two', false]], [{}], [[]]])(
    'object or array: %j as JSON text and data',
    async (value) => {
      const result = await resultOf(() => value);
      expect(result).toEqual({ ok: true, status: 'done', content: text(JSON.stringify(value)), data: value });
    },
  );

  it.each([[undefined], [null]])('%s: a success sentence', async (value) => {
    expect(await resultOf(() => value)).toEqual({
      ok: true,
      status: 'done',
      content: [{ type: 'text', text: expect.stringMatching(/\w/) }],
    });
  });

  it('null, where the output schema allows it: a success sentence, and null as data', async () => {
    const output = { anyOf: [{ type: 'object' }, { type: 'null' }] } as const;
    const tools = [
      { name: 'find', description: 'answers', output, run: () => null },
      {
        name: 'stream',
        description: 'answers',
        output,
        run: async function* () {
          yield 1;
          return null;
        },
      },
      { name: 'script', description: 'answers', output, run: { kind: 'script', code: 'return tools.find()' } },
    ];
    const crib = await createCrib({ tools });
    const chest = await crib.open();
    for (const { name } of tools)
      expect(await chest.call(name)).toMatchObject({ ok: true, content: text('Done.'), data: null });
    await crib.close();
  });

  it.each([
    ['done', done([{ type: 'image', data: 'AAAA', mimeType: 'image/png' }], { width: 1 })],
    ['failed', failed(toolError('conflict', 'somebody else was first', { retryable: true, retryAfterMs: 9 }))],
    ['waiting', { ok: false, status: 'waiting', waiting: { for: 'input', id: 'w1', expiresAt: 5 } }],
  ])('a ready result (%s) passes through', async (_, ready) => {
    const result = await resultOf(() => ready);
    expect(result).toEqual(ready);
  });

  it('a value that only resembles a ready result is data', async () => {
    const value = { ok: false, reason: 'the door is shut' };
    expect(await resultOf(() => value)).toMatchObject({ ok: true, status: 'done', data: value });
  });

  it('a promise: its value', async () => {
    expect(await resultOf(async () => 5)).toMatchObject({ data: 5 });
  });

  it('a thrown error: tool_error with its message and without a stack', async () => {
    const result = await resultOf(() => {
      throw new Error('the disk is full');
    });
    expect(result).toEqual({
      ok: false,
      status: 'failed',
      error: expect.objectContaining({ code: 'tool_error', message: 'the disk is full', retryable: false }),
    });
    expect(JSON.stringify(result)).not.toContain('.ts');
  });
});

describe('an async iterator', () => {
  const counting = async function* () {
    yield 1;
    yield { step: 2 };
  };
  const openCounter = async (run: () => AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>) =>
    (await createCrib({ tools: [{ name: 'count', description: 'counts', run }] })).open();

  it('yields progress', async () => {
    const onProgress = vi.fn();
    await (await openCounter(counting)).call('count', {}, { onProgress });
    expect(onProgress.mock.calls).toEqual([[1], [{ step: 2 }]]);
  });

  it('is collected', async () => {
    expect(await (await openCounter(counting)).call('count')).toMatchObject({ ok: true, data: [1, { step: 2 }] });
  });

  it('that returns something answers with that', async () => {
    const run = async function* () {
      yield 'working';
      return { total: 3 };
    };
    expect(await (await openCounter(run)).call('count')).toMatchObject({ data: { total: 3 } });
  });

  it('may come as a promise', async () => {
    expect(await (await openCounter(async () => counting())).call('count')).toMatchObject({ data: [1, { step: 2 }] });
  });

  it('and a function that reports progress both reach the progress listener', async () => {
    const onProgress = vi.fn();
    const run = (_: unknown, call: ToolCall) => {
      call.report('half way');
      return 'there';
    };
    const crib = await createCrib({ tools: [{ name: 'walk', description: 'walks', run }] });
    await (await crib.open()).call('walk', {}, { onProgress });
    expect(onProgress.mock.calls).toEqual([['half way']]);
  });
});

describe('arguments', () => {
  it('are copied first', async () => {
    const mine = { list: [1] };
    const run = (input: { list: number[] }) => input.list === mine.list;
    const crib = await createCrib({ tools: [{ name: 'tool', description: '', run }] });
    const result = (await crib.open()).call('tool', mine);
    mine.list.push(2);
    expect(await result).toMatchObject({ data: false });
  });

  it('that the caller changes while the call waits keep their values', async () => {
    const asked = Promise.withResolvers<boolean>();
    const crib = await createCrib({
      tools: [{ name: 'pay', description: '', run: (input) => input, policy: { approval: 'always' } }],
    });
    const chest = await crib.open(undefined, { approve: () => asked.promise });
    const input = { amount: 1 };
    const result = chest.call('pay', input);
    input.amount = 1000;
    asked.resolve(true);
    expect(await result).toMatchObject({ data: { amount: 1 } });
  });
});
