import { expect, it } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import type { NewSchedule } from '../../src/core/ports/stored-schedules.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';

const MOST = 3;
const CLAIM_MS = 15_000;
const WEEK_MS = 604_800_000;

const nightly = (more: Partial<NewSchedule> = {}): NewSchedule => ({
  name: 'nightly',
  schedule: {
    tool: 'tidy',
    arguments: { 'deep 字': [1, null] },
    roles: ['ops'],
    cron: '0 3 * * *',
    timeZone: 'UTC',
    missed: 'skip',
  },
  timing: 'at three',
  by: 'ann',
  replace: false,
  ...more,
});

/** What every store keeps to about schedules. */
export function schedulesContract(
  opened: (options?: Partial<StoreOptions>) => Promise<Store>,
  place: () => Promise<string>,
): void {
  const atTime = async (at: number) => {
    const clock = { at };
    const { schedules } = await opened({ now: () => clock.at });
    const progress = async () => (await schedules.progress()).progress[0];
    return { clock, schedules, progress };
  };

  it('keeps a schedule as it was written, with its author and time, by name', async () => {
    const { schedules } = await atTime(5);
    expect(await schedules.put(nightly(), MOST)).toBe('added');
    expect(await schedules.put(nightly({ name: 'a', by: 'bob' }), MOST)).toBe('added');
    expect(await schedules.list()).toEqual([
      { name: 'a', schedule: nightly().schedule, by: 'bob', at: 5 },
      { name: 'nightly', schedule: nightly().schedule, by: 'ann', at: 5 },
    ]);
    expect(await schedules.remove('a')).toBe(true);
    expect(await schedules.remove('a')).toBe(false);
    expect((await schedules.list()).map(({ name }) => name)).toEqual(['nightly']);
    expect((await schedules.progress()).progress.map(({ name }) => name)).toEqual(['nightly']);
  });

  it('takes a name once, replaces on request, and holds a limited number, also if many are added at once', async () => {
    const { schedules } = await atTime(5);
    const puts = ['a', 'b', 'c', 'd', 'e'].map((name) => schedules.put(nightly({ name }), MOST));
    expect((await Promise.all(puts)).toSorted()).toEqual(['added', 'added', 'added', 'full', 'full']);
    const [first] = await schedules.list();
    expect(await schedules.put(nightly({ name: first?.name ?? '', by: 'bob' }), MOST)).toBe('taken');
    expect(await schedules.put(nightly({ name: first?.name ?? '', by: 'cid', replace: true }), MOST)).toBe('changed');
    expect((await schedules.list())[0]).toMatchObject({ by: 'cid' });
    expect(await schedules.put(nightly({ name: 'z', replace: true }), MOST)).toBe('full');
  });

  it('counts slots from when a schedule was added; the same timing continues, another one starts anew', async () => {
    const { clock, schedules, progress } = await atTime(100);
    await schedules.put(nightly(), MOST);
    expect(await progress()).toEqual({ name: 'nightly', timing: 'at three', handledAt: 100 });
    clock.at = 200;
    await schedules.put(nightly({ replace: true }), MOST);
    expect(await progress()).toMatchObject({ timing: 'at three', handledAt: 100 });
    await schedules.put(nightly({ timing: 'at four' }), MOST); // refused: the name is taken
    expect(await progress()).toMatchObject({ timing: 'at three', handledAt: 100 });
    await schedules.put(nightly({ timing: 'at four', replace: true }), MOST);
    expect(await progress()).toEqual({ name: 'nightly', timing: 'at four', handledAt: 200 });
  });

  it('starts the progress of a schedule of the configuration once', async () => {
    const { schedules, progress } = await atTime(100);
    await Promise.all([7, 8, 9].map((at) => schedules.start('a', 'at three', at)));
    const { handledAt } = (await progress()) ?? { handledAt: 0 };
    expect([7, 8, 9]).toContain(handledAt);
    await schedules.start('a', 'at three', 10);
    expect(await progress()).toMatchObject({ handledAt });
    await schedules.start('a', 'at four', 11);
    expect(await progress()).toMatchObject({ timing: 'at four', handledAt: 11 });
    expect(await schedules.list()).toEqual([]);
  });

  it('lets one process claim a slot, and another one if that process does not go on', async () => {
    const url = await place();
    const clock = { at: 1000 };
    const stores = url === 'memory:' ? [await opened({ url, now: () => clock.at })] : [];
    for (let count = stores.length; url !== 'memory:' && count < 3; count++)
      stores.push(await opened({ url, now: () => clock.at }));
    const [one] = stores;
    await one?.schedules.start('a', 't', 0);
    const claim = async (slot: number) =>
      (await Promise.all(stores.map(({ schedules }) => schedules.claim('a', 't', slot)))).filter(Boolean).length;
    expect(await claim(900)).toBe(1);
    expect(await claim(900)).toBe(0);
    clock.at += CLAIM_MS;
    expect(await claim(900)).toBe(1);
    await one?.schedules.release('a', 900);
    expect(await claim(900)).toBe(1);
    expect((await one?.schedules.progress())?.progress[0]).toMatchObject({ claimedSlot: 900 });
    expect(await claim(1000)).toBe(1); // a later slot does not wait for an earlier one
    clock.at = 10; // the clock was set back
    expect(await claim(1000)).toBe(1);
    expect(await one?.schedules.claim('a', 'another timing', 2000)).toBe(false);
    expect(await one?.schedules.claim('unknown', 't', 2000)).toBe(false);
  });

  it('never goes back behind a handled slot', async () => {
    const { schedules, progress } = await atTime(1000);
    await schedules.start('a', 't', 0);
    await schedules.claim('a', 't', 900);
    const error = { code: 'unknown_tool', message: 'no such tool' } as const;
    await schedules.handle('a', 't', { slot: 900, last: { slot: 900, taskId: 'x' } });
    expect(await progress()).toEqual({ name: 'a', timing: 't', handledAt: 900, last: { slot: 900, taskId: 'x' } });
    await schedules.handle('a', 't', { slot: 800, last: { slot: 800, error } });
    await schedules.handle('a', 'another timing', { slot: 990 });
    expect(await progress()).toMatchObject({ handledAt: 900, last: { taskId: 'x' } });
    expect(await schedules.claim('a', 't', 900)).toBe(false);
    await schedules.handle('a', 't', { slot: 950 }); // skipped
    expect(await progress()).toMatchObject({ handledAt: 950, last: { slot: 900, taskId: 'x' } });
    await schedules.handle('a', 't', { slot: 960, last: { slot: 960, error } });
    expect(await progress()).toMatchObject({ handledAt: 960, last: { slot: 960, error } });
  });

  it('forgets a schedule whose only slot is long over when another one is added', async () => {
    const { clock, schedules } = await atTime(1000);
    const once = nightly({ name: 'once', schedule: { ...nightly().schedule, at: 2000 } });
    await schedules.put(once, MOST);
    clock.at = 2000 + WEEK_MS;
    await schedules.put(nightly({ name: 'b' }), MOST);
    expect((await schedules.list()).map(({ name }) => name)).toEqual(['b', 'once']);
    clock.at += 1;
    await schedules.put(nightly({ name: 'c' }), MOST);
    expect((await schedules.list()).map(({ name }) => name)).toEqual(['b', 'c']);
    expect((await schedules.progress()).progress.map(({ name }) => name).toSorted()).toEqual(['b', 'c']);
  });
}
