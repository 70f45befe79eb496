import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createCrib,
  defineBundle,
  defineExtension,
  type ToolCall,
  type ToolInput,
  type ToolResult,
} from '../../src/index.ts';

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

  it('is told apart from a timeout error of the tool itself', async () => {
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

  it('keeps what ended the call when the tool throws something else after the abort', async () => {
    const run = (_: unknown, call: ToolCall) =>
      new Promise((_resolve, reject) =>
        call.signal.addEventListener('abort', () => reject(new Error('socket hang up'))),
      );
    const result = (await open(tool(run))).call('tool');
    await vi.advanceTimersByTimeAsync(100);
    expect(await result).toMatchObject({ error: { code: 'timeout' } });
  });

  it('leaves no timer behind a call that has ended', async () => {
    const chest = await open(tool(async () => 'quick'));
    await chest.call('tool');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('longer than any timer of the machine is not a timeout at once', async () => {
    const result = peek((await open(tool(never))).call('tool', {}, { timeoutMs: 2 ** 31 }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(result.values).toEqual([]);
  });
});

describe('times: the nearest word wins, then it is clamped', () => {
  interface Words {
    readonly call?: number;
    readonly tool?: number;
    readonly profile?: number;
    readonly toolMax?: number;
    readonly profileMax?: number;
  }
  const policy = (timeoutMs?: number, maxTimeoutMs?: number) => ({
    ...(timeoutMs && { timeoutMs }),
    ...(maxTimeoutMs && { maxTimeoutMs }),
  });

  async function endsAfter(words: Words): Promise<number> {
    const crib = await createCrib({
      tools: [tool(never, { policy: policy(words.tool, words.toolMax) })],
      profiles: { only: { policy: policy(words.profile, words.profileMax) } },
    });
    let endedAt = Number.NaN;
    const begun = performance.now();
    const settle = (_: ToolResult) => {
      endedAt = performance.now() - begun;
    };
    (await crib.open()).call('tool', {}, words.call === undefined ? {} : { timeoutMs: words.call }).then(settle);
    await vi.advanceTimersByTimeAsync(100_000);
    return endedAt;
  }

  it.each<[string, Words, number]>([
    ['call before tool', { call: 10, tool: 20, profile: 30 }, 10],
    ['tool before profile', { tool: 20, profile: 30 }, 20],
    ['profile before default', { profile: 30 }, 30],
    ['default: one minute', {}, 60_000],
    ['a call may ask for more than its tool', { call: 50, tool: 20 }, 50],
    ['a call may not ask for more than the limit of the profile', { call: 50, profileMax: 40 }, 40],
    ['a call may not ask for more than the limit of the tool', { call: 50, toolMax: 40 }, 40],
    ['a tool may not ask for more than the limit of the profile', { tool: 50, profileMax: 40 }, 40],
    ['the default is clamped, too', { profileMax: 40 }, 40],
    ['the stricter limit holds', { call: 90, toolMax: 70, profileMax: 60 }, 60],
    ['a limit does not lengthen', { tool: 20, profileMax: 40 }, 20],
  ])('%s', async (_, words, expected) => {
    expect(await endsAfter(words)).toBe(expected);
  });

  it.each([[0], [-1], [Number.NaN]])('%s is rejected in a call', async (timeoutMs) => {
    const run = vi.fn();
    expect(await (await open(tool(run))).call('tool', {}, { timeoutMs })).toMatchObject({
      error: { code: 'invalid_input', message: expect.stringContaining('timeoutMs') },
    });
    expect(run).not.toHaveBeenCalled();
  });

  it.each(['timeoutMs', 'maxTimeoutMs'])('0 is rejected as %s of a tool and of a profile', async (key) => {
    await expect(createCrib({ tools: [tool(never, { policy: { [key]: 0 } })] })).rejects.toThrow(key);
    await expect(createCrib({ profiles: { only: { policy: { [key]: 0 } } } })).rejects.toThrow(key);
  });
});

describe('cancellation', () => {
  it('aborts the work and ends the call at once, whatever the tool makes of it', async () => {
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
