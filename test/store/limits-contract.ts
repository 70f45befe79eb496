import { expect, it } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';

const HOUR = 3_600_000;
const cell = (name: string, amount: number, perMs = HOUR) => ({ name, amount, perMs });

/** What every store keeps to about budgets. */
export function budgetsContract(opened: (options?: Partial<StoreOptions>) => Promise<Store>): void {
  it('takes a price out of all budgets, or out of none and names the exhausted one', async () => {
    const { budgets } = await opened({ now: () => 10 * HOUR + 1000 });
    const [wide, narrow] = [cell('wide', 10), cell('narrow', 1)];
    expect(await budgets.charge([wide, narrow], 1)).toEqual({ ok: true });
    expect(await budgets.charge([wide, narrow], 1)).toEqual({ ok: false, spent: narrow, resetsInMs: HOUR - 1000 });
    expect(await budgets.spent([wide, narrow, cell('new', 1)])).toEqual([1, 1, 0]);
    expect(await budgets.charge([wide], 9)).toEqual({ ok: true });
    expect(await budgets.charge([wide], 0.1)).toMatchObject({ ok: false, spent: wide });
  });

  it('starts again with every period', async () => {
    let now = 10 * HOUR;
    const { budgets } = await opened({ now: () => now });
    await budgets.charge([cell('a', 1)], 1);
    now = 11 * HOUR - 1;
    expect(await budgets.charge([cell('a', 1)], 1)).toMatchObject({ ok: false, resetsInMs: 1 });
    now = 11 * HOUR;
    expect(await budgets.spent([cell('a', 1)])).toEqual([0]);
    expect(await budgets.charge([cell('a', 1)], 1)).toEqual({ ok: true });
  });

  it('a clock that goes backwards returns nothing', async () => {
    let now = 10 * HOUR;
    const { budgets } = await opened({ now: () => now });
    await budgets.charge([cell('a', 1)], 1);
    now = 9 * HOUR;
    expect(await budgets.charge([cell('a', 1)], 1)).toMatchObject({ ok: false });
  });

  it('returns an unused charge, and never more than that', async () => {
    const { budgets } = await opened({ now: () => HOUR });
    await budgets.charge([cell('a', 1)], 1);
    await budgets.refund([cell('a', 1)], 1);
    await budgets.refund([cell('a', 1)], 1);
    expect(await budgets.charge([cell('a', 1)], 1)).toEqual({ ok: true });
    expect(await budgets.charge([cell('a', 1)], 1)).toMatchObject({ ok: false });
  });

  it('adds fractions without rounding errors', async () => {
    const { budgets } = await opened({ now: () => HOUR });
    for (let time = 0; time < 10; time++) expect(await budgets.charge([cell('a', 1)], 0.1)).toEqual({ ok: true });
    expect(await budgets.charge([cell('a', 1)], 0.1)).toMatchObject({ ok: false });
  });

  it('many concurrent calls spend no more than the budget, in any order of budgets', async () => {
    const { budgets } = await opened({ now: () => HOUR });
    const [a, b] = [cell('a', 7), cell('b', 100)];
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => budgets.charge(index % 2 === 0 ? [a, b] : [b, a], 1)),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(7);
    expect(await budgets.charge([b], 93)).toEqual({ ok: true });
  });

  it('treats hostile names as plain names', async () => {
    const { budgets } = await opened({ now: () => HOUR });
    const name = `x'); DROP TABLE toolcrib_budgets; --? ${'\u{1F600}'.repeat(100)}`;
    expect(await budgets.charge([cell(name, 1)], 1)).toEqual({ ok: true });
    expect(await budgets.charge([cell(name, 1)], 1)).toMatchObject({ ok: false });
  });
}

/** What a store that several processes share keeps to about rates. */
export function ratesContract(opened: (options?: Partial<StoreOptions>) => Promise<Store>): void {
  it('accepts N calls in the window, and tells the next one how long to wait', async () => {
    const { rates } = await opened();
    for (let time = 0; time < 3; time++) expect(await rates.charge([cell('a', 3)])).toBe(0);
    const waitMs = await rates.charge([cell('a', 3)]);
    const shownMs = await rates.waitMs([cell('b', 1), cell('a', 3)]);
    expect([shownMs > 0 && shownMs <= waitMs, await rates.waitMs([cell('b', 1)])]).toEqual([true, 0]);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(HOUR / 3);
  });

  it('checks all rates together and charges them together', async () => {
    const { rates } = await opened();
    await rates.charge([cell('narrow', 1)]);
    for (let time = 0; time < 5; time++)
      expect(await rates.charge([cell('wide', 2), cell('narrow', 1)])).toBeGreaterThan(0);
    expect(await rates.charge([cell('wide', 2)])).toBe(0);
    expect(await rates.charge([cell('wide', 2)])).toBe(0);
    expect(await rates.charge([cell('wide', 2)])).toBeGreaterThan(0);
  });

  it('returns the charge of a call, without slots that are already free', async () => {
    const { rates } = await opened();
    const [a, b] = [cell('a', 1), cell('b', 1)];
    await rates.charge([a, b]);
    await rates.refund([b, a], 0);
    expect(await rates.charge([a, b])).toBe(0);
    await rates.refund([a, b], HOUR);
    expect(await rates.charge([a])).toBeGreaterThan(0);
    expect(await rates.charge([b])).toBeGreaterThan(0);
  });

  it('freed slots can be used again', async () => {
    const { rates } = await opened();
    const short = cell('a', 1, 1);
    await rates.charge([short]);
    await expect.poll(() => rates.charge([short]), { interval: 2 }).toBe(0);
  });

  it('many concurrent calls get no more than N, in any order of rates', async () => {
    const { rates } = await opened();
    const [a, b] = [cell('a', 5), cell('b', 100)];
    const waits = await Promise.all(
      Array.from({ length: 40 }, (_, index) => rates.charge(index % 2 === 0 ? [a, b] : [b, a])),
    );
    expect(waits.filter((wait) => wait === 0)).toHaveLength(5);
  });

  it('treats hostile names as plain names', async () => {
    const { rates } = await opened();
    const name = `x'); DROP TABLE toolcrib_rates; --? " \\ ${'\u{1F600}'.repeat(100)}`;
    expect(await rates.charge([cell(name, 1)])).toBe(0);
    expect(await rates.charge([cell(name, 1)])).toBeGreaterThan(0);
  });
}
