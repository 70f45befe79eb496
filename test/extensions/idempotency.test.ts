import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCrib, failed, idempotency, type ToolInput, toolError } from '../../src/index.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A tool that pays and counts how often it did. */
function paying(run: (count: number) => unknown = (count) => ({ receipt: count }), more: Partial<ToolInput> = {}) {
  const state = { runs: 0 };
  const tool = {
    name: 'pay',
    description: '',
    input: { type: 'object', properties: { amount: { type: 'number', default: 1 } } },
    run: () => run(++state.runs),
    ...more,
  } as ToolInput;
  return { state, tool };
}

const KEY = { idempotencyKey: 'order-7' };

describe('idempotency keys: two calls with one key are one', () => {
  it('the second gets the result of the first', async () => {
    const { state, tool } = paying();
    const chest = await (await createCrib({ tools: [tool] })).open();
    const first = await chest.call('pay', { amount: 5 }, KEY);
    expect(await chest.call('pay', { amount: 5 }, KEY)).toEqual(first);
    expect(state.runs).toBe(1);
  });

  it('without a key every call is made', async () => {
    const { state, tool } = paying();
    const chest = await (await createCrib({ tools: [tool] })).open();
    await chest.call('pay');
    await chest.call('pay');
    expect(state.runs).toBe(2);
  });

  it('arguments are compared as they are after validation', async () => {
    const { state, tool } = paying();
    const chest = await (await createCrib({ tools: [tool] })).open();
    await chest.call('pay', {}, KEY);
    expect(await chest.call('pay', { amount: 1 }, KEY)).toMatchObject({ ok: true });
    expect(state.runs).toBe(1);
  });

  it('the same key for other arguments is a conflict', async () => {
    const { state, tool } = paying();
    const chest = await (await createCrib({ tools: [tool] })).open();
    await chest.call('pay', { amount: 5 }, KEY);
    expect(await chest.call('pay', { amount: 6 }, KEY)).toMatchObject({
      error: { code: 'conflict', retryable: false },
    });
    expect(state.runs).toBe(1);
  });

  it('a key belongs to its caller, profile and tool', async () => {
    const { state, tool } = paying();
    const other = { ...tool, name: 'pay_other' } as ToolInput;
    const crib = await createCrib({ tools: [tool, other], profiles: { only: {}, second: {} } });
    const [ann, bob] = [await crib.open('only', { id: 'ann' }), await crib.open('only', { id: 'bob' })];
    await ann.call('pay', {}, KEY);
    await bob.call('pay', {}, KEY);
    await ann.call('pay_other', {}, KEY);
    await (await crib.open('second', { id: 'ann' })).call('pay', {}, KEY);
    expect(state.runs).toBe(4);
  });

  it('of two at once one runs, and the other is told to retry', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { state, tool } = paying(() => promise);
    const chest = await (await createCrib({ tools: [tool] })).open();
    const first = chest.call('pay', {}, KEY);
    expect(await chest.call('pay', {}, KEY)).toMatchObject({ error: { code: 'conflict', retryable: true } });
    resolve('paid');
    await first;
    expect(await chest.call('pay', {}, KEY)).toMatchObject({ ok: true, content: [{ text: 'paid' }] });
    expect(state.runs).toBe(1);
  });

  it('a failure of the tool is its result', async () => {
    const { state, tool } = paying(() => {
      throw new Error('card declined');
    });
    const chest = await (await createCrib({ tools: [tool] })).open();
    await chest.call('pay', {}, KEY);
    expect(await chest.call('pay', {}, KEY)).toMatchObject({ error: { code: 'tool_error', message: 'card declined' } });
    expect(state.runs).toBe(1);
  });

  it('a call that was refused may be made again with its key', async () => {
    const { state, tool } = paying(undefined, { policy: { approval: 'always' } });
    const crib = await createCrib({ tools: [tool] });
    expect(await (await crib.open(undefined, { id: 'ann' })).call('pay', {}, KEY)).toMatchObject({
      error: { code: 'denied' },
    });
    const asked = await crib.open(undefined, { id: 'ann', approve: async () => true });
    expect(await asked.call('pay', {}, KEY)).toMatchObject({ ok: true });
    expect(state.runs).toBe(1);
  });

  it('no approver is asked again about a call that ran', async () => {
    const { tool } = paying(undefined, { policy: { approval: 'always' } });
    const approve = vi.fn(async () => true);
    const chest = await (await createCrib({ tools: [tool] })).open(undefined, { id: 'ann', approve });
    await chest.call('pay', {}, KEY);
    await chest.call('pay', {}, KEY);
    expect(approve).toHaveBeenCalledTimes(1);
  });

  it('while it runs here, however long it takes, the other is told to retry', async () => {
    const { state, tool } = paying(() => new Promise(() => {}), { policy: { timeoutMs: 100_000_000 } });
    const chest = await (await createCrib({ tools: [tool] })).open();
    void chest.call('pay', {}, KEY);
    await vi.advanceTimersByTimeAsync(10_000_000);
    expect(await chest.call('pay', {}, { ...KEY, timeoutMs: 10 })).toMatchObject({ error: { code: 'conflict' } });
    expect(state.runs).toBe(1);
  });

  it('a caller cannot change the stored answer for the next one', async () => {
    const { tool } = paying();
    const chest = await (await createCrib({ tools: [tool] })).open();
    await chest.call('pay', {}, KEY);
    const second = await chest.call('pay', {}, KEY);
    if (second.ok) Object.assign(second.data as object, { receipt: 'forged' });
    expect(await chest.call('pay', {}, KEY)).toMatchObject({ data: { receipt: 1 } });
  });

  it.each([[''], [7], [{}], ['x'.repeat(201)], [null]])('%j is not a key', async (idempotencyKey) => {
    const { state, tool } = paying();
    const chest = await (await createCrib({ tools: [tool] })).open();
    const refused = await chest.call('pay', {}, { idempotencyKey: idempotencyKey as string }); // plain JavaScript sends anything
    expect(refused).toMatchObject({ error: { code: 'invalid_input' } });
    expect(state.runs).toBe(0);
  });
});

