import { afterEach, expect, it, vi } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { AMPLE, addTo, payment } from './approvals-contract.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const yes = { decision: 'approve', by: 'bob' } as const;
const keeping = { owner: 'alice', bounds: AMPLE };
const call = (id: string) => ({ id, argumentsHash: 'three', keepMs: DAY, keeping });

const result = (id: string) => ({ id, owner: 'alice', tool: 'read', text: 'long', expiresAt: Date.now() + 5 * MINUTE });

/** Something that a replica keeps, and whether it is still there. Each is looked at by that replica. */
const KEPT: readonly (readonly [string, (store: Store) => Promise<() => Promise<void>>])[] = [
  [
    'an idempotency key whose call runs',
    async ({ repeats }) => {
      expect(await repeats.begin('key', call('first'))).toEqual({ state: 'new' });
      return async () => expect(await repeats.begin('key', call('second'))).toMatchObject({ state: 'running' });
    },
  ],
  [
    'a request that waits',
    async ({ approvals }) => {
      const { approval } = await addTo(approvals, payment());
      return async () => expect((await approvals.answer(approval.id, yes))?.state).toBe('approved');
    },
  ],
  [
    'a yes that no call took up yet',
    async ({ approvals }) => {
      const { approval } = await addTo(approvals, payment());
      await approvals.answer(approval.id, yes);
      return async () => expect((await approvals.claim(approval.id, payment(), 'call'))?.state).toBe('claimed');
    },
  ],
  [
    'a yes that is remembered',
    async ({ approvals }) => {
      const { approval } = await addTo(approvals, payment());
      await approvals.answer(approval.id, { ...yes, remember: { forMs: 10 * MINUTE } });
      return async () => expect(await approvals.remembered(payment())).toMatchObject([{ by: 'bob' }]);
    },
  ],
  [
    'a large result',
    async ({ results }) => {
      expect(await results.put(result('r1'), { quotaBytes: 1_000_000 })).toBe(true);
      return async () => expect(await results.get('r1')).toMatchObject({ text: 'long' });
    },
  ],
  [
    'a budget that is spent',
    async ({ budgets }) => {
      const cells = [{ name: 'all', amount: 1, perMs: 10 * DAY }];
      expect(await budgets.charge(cells, 1)).toEqual({ ok: true });
      return async () => expect(await budgets.charge(cells, 1)).toMatchObject({ ok: false });
    },
  ],
];

/** What another replica does with its time: everything that removes or ends what is over. */
async function workIn({ repeats, approvals, budgets, results }: Store): Promise<void> {
  await results.put(result('r2'), { quotaBytes: 1_000_000 });
  await repeats.begin('another key', call('third'));
  await addTo(approvals, payment({ argumentsHash: 'four' }));
  for (const { id } of await approvals.list({ limit: 10 })) await approvals.stateOf(id);
  await approvals.find(payment());
  await approvals.runnable(undefined, 10);
  await budgets.charge([{ name: 'all', amount: 1, perMs: 10 * DAY }], 0);
}

/** What replicas on several machines keep to: the clock of one ends nothing that another one keeps. */
export function otherClocksContract(opened: (url: string) => Promise<Store>, place: () => Promise<string>): void {
  afterEach(() => void vi.useRealTimers());
  const setClock = (byMs: number) => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + byMs });

  const clocks = [
    ['six minutes ahead', 6 * MINUTE],
    ['a day ahead', DAY + MINUTE],
    ['a month ahead', 31 * DAY],
    ['a day behind', -DAY - MINUTE],
  ] as const;
  it.each(KEPT.flatMap(([what, keep]) => clocks.map(([how, byMs]) => [what, how, keep, byMs] as const)))(
    '%s outlives a replica whose clock is %s',
    async (_what, _how, keep, byMs) => {
      const url = await place();
      const isKept = await keep(await opened(url));
      setClock(byMs);
      await workIn(await opened(url));
      vi.useRealTimers();
      await isKept();
    },
  );

  it.each(KEPT)('%s outlives a clock that is set while its replica runs', async (_, keep) => {
    const url = await place();
    const [store, other] = [await opened(url), await opened(url)];
    const isKept = await keep(store);
    setClock(DAY + MINUTE);
    await workIn(other);
    await isKept();
  });

  it('data of a replica whose clock is a day behind is available to the others', async () => {
    const url = await place();
    setClock(-DAY - MINUTE);
    const behind = await opened(url);
    expect(await behind.results.put(result('r1'), { quotaBytes: 1_000_000 })).toBe(true);
    expect(await behind.repeats.begin('key', call('first'))).toEqual({ state: 'new' });
    const { approval } = await addTo(behind.approvals, payment());
    vi.useRealTimers();
    const other = await opened(url);
    await workIn(other);
    expect((await other.approvals.answer(approval.id, yes))?.state).toBe('approved');
    expect(await other.repeats.begin('key', call('second'))).toMatchObject({ state: 'running' });
    expect(await other.results.get('r1')).toMatchObject({ text: 'long' });
  });

  it('expired data is expired for a replica whose clock is behind', async () => {
    const url = await place();
    const store = await opened(url);
    const { approval } = await addTo(store.approvals, payment({ lifetimeMs: 1 }));
    await vi.waitFor(async () => expect(await store.approvals.stateOf(approval.id)).toBe('expired'));
    setClock(-DAY);
    const behind = await opened(url);
    expect(await behind.approvals.answer(approval.id, yes)).toBeUndefined();
  });
}
