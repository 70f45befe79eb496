import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCrib, defineBundle, defineExtension, type ToolCall, type ToolInput } from '../../src/index.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => {});

/** Never answers; its signal can be looked at. */
const noting = (signals: AbortSignal[]) => (_: unknown, call: ToolCall) => {
  signals.push(call.signal);
  return never();
};

function tool(run: (input: unknown, call: ToolCall) => unknown, more: Partial<ToolInput> = {}): ToolInput {
  return { name: 'tool', description: '', policy: { timeoutMs: 100, retries: 0 }, run, ...more } as ToolInput; // a plain tool with some fields replaced
}

async function open(...tools: readonly ToolInput[]) {
  return (await createCrib({ tools })).open(undefined, { approve: () => true });
}

/** What a promise came to so far. */
function peek<T>(promise: Promise<T>): { readonly values: readonly T[] } {
  const values: T[] = [];
  promise.then((value) => values.push(value));
  return { values };
}

describe('the timeout', () => {
  it('ends the call when its time is up, and not before', async () => {
    const result = peek((await open(tool(never))).call('tool'));
    await vi.advanceTimersByTimeAsync(99);
    expect(result.values).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(result.values).toMatchObject([
      { ok: false, error: { code: 'timeout', retryable: true, message: '"tool" did not finish within 100 ms.' } },
    ]);
  });

  it('really aborts the work', async () => {
    const signals: AbortSignal[] = [];
    const chest = await open(tool(noting(signals)));
    const result = chest.call('tool');
    await vi.advanceTimersByTimeAsync(99);
    expect(signals[0]?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(signals[0]?.aborted).toBe(true);
    expect(signals[0]?.reason).toMatchObject({ name: 'TimeoutError' });
    expect(await result).toMatchObject({ ok: false });
  });

  it('aborts the calls made inside, too', async () => {
    const signals: AbortSignal[] = [];
    const inner = {
      ...tool(noting(signals)),
      name: 'inner',
      policy: {},
    } as ToolInput; // another name, no time of its own
    const chest = await open(
      tool((_, call) => call.tools.call('inner', {})),
      inner,
    );
    const result = chest.call('tool');
    await vi.advanceTimersByTimeAsync(100);
    expect(await result).toMatchObject({ error: { code: 'timeout' } });
    expect(signals[0]?.aborted).toBe(true);
  });

  it('differs from a timeout error of the tool itself', async () => {
    const chest = await open(
      tool(async () => {
        throw new DOMException('The database did not answer.', 'TimeoutError');
      }),
    );
    expect(await chest.call('tool')).toMatchObject({
      error: { code: 'tool_error', message: 'The database did not answer.' },
    });
  });

  it('does not count waiting for approval', async () => {
    const crib = await createCrib({
      tools: [tool(async () => 'ran', { policy: { timeoutMs: 100, approval: 'always' } })],
    });
    const answer = Promise.withResolvers<boolean>();
    const result = (await crib.open(undefined, { approve: () => answer.promise })).call('tool');
    await vi.advanceTimersByTimeAsync(200_000);
    answer.resolve(true);
    expect(await result).toMatchObject({ ok: true });
  });

  it('does not count waiting for a slot', async () => {
    const first = Promise.withResolvers<string>();
    const answers = [first.promise, Promise.resolve('second')];
    const chest = await open(
      tool(() => answers.shift(), { policy: { timeoutMs: 100, concurrency: [{ scope: 'tool', amount: 1 }] } }),
    );
    const running = chest.call('tool', {}, { timeoutMs: 100_000 });
    const waiting = chest.call('tool');
    await vi.advanceTimersByTimeAsync(50_000);
    first.resolve('first');
    expect(await Promise.all([running, waiting])).toMatchObject([{ ok: true }, { ok: true }]);
  });

  it('does not count the setup of a bundle', async () => {
    const ready = Promise.withResolvers<void>();
    const bundle = defineBundle({
      name: 'home',
      tools: [tool(async () => 'ran')],
      setup: async () => void (await ready.promise),
    });
    const result = (await (await createCrib({ bundles: [bundle] })).open()).call('tool');
    await vi.advanceTimersByTimeAsync(5000);
    ready.resolve();
    expect(await result).toMatchObject({ ok: true });
  });

  it('drops a late result', async () => {
    const late = Promise.withResolvers<string>();
    const onEnd = vi.fn();
    const crib = await createCrib({
      tools: [tool(() => late.promise)],
      extensions: [defineExtension({ name: 'watch', onEnd })],
    });
    const result = (await crib.open()).call('tool');
    await vi.advanceTimersByTimeAsync(100);
    late.resolve('too late');
    await vi.advanceTimersByTimeAsync(100);
    expect(await result).toMatchObject({ error: { code: 'timeout' } });
    expect(onEnd).toHaveBeenCalledOnce();
  });

  it('keeps the reason that ended the call if the tool throws another error after the abort', async () => {
    const run = (_: unknown, call: ToolCall) =>
      new Promise((_resolve, reject) =>
        call.signal.addEventListener('abort', () => reject(new Error('socket hang up'))),
      );
    const result = (await open(tool(run))).call('tool');
    await vi.advanceTimersByTimeAsync(100);
    expect(await result).toMatchObject({ error: { code: 'timeout' } });
  });

  it('is the result that inner extensions see, whatever the tool throws after the abort', async () => {
    const seen: string[] = [];
    const inside = defineExtension({
      name: 'inside',
      priority: 190,
      unsafeOrder: true,
      onError: (_, error) => void seen.push(error.code),
    });
    const run = (_: unknown, call: ToolCall) =>
      new Promise((_resolve, reject) => call.signal.addEventListener('abort', () => reject(new Error('hang up'))));
    const result = (await (await createCrib({ tools: [tool(run)], extensions: [inside] })).open()).call('tool');
    await vi.advanceTimersByTimeAsync(100);
    await result;
    expect(seen).toEqual(['timeout']);
  });

  it('leaves no timer behind calls that have ended, but the one that they share (test/system/deadlines.test.ts)', async () => {
    const chest = await open(tool(async () => 'quick'));
    for (let count = 0; count < 10; count++) await chest.call('tool');
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('longer than the maximum of a timer does not fire at once', async () => {
    const result = peek((await open(tool(never))).call('tool', {}, { timeoutMs: 2 ** 31 }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(result.values).toEqual([]);
  });
});

describe('cancellation', () => {
  it('aborts the work and ends the call at once, whatever the tool does then', async () => {
    const signals: AbortSignal[] = [];
    const chest = await open(tool(noting(signals)));
    const asker = new AbortController();
    const result = chest.call('tool', {}, { signal: asker.signal });
    await vi.advanceTimersByTimeAsync(10);
    asker.abort();
    expect(await result).toMatchObject({ ok: false, error: { code: 'cancelled', retryable: false } });
    expect(signals[0]?.reason).toMatchObject({ name: 'AbortError' });
  });

  it('before the tool has begun means that it never runs', async () => {
    const run = vi.fn();
    const opened = Promise.withResolvers<void>();
    const slow = defineExtension({ name: 'slow', before: async () => void (await opened.promise) });
    const crib = await createCrib({ tools: [tool(run)], extensions: [slow] });
    const asker = new AbortController();
    const result = (await crib.open()).call('tool', {}, { signal: asker.signal });
    asker.abort();
    expect(await result).toMatchObject({ error: { code: 'cancelled' } });
    opened.resolve();
    await vi.advanceTimersByTimeAsync(10);
    expect(run).not.toHaveBeenCalled();
  });

  it('of the outer call ends the calls inside it', async () => {
    const inner = { ...tool(never), name: 'inner' } as ToolInput; // the same under another name
    const outcome: unknown[] = [];
    const outer = tool(async (_, call) => void outcome.push(await call.tools.call('inner', {})));
    const asker = new AbortController();
    const result = (await open(outer, inner)).call('tool', {}, { signal: asker.signal });
    await vi.advanceTimersByTimeAsync(10);
    asker.abort();
    await result;
    await vi.advanceTimersByTimeAsync(0);
    expect(outcome).toMatchObject([{ error: { code: 'cancelled' } }]);
  });
});
