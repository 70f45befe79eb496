import { expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { openStore, type StoreOptions } from '../../src/store/open-store.ts';

/** What every store keeps to about emergency stops. */
export function stopsContract(
  opened: (options?: Partial<StoreOptions>) => Promise<Store>,
  place: () => Promise<string>,
): void {
  it('keeps a stop with its note, its operator and its time, oldest first', async () => {
    let now = 5;
    const { stops } = await opened({ now: () => now++ });
    const all = { target: 'all', by: 'cli:ann', at: 5 };
    expect(await stops.add({ target: 'all', by: 'cli:ann' })).toEqual({ isNew: true, stop: all });
    await stops.add({ target: 'tool:add', by: 'cli:bob', note: 'it pays twice', cancelId: 'c1' });
    expect(await stops.list()).toEqual([
      all,
      { target: 'tool:add', by: 'cli:bob', note: 'it pays twice', cancelId: 'c1', at: 6 },
    ]);
  });

  it('keeps the first of two stops of one target; a request to cancel replaces the former', async () => {
    const { stops } = await opened({ now: () => 9 });
    await stops.add({ target: 'all', by: 'ann', note: 'first' });
    const first = { target: 'all', by: 'ann', note: 'first', at: 9 };
    expect(await stops.add({ target: 'all', by: 'bob', note: 'second' })).toEqual({ isNew: false, stop: first });
    const cancelling = { ...first, cancelId: 'c1' };
    expect(await stops.add({ target: 'all', by: 'bob', cancelId: 'c1' })).toEqual({ isNew: false, stop: cancelling });
    expect(await stops.add({ target: 'all', by: 'cid' })).toEqual({ isNew: false, stop: cancelling });
    expect(await stops.list()).toEqual([cancelling]);
  });

  it('is stopped by one of several at once, and resumed by one', async () => {
    const { stops } = await opened();
    const added = await Promise.all(['ann', 'bob', 'cid'].map((by) => stops.add({ target: 'source:gh', by })));
    expect(added.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(added.map(({ stop }) => stop.by)).size).toBe(1);
    const removed = await Promise.all([1, 2, 3].map(() => stops.remove('source:gh')));
    expect(removed.filter((stop) => stop !== undefined)).toMatchObject([{ target: 'source:gh' }]);
    expect(await stops.list()).toEqual([]);
  });

  it('has no stop to remove where there is none', async () => {
    const { stops } = await opened();
    await stops.add({ target: 'tool:add', by: 'ann' });
    expect(await stops.remove('tool:ad')).toBeUndefined();
    expect(await stops.list()).toHaveLength(1);
  });

  it('brings odd names and notes back as they were', async () => {
    const { stops } = await opened();
    const odd = `'; DROP TABLE toolcrib_stops; -- ? $1 "é" \u{1f511} %_`;
    const stop = { target: `caller:${odd}`, by: odd, note: odd };
    await stops.add(stop);
    expect(await stops.list()).toMatchObject([stop]);
    expect(await stops.remove(stop.target)).toMatchObject(stop);
  });

  it('outlives the process, unless the store is in memory', async () => {
    const url = await place();
    const first = await openStore({ url, env: {} });
    await first.stops.add({ target: 'profile:assistant', by: 'ann' });
    await first.close();
    const second = await openStore({ url, env: {} });
    onTestFinished(() => second.close());
    const { engine } = await second.status();
    expect(await second.stops.list()).toHaveLength(engine === 'memory' ? 0 : 1);
  });
}
