import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Chest, type CribOptions, createCrib, type Rate, rateLimit, type ToolInput } from '../../src/index.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const SECOND = 1000;
const tool = (name: string, rates?: readonly Rate[]): ToolInput => ({
  name,
  description: '',
  ...(rates && { policy: { rates } }),
  run: () => name,
});
const per = (scope: Rate['scope'], amount: number): readonly Rate[] => [{ scope, amount, perMs: SECOND }];

async function open(options: CribOptions, id = 'ann', profile?: string): Promise<Chest> {
  return (await createCrib(options)).open(profile, { id });
}

/** For each call whether it was let through. */
async function passes(...calls: readonly (readonly [Chest, string])[]): Promise<readonly boolean[]> {
  const results = [];
  for (const [chest, name] of calls) results.push((await chest.call(name)).ok);
  return results;
}

describe('rate limit: N in the window', () => {
  it('N + 1 refused with a retry hint', async () => {
    const chest = await open({ tools: [tool('a', per('tool', 2))] });
    expect(await passes([chest, 'a'], [chest, 'a'])).toEqual([true, true]);
    const refused = await chest.call('a');
    expect(refused).toMatchObject({
      error: { code: 'rate_limited', retryable: true, message: expect.stringContaining('500 ms') },
    });
    expect(refused).toHaveProperty('error.retryAfterMs', 500);
  });

  it('a caller that waits as long as the hint says is accepted', async () => {
    const chest = await open({ tools: [tool('a', per('tool', 2))] });
    await passes([chest, 'a'], [chest, 'a']);
    await vi.advanceTimersByTimeAsync(499);
    expect(await passes([chest, 'a'])).toEqual([false]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await passes([chest, 'a'])).toEqual([true]);
  });

  it('after the window all N are there again', async () => {
    const chest = await open({ tools: [tool('a', per('tool', 3))] });
    await passes([chest, 'a'], [chest, 'a'], [chest, 'a']);
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(await passes([chest, 'a'], [chest, 'a'], [chest, 'a'], [chest, 'a'])).toEqual([true, true, true, false]);
  });

  it('a replayed call costs no slot, a cached one costs a slot', async () => {
    const read = { ...tool('r', per('tool', 2)), effects: { readOnly: true } } as ToolInput;
    const cached = { ...read, name: 'c', policy: { rates: per('tool', 2), cacheMs: 60_000 } } as ToolInput;
    const chest = await open({ tools: [read, cached] });
    for (let time = 0; time < 5; time++)
      expect(await chest.call('r', {}, { idempotencyKey: 'k' })).toMatchObject({ ok: true });
    expect(await passes([chest, 'r'], [chest, 'r'])).toEqual([true, false]);
    expect(await passes([chest, 'c'], [chest, 'c'], [chest, 'c'])).toEqual([true, true, false]);
  });

  it('a tool that was refused did not run', async () => {
    const run = vi.fn();
    const chest = await open({ tools: [{ name: 'a', description: '', policy: { rates: per('tool', 1) }, run }] });
    await passes([chest, 'a'], [chest, 'a']);
    expect(run).toHaveBeenCalledOnce();
  });

  it('a wall clock that is set back does not reset it', async () => {
    const chest = await open({ tools: [tool('a', per('tool', 1))] });
    await passes([chest, 'a']);
    vi.setSystemTime(0);
    expect(await passes([chest, 'a'])).toEqual([false]);
  });
});

