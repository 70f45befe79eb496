import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Budget, type Chest, createCrib, type ToolInput } from '../../src/index.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'], now: 1_700_000_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const HOUR = 3_600_000;
const perHour = (scope: Budget['scope'], amount: number): Budget => ({ scope, amount, perMs: HOUR });

function priced(name: string, price: number, run: () => unknown = () => name): ToolInput {
  return { name, description: '', policy: { price }, run };
}

async function openWith(budgets: readonly Budget[], tools: readonly ToolInput[], id = 'ann'): Promise<Chest> {
  const crib = await createCrib({ tools, profiles: { only: { policy: { budgets } } } });
  return crib.open('only', { id });
}

/** For each call whether it ran. */
async function passes(chest: Chest, ...names: readonly string[]): Promise<readonly boolean[]> {
  const results = [];
  for (const name of names) results.push((await chest.call(name)).ok);
  return results;
}

describe('cost budgets: a tool may carry a price, a profile a budget per period', () => {
  it('calls run until the budget is smaller than the price', async () => {
    const chest = await openWith([perHour('profile', 1)], [priced('dear', 0.4), priced('cheap', 0.1)]);
    expect(await passes(chest, 'dear', 'dear', 'dear', 'cheap', 'cheap', 'cheap')).toEqual([
      true,
      true,
      false,
      true,
      true,
      false,
    ]);
  });

  it('a refusal names the time of renewal, and the call runs then', async () => {
    const chest = await openWith([perHour('profile', 1)], [priced('dear', 1)]);
    await chest.call('dear');
    const refused = await chest.call('dear');
    expect(refused).toMatchObject({ error: { code: 'rate_limited', retryable: true } });
    const waitMs = refused.status === 'failed' ? (refused.error.retryAfterMs ?? 0) : 0;
    expect(waitMs).toBeLessThanOrEqual(HOUR);
    await vi.advanceTimersByTimeAsync(waitMs);
    expect(await passes(chest, 'dear')).toEqual([true]);
  });

  it('ten times a tenth is one, whatever the rounding', async () => {
    const chest = await openWith([perHour('profile', 1)], [priced('cheap', 0.1)]);
    expect(await passes(chest, ...Array<string>(11).fill('cheap'))).toEqual([...Array(10).fill(true), false]);
  });

  it('all budgets apply together: a call that one refuses costs nothing in another', async () => {
    const budgets = [perHour('caller', 2), perHour('tool', 1)];
    const chest = await openWith(budgets, [priced('a', 1), priced('b', 1), priced('c', 1)]);
    expect(await passes(chest, 'a', 'a', 'a', 'b', 'c')).toEqual([true, false, false, true, false]);
  });

  it('callers have their own budgets if the scope says so', async () => {
    const crib = await createCrib({
      tools: [priced('a', 1)],
      profiles: { only: { policy: { budgets: [perHour('caller', 1)] } } },
    });
    const [ann, bob] = [await crib.open('only', { id: 'ann' }), await crib.open('only', { id: 'bob' })];
    expect([...(await passes(ann, 'a', 'a')), ...(await passes(bob, 'a'))]).toEqual([true, false, true]);
  });

  it('a tool without a price costs nothing', async () => {
    const chest = await openWith([perHour('profile', 0)], [{ name: 'free', description: '', run: () => 'x' }]);
    expect(await passes(chest, 'free', 'free')).toEqual([true, true]);
  });

  it('a call that is refused before it runs costs nothing', async () => {
    const strict: ToolInput = { ...priced('strict', 1), input: { type: 'object', required: ['x'] } };
    const chest = await openWith([perHour('profile', 1)], [strict, priced('a', 1)]);
    expect(await passes(chest, 'strict', 'strict', 'a')).toEqual([false, false, true]);
  });

  it('a call that never began costs nothing', async () => {
    const away: ToolInput = { ...priced('away', 1), needs: ['a service that is not there'] };
    const chest = await openWith([perHour('profile', 1)], [away, priced('a', 1)]);
    expect(await passes(chest, 'away', 'away', 'a')).toEqual([false, false, true]);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    [
      'answers unavailable',
      () => ({ ok: false, status: 'failed', error: { code: 'unavailable', message: 'not now', retryable: true } }),
    ],
  ])('a tool that %s has run, and costs its price', async (_, run) => {
    const chest = await openWith([perHour('profile', 1)], [priced('bad', 1, run as () => never), priced('a', 1)]);
    expect(await chest.call('bad')).toMatchObject({ ok: false });
    expect(await chest.call('a')).toMatchObject({ error: { code: 'rate_limited' } });
  });

  it('two calls at once cannot spend the same money', async () => {
    const chest = await openWith([perHour('profile', 1)], [priced('dear', 1)]);
    const results = await Promise.all([1, 2, 3].map(() => chest.call('dear')));
    expect(results.filter(({ ok }) => ok)).toHaveLength(1);
  });

  it('nested calls cost as well', async () => {
    const outer: ToolInput = {
      name: 'outer',
      description: '',
      run: async (_input, call) => (await call.tools.call('dear', {})).ok,
    };
    const chest = await openWith([perHour('profile', 1)], [priced('dear', 1), outer]);
    expect(await chest.call('outer')).toMatchObject({ data: true });
    expect(await chest.call('outer')).toMatchObject({ data: false });
  });
});