describe('keys in memory are limited', () => {
  const DAY = 86_400_000;
  const open = async (
    bounds: Parameters<typeof idempotency>[0],
    run?: () => unknown,
    more: Partial<ToolInput> = {},
  ) => {
    const { state, tool } = paying(run, more);
    const crib = await createCrib({ tools: [tool], extensions: [idempotency(bounds)] });
    const pay = async (idempotencyKey: string, id = 'ann') =>
      (await crib.open(undefined, { id })).call('pay', {}, { idempotencyKey });
    return { state, pay };
  };

  it.each([
    ['maxPerCaller', { maxPerCaller: 2 }],
    ['maxBytesPerCaller', { maxBytesPerCaller: 2500 }],
    ['maxTotal', { maxTotal: 2 }],
    ['maxTotalBytes', { maxTotalBytes: 2500 }],
  ] as const)('by %s, until they expire', async (key, bounds) => {
    const { state, pay } = await open(bounds);
    expect([await pay('one'), await pay('two')]).toMatchObject([{ ok: true }, { ok: true }]);
    expect(await pay('three')).toMatchObject({
      error: { code: 'rate_limited', retryable: true, message: expect.stringContaining(`idempotency.${key}`) },
    });
    expect(await pay('one')).toMatchObject({ ok: true, data: { receipt: 1 } });
    const others = await pay('one', 'bob');
    expect(others.ok).toBe(!key.startsWith('maxTotal'));
    vi.advanceTimersByTime(DAY);
    expect(await pay('three')).toMatchObject({ ok: true });
    expect(state.runs).toBe(others.ok ? 4 : 3);
  });

  it('a call that was refused before it ran takes no place', async () => {
    const { state, pay } = await open({ maxPerCaller: 1 }, undefined, { needs: ['a service that is not there'] });
    for (const key of ['one', 'two', 'three']) expect(await pay(key)).toMatchObject({ error: { code: 'unavailable' } });
    expect(state.runs).toBe(0);
  });

  it('a tool that answers unavailable has run: its key is taken', async () => {
    const { state, pay } = await open({ maxPerCaller: 1 }, () => failed(toolError('unavailable', 'later')));
    for (const _ of [1, 2])
      expect(await pay('one')).toMatchObject({ error: { code: 'unavailable', message: 'later' } });
    expect(await pay('two')).toMatchObject({ error: { code: 'rate_limited' } });
    expect(state.runs).toBe(1);
  });

  it.each([{ maxBytesPerCaller: 30_000 }, { maxTotalBytes: 30_000 }])(
    'a result that does not fit into %j is returned once, and its call does not run again',
    async (bounds) => {
      const { state, pay } = await open(bounds, () => 'x'.repeat(12_000));
      for (const key of ['one', 'two', 'three']) expect(await pay(key)).toMatchObject({ ok: true });
      expect([await pay('one'), await pay('two')]).toMatchObject([{ ok: true }, { ok: true }]);
      expect(await pay('three')).toMatchObject({ error: { code: 'too_large' } });
      expect(state.runs).toBe(3);
    },
  );
});
