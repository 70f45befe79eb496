import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCrib, type ToolCall } from '../../src/index.ts';
import { unhandledDuring } from './wrong.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function open(run: (input: unknown, call: ToolCall) => unknown) {
  return (await createCrib({ tools: [{ name: 'tool', description: '', policy: { timeoutMs: 100 }, run }] })).open();
}

const turn = () => new Promise(setImmediate);

describe('a tool that never settles', () => {
  it('is ended by its timeout', async () => {
    const result = (await open(() => new Promise(() => {}))).call('tool');
    await vi.advanceTimersByTimeAsync(100);
    expect(await result).toMatchObject({ error: { code: 'timeout' } });
  });

  it('is ended after one minute if no timeout is set', async () => {
    const crib = await createCrib({ tools: [{ name: 'tool', description: '', run: () => new Promise(() => {}) }] });
    const result = (await crib.open()).call('tool');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await result).toMatchObject({ error: { code: 'timeout' } });
  });
});

describe('a tool that fails late causes no unhandled rejection', () => {
  it('by throwing after the abort', async () => {
    const chest = await open(
      (_, call) =>
        new Promise((_resolve, reject) => call.signal.addEventListener('abort', () => reject(call.signal.reason))),
    );
    const unhandled = await unhandledDuring(async () => {
      const result = chest.call('tool');
      await vi.advanceTimersByTimeAsync(100);
      expect(await result).toMatchObject({ error: { code: 'timeout' } });
    });
    expect(unhandled).toEqual([]);
  });

  it('by rejecting after the call has ended', async () => {
    const late = Promise.withResolvers<never>();
    const chest = await open(() => late.promise);
    const unhandled = await unhandledDuring(async () => {
      const result = chest.call('tool');
      await vi.advanceTimersByTimeAsync(100);
      await result;
      late.reject(new Error('too late'));
    });
    expect(unhandled).toEqual([]);
  });

  it('by rejecting after the caller has disconnected', async () => {
    const late = Promise.withResolvers<never>();
    const chest = await open(() => late.promise);
    const asker = new AbortController();
    const unhandled = await unhandledDuring(async () => {
      const result = chest.call('tool', {}, { signal: asker.signal });
      asker.abort();
      expect(await result).toMatchObject({ error: { code: 'cancelled' } });
      late.reject(new Error('too late'));
    });
    expect(unhandled).toEqual([]);
  });
});

describe('an async generator', () => {
  it('that yields without end is ended by the timeout, and its finally runs', async () => {
    const closed = Promise.withResolvers<string>();
    const chest = await open(async function* () {
      try {
        for (;;) yield 'more';
      } finally {
        closed.resolve('closed');
      }
    });
    const result = chest.call('tool');
    await vi.advanceTimersByTimeAsync(100);
    expect(await result).toMatchObject({ error: { code: 'timeout' } });
    expect(await closed.promise).toBe('closed');
  });

  it('that yields without end is ended when the caller has disconnected, and its finally runs', async () => {
    const closed = Promise.withResolvers<string>();
    const chest = await open(async function* () {
      try {
        for (;;) yield 'more';
      } finally {
        closed.resolve('closed');
      }
    });
    const asker = new AbortController();
    const result = chest.call('tool', {}, { signal: asker.signal });
    await turn();
    asker.abort();
    expect(await result).toMatchObject({ error: { code: 'cancelled' } });
    expect(await closed.promise).toBe('closed');
  });

  it('that waits without end is ended by the timeout', async () => {
    const chest = await open(async function* () {
      yield 'one';
      await new Promise(() => {});
    });
    const result = chest.call('tool');
    await vi.advanceTimersByTimeAsync(100);
    expect(await result).toMatchObject({ error: { code: 'timeout' } });
  });

  it('reports no progress once the call has ended', async () => {
    const onProgress = vi.fn();
    const next = Promise.withResolvers<void>();
    const chest = await open(async function* () {
      yield 'in time';
      await next.promise;
      yield 'too late';
    });
    const result = chest.call('tool', {}, { onProgress });
    await vi.advanceTimersByTimeAsync(100);
    await result;
    next.resolve();
    await turn();
    expect(onProgress.mock.calls).toEqual([['in time']]);
  });

  it('that throws in the middle is a failure of the tool', async () => {
    const chest = await open(async function* () {
      yield 'one';
      throw new Error('lost the thread');
    });
    expect(await chest.call('tool')).toMatchObject({ error: { code: 'tool_error', message: 'lost the thread' } });
  });

  it('whose finally throws after the abort has no further effect', async () => {
    const chest = await open(async function* () {
      try {
        for (;;) yield 'more';
      } finally {
        // biome-ignore lint/correctness/noUnsafeFinally: a tool that cleans up badly
        throw new Error('bad cleaner');
      }
    });
    const unhandled = await unhandledDuring(async () => {
      const result = chest.call('tool');
      await vi.advanceTimersByTimeAsync(100);
      expect(await result).toMatchObject({ error: { code: 'timeout' } });
      await turn();
    });
    expect(unhandled).toEqual([]);
  });

  it('that yields a value that JSON cannot carry fails with that reason', async () => {
    const chest = await open(async function* () {
      yield 5n;
    });
    expect(await chest.call('tool')).toMatchObject({ error: { code: 'invalid_output' } });
  });

  it.each<[string, unknown]>([
    ['no iterator', { [Symbol.asyncIterator]: () => undefined }],
    ['an iterator without next', { [Symbol.asyncIterator]: () => ({}) }],
    ['an iterator that answers nothing', { [Symbol.asyncIterator]: () => ({ next: async () => undefined }) }],
  ])('that is %s is a failure of the tool', async (_, iterable) => {
    expect(await (await open(() => iterable)).call('tool')).toMatchObject({ ok: false, error: { code: 'tool_error' } });
  });
});