describe('rate limit: which calls are counted together', () => {
  it('per caller', async () => {
    const crib = await createCrib({
      tools: [tool('a'), tool('b')],
      extensions: [rateLimit({ rates: per('caller', 1) })],
    });
    const [ann, bob] = [await crib.open(undefined, { id: 'ann' }), await crib.open(undefined, { id: 'bob' })];
    expect(await passes([ann, 'a'], [ann, 'b'], [bob, 'a'])).toEqual([true, false, true]);
  });

  it('per caller, whatever chest the caller has opened', async () => {
    const crib = await createCrib({ tools: [tool('a')], extensions: [rateLimit({ rates: per('caller', 1) })] });
    const open = () => crib.open(undefined, { id: 'ann' });
    expect(await passes([await open(), 'a'], [await open(), 'a'])).toEqual([true, false]);
  });

  it('per tool', async () => {
    const chest = await open({ tools: [tool('a'), tool('b')], extensions: [rateLimit({ rates: per('tool', 1) })] });
    expect(await passes([chest, 'a'], [chest, 'b'], [chest, 'a'])).toEqual([true, true, false]);
  });

  it('per profile', async () => {
    const crib = await createCrib({
      tools: [tool('a')],
      profiles: { x: {}, y: {} },
      extensions: [rateLimit({ rates: per('profile', 1) })],
    });
    const [x, y] = [await crib.open('x'), await crib.open('y')];
    expect(await passes([x, 'a'], [y, 'a'], [x, 'a'])).toEqual([true, true, false]);
  });

  it('per source', async () => {
    const remote = {
      name: 'remote',
      start: async () => ({
        specs: () => [tool('far')] as never, // a plain tool, which the crib turns into a spec
        onChange: () => () => {},
        status: () => ({ state: 'ready' }) as const,
        close: async () => {},
      }),
    };
    const chest = await open({
      tools: [tool('a'), tool('b')],
      sources: [remote],
      extensions: [rateLimit({ rates: per('source', 1) })],
    });
    expect(await passes([chest, 'a'], [chest, 'b'], [chest, 'far'])).toEqual([true, false, true]);
  });

  it('all', async () => {
    const crib = await createCrib({ tools: [tool('a'), tool('b')], extensions: [rateLimit({ rates: per('all', 1) })] });
    expect(await passes([await crib.open(undefined, { id: 'ann' }), 'a'], [await crib.open(), 'b'])).toEqual([
      true,
      false,
    ]);
  });

  it('equal rates of two tools are counted separately', async () => {
    const chest = await open({ tools: [tool('a', per('caller', 1)), tool('b', per('caller', 1))] });
    expect(await passes([chest, 'a'], [chest, 'b'])).toEqual([true, true]);
  });

  it('equal rates of two profiles are counted separately', async () => {
    const policy = { rates: per('caller', 1) };
    const crib = await createCrib({ tools: [tool('a')], profiles: { x: { policy }, y: { policy } } });
    const [x, y] = [await crib.open('x', { id: 'ann' }), await crib.open('y', { id: 'ann' })];
    expect(await passes([x, 'a'], [y, 'a'], [x, 'a'])).toEqual([true, true, false]);
  });
});

describe('rate limit: several limits', () => {
  it('all are checked together: the strictest refuses', async () => {
    const chest = await open({
      tools: [tool('a', per('tool', 1))],
      profiles: { x: { policy: { rates: per('caller', 5) } } },
    });
    expect(await passes([chest, 'a'], [chest, 'a'])).toEqual([true, false]);
  });

  it('all are charged together: a call that one refuses costs nothing with the others', async () => {
    const chest = await open({
      tools: [tool('a', per('tool', 1)), tool('b')],
      profiles: { x: { policy: { rates: per('caller', 2) } } },
    });
    expect(await passes([chest, 'a'], [chest, 'a'], [chest, 'a'], [chest, 'b'])).toEqual([true, false, false, true]);
  });

  it('the hint is that of the limit which takes longest', async () => {
    const rates: readonly Rate[] = [
      { scope: 'tool', amount: 1, perMs: 100 },
      { scope: 'caller', amount: 1, perMs: 5000 },
    ];
    const chest = await open({ tools: [tool('a', rates)] });
    await chest.call('a');
    expect(await chest.call('a')).toHaveProperty('error.retryAfterMs', 5000);
  });

  it('a refused call costs no slot', async () => {
    const answer = Promise.withResolvers<string>();
    const policy = { rates: per('tool', 2), concurrency: [{ scope: 'tool', amount: 2 }] } as const;
    const chest = await open({ tools: [{ name: 'a', description: '', policy, run: () => answer.promise }] });
    const running = chest.call('a');
    const second = chest.call('a');
    expect(await passes([chest, 'a'])).toEqual([false]);
    answer.resolve('done');
    expect(await Promise.all([running, second])).toMatchObject([{ ok: true }, { ok: true }]);
  });

  it('a call that waits for approval has been counted once', async () => {
    const crib = await createCrib({
      tools: [{ name: 'a', description: '', policy: { rates: per('tool', 1), approval: 'always' }, run: () => 1 }],
    });
    const chest = await crib.open(undefined, { approve: () => true });
    expect(await passes([chest, 'a'], [chest, 'a'])).toEqual([true, false]);
  });
});
