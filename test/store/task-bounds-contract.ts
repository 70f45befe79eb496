import { expect, it, vi } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { done } from '../../src/core/tool-result.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';
import { AMPLE } from './approvals-contract.ts';
import { claimIds, ENDED, HERE, transfer } from './tasks-contract.ts';

type Opened = (options?: Partial<StoreOptions>) => Promise<Store>;

/** What every store keeps to about how many tasks it holds, and for how long. */
export function taskBoundsContract(opened: Opened, place: () => Promise<string>): void {
  it('refuses more open tasks than a caller, or all callers, may have', async () => {
    const { tasks } = await opened();
    const bounds = { ...AMPLE, maxPerCaller: 3, maxTotal: 4 };
    const add = (id: string, caller: string) => tasks.add(transfer(id, { caller: { id: caller } }), bounds);
    const added = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => add(id, 'ann')));
    expect(added.filter(({ ok }) => ok)).toHaveLength(3);
    expect(added.filter((one) => !one.ok)).toEqual([
      { ok: false, broken: 'maxPerCaller' },
      { ok: false, broken: 'maxPerCaller' },
    ]);
    expect(await add('f', 'bob')).toMatchObject({ isNew: true });
    expect(await add('g', 'bob')).toEqual({ ok: false, broken: 'maxTotal' });
    const [first] = await tasks.claim({ ...HERE, limit: 1 });
    await tasks.finish(first?.id ?? '', ENDED);
    expect(await add('h', 'bob')).toMatchObject({ isNew: true });
    expect(await tasks.cancel('f', 'bob', done(''))).toBe('cancelled');
    expect(await add('i', 'bob')).toMatchObject({ isNew: true });
  });

  it('refuses arguments of more bytes than a caller, or all callers, may have', async () => {
    const { tasks } = await opened();
    const bounds = { ...AMPLE, maxBytesPerCaller: 5000, maxTotalBytes: 8000 };
    const add = (id: string, caller: string) =>
      tasks.add(transfer(id, { caller: { id: caller }, arguments: { long: 'x'.repeat(3000) } }), bounds);
    expect(await add('a', 'ann')).toMatchObject({ isNew: true });
    expect(await add('b', 'ann')).toEqual({ ok: false, broken: 'maxBytesPerCaller' });
    expect(await add('c', 'bob')).toMatchObject({ isNew: true });
    expect(await add('d', 'eve')).toEqual({ ok: false, broken: 'maxTotalBytes' });
  });

  it('counts what another process has added', async () => {
    const url = await place();
    if (url === 'memory:') return; // it has one process
    const [one, other] = [await opened({ url }), await opened({ url })];
    const bounds = { ...AMPLE, maxPerCaller: 2 };
    expect(await one.tasks.add(transfer('a'), bounds)).toMatchObject({ ok: true });
    expect(await one.tasks.add(transfer('b'), bounds)).toMatchObject({ ok: true });
    expect(await other.tasks.add(transfer('c'), bounds)).toEqual({ ok: false, broken: 'maxPerCaller' });
    await other.tasks.claim(HERE);
    await other.tasks.finish('a', ENDED);
    const isFree = async () => expect(await one.tasks.add(transfer('d'), bounds)).toMatchObject({ ok: true });
    await vi.waitFor(isFree);
  });

  it('replaces a result that alone is too large', async () => {
    const { tasks } = await opened();
    await tasks.add(transfer('a'), AMPLE);
    await tasks.claim(HERE);
    const bounds = { ...AMPLE, maxBytesPerCaller: 2000 };
    await tasks.finish('a', { ...ENDED, result: done('x'.repeat(3000)), bounds });
    expect(await tasks.result('a')).toEqual(ENDED.instead);
    expect(await tasks.get('a')).toMatchObject({ outcome: 'done' });
  });

  it('removes the oldest ended tasks of a caller for newer ones, but not the last one of a schedule', async () => {
    let now = 1_700_000_000_000;
    const { tasks } = await opened({ now: () => now++ });
    const bounds = { ...AMPLE, maxBytesPerCaller: 40_000 };
    const ids = Array.from({ length: 8 }, (_, index) => `t${index}`);
    for (const id of ['of a schedule', ...ids, 'of bob']) {
      const caller = { id: id === 'of bob' ? 'bob' : 'ann' };
      await tasks.add(transfer(id, { caller, ...(id === 'of a schedule' && { slot: 'nightly@1' }) }), AMPLE);
      expect(await claimIds(tasks)).toEqual([id]);
      await tasks.finish(id, { ...ENDED, result: done('x'.repeat(10_000)), bounds });
    }
    const kept = async () => (await tasks.list({ limit: 100 })).map(({ id }) => id).toReversed();
    await vi.waitFor(async () => expect(await kept()).toEqual(['of a schedule', 't5', 't6', 't7', 'of bob']));
  });

  it('purges ended tasks after their time, and never open ones or the last one of a schedule', async () => {
    let now = 1_700_000_000_000;
    const { tasks } = await opened({ now: () => now });
    const slots = { 'first night': 'nightly@1', 'last night': 'nightly@2' };
    const end = async (id: string, keepMs: number) => {
      const slot = slots[id as keyof typeof slots];
      await tasks.add(transfer(id, { keepMs, ...(slot !== undefined && { slot }) }), AMPLE);
      await tasks.claim(HERE);
      await tasks.finish(id, ENDED);
      now++;
    };
    for (const id of ['short', ...Object.keys(slots)]) await end(id, 1000);
    await end('long', 1_000_000);
    await tasks.add(transfer('open', { keepMs: 1 }), AMPLE);
    now += 2000;
    for (let count = 0; count < 100; count++) await tasks.add(transfer(`new ${count}`), AMPLE);
    const kept = (await tasks.list({ limit: 1000 })).map(({ id }) => id).filter((id) => !id.startsWith('new'));
    expect(kept.toReversed()).toEqual(['last night', 'long', 'open']);
    expect(await tasks.add(transfer('again', { slot: 'nightly@2' }), AMPLE)).toMatchObject({ isNew: false });
  });
}
