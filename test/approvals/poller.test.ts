import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createPoller } from '../../src/approvals/poller.ts';
import type { StoredApprovals } from '../../src/core/ports/stored-approvals.ts';
import { ToolcribError } from '../../src/core/tool-error.ts';
import { openStore } from '../../src/store/open-store.ts';
import { manualClock } from '../crib/manual-clock.ts';
import { addTo, payment } from '../store/approvals-contract.ts';

const yes = { decision: 'approve', by: 'bob' } as const;

/** A poller over a real store, what it asked of the store, and how to let it fail. */
async function openPoller() {
  const store = await openStore({ url: 'memory:', env: {} });
  onTestFinished(() => store.close());
  const { approvals } = store;
  const queries: (readonly string[])[] = [];
  const warnings: string[] = [];
  const clock = manualClock();
  let broken: Error | undefined;
  const statesOf: StoredApprovals['statesOf'] = async (ids) => {
    queries.push(ids);
    if (broken !== undefined) throw broken;
    return approvals.statesOf(ids);
  };
  const findLost = vi.fn(async () => false);
  const watched = { statesOf, onAnswer: approvals.onAnswer };
  const poller = createPoller({ approvals: watched, findLost, warn: (text) => void warnings.push(text), clock });
  onTestFinished(() => poller.close());
  const add = async (what: string) => (await addTo(approvals, payment({ argumentsHash: what }))).approval.id;
  const breakWith = (cause: Error | undefined) => {
    broken = cause;
  };
  return { approvals, poller, clock, queries, warnings, findLost, add, breakWith };
}

describe('one poller', () => {
  it('has one timer and queries once for all waiting calls, first for calls whose process is gone', async () => {
    const { poller, clock, queries, findLost, add } = await openPoller();
    const ids = [await add('one'), await add('two')];
    const told: (string | undefined)[] = [];
    for (const id of [...ids, ...ids]) poller.watch(id, (state) => void told.push(state));
    expect(clock.count()).toBe(1);
    expect(queries).toEqual([]);
    clock.advance(500);
    await vi.waitFor(() => expect(told).toEqual(['waiting', 'waiting', 'waiting', 'waiting']));
    expect(queries).toEqual([ids]);
    expect(findLost).toHaveBeenCalledTimes(1);
    await vi.waitFor(() => expect(clock.count()).toBe(1));
  });

  it('announces changes of this process at once, and only a waiting subscriber starts a query', async () => {
    const { approvals, poller, queries, add } = await openPoller();
    const [id, other] = [await add('one'), await add('two')];
    const told = Promise.withResolvers<string | undefined>();
    poller.watch(id, told.resolve);
    await approvals.answer(other, yes);
    expect(queries).toEqual([]);
    await approvals.answer(id, yes);
    expect(await told.promise).toBe('approved');
  });

  it('stops when no subscriber waits any more', async () => {
    const { approvals, poller, clock, queries, add } = await openPoller();
    const id = await add('one');
    const stops = [poller.watch(id, () => {}), poller.subscribe(async () => {})];
    for (const { stop } of stops) stop();
    expect(clock.count()).toBe(0);
    await approvals.answer(id, yes);
    expect(queries).toEqual([]);
  });

  it('queries once more for all subscribers that join during a query', async () => {
    const { poller } = await openPoller();
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let looks = 0;
    const { look } = poller.subscribe(async () => gates[looks++]?.promise);
    const first = look();
    const later = [look(), look(), look()];
    for (const gate of gates) gate.resolve();
    await Promise.all([first, ...later]);
    expect(looks).toBe(2);
  });

  it('retries a store that does not answer, announces nothing about it, and lets other work go on', async () => {
    const { poller, clock, warnings, add, breakWith } = await openPoller();
    const told: (string | undefined)[] = [];
    let works = 0;
    const { look } = poller.watch(await add('one'), (state) => void told.push(state));
    poller.subscribe(async () => void works++);
    breakWith(new ToolcribError('store_unavailable', 'gone'));
    await look();
    expect([told, works, warnings, clock.count()]).toEqual([[], 1, [], 1]);
    breakWith(new Error('a mistake'));
    await look();
    expect(warnings).toEqual(['Polling the approvals failed: a mistake']);
    breakWith(undefined);
    poller.subscribe(() => {
      throw new Error('thrown at once');
    });
    await look();
    expect(told).toEqual(['waiting']);
    expect(warnings.at(-1)).toBe('Polling the approvals failed: thrown at once');
    expect(clock.count()).toBe(1);
  });

  it.each([
    ['never ends', () => new Promise<void>(() => {})],
    ['rejects', async () => Promise.reject(new Error('it broke'))],
    [
      'throws',
      () => {
        throw new Error('it broke');
      },
    ],
  ])('work that %s delays no other work', async (_, work) => {
    const { poller, clock, add } = await openPoller();
    const id = await add('one');
    let worked = 0;
    const told: unknown[] = [];
    poller.subscribe(work);
    const other = poller.subscribe(async () => void worked++);
    poller.watch(id, (state) => void told.push(state));
    for (const looks of [1, 2, 3]) {
      await vi.waitFor(() => expect(clock.count()).toBe(1));
      clock.advance(500);
      await vi.waitFor(() => expect([worked, told.length]).toEqual([looks, looks]));
    }
    await other.look();
    expect(worked).toBe(4);
  });

  it('a subscriber that throws does not keep other subscribers from being told', async () => {
    const { poller, clock, add, warnings } = await openPoller();
    const told: unknown[] = [];
    poller.watch(await add('one'), () => {
      throw new Error('it broke');
    });
    poller.watch(await add('two'), (state) => void told.push(state));
    clock.advance(500);
    await vi.waitFor(() => expect(told).toEqual(['waiting']));
    await vi.waitFor(() => expect(clock.count()).toBe(1));
    expect(warnings).toEqual(['Polling the approvals failed: it broke']);
  });

  it('stops permanently', async () => {
    const { poller, clock, queries, add } = await openPoller();
    const id = await add('one');
    poller.watch(id, () => {});
    poller.close();
    await poller.watch(id, () => {}).look();
    expect([clock.count(), queries]).toEqual([0, []]);
  });
});
