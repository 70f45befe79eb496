import { expect, it } from 'vitest';
import type { Remember } from '../../src/core/ports/remember.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { NewApproval } from '../../src/core/ports/stored-approvals.ts';
import { openStore, type StoreOptions } from '../../src/store/open-store.ts';
import { addTo, payment } from './approvals-contract.ts';
import { startProcess } from './start-process.ts';

const USE_GRANT = new URL('./processes/use-grant.ts', import.meta.url);
const MINUTE = 60_000;
const NOON = 1_700_000_000_000;

type Opened = (options?: Partial<StoreOptions>) => Promise<Store>;

/** What every store keeps to about remembered approvals with a number of uses. */
export function grantsContract(opened: Opened, place: () => Promise<string>): void {
  const granted = async (remember: Remember, options?: Partial<StoreOptions>, changes?: Partial<NewApproval>) => {
    const { approvals } = await opened(options);
    const { approval } = await addTo(approvals, payment(changes));
    await approvals.answer(approval.id, { decision: 'approve', by: 'bob', remember });
    return { approvals, id: approval.id };
  };
  const vary = { amount: { type: 'number', maximum: 100 } };

  it('is found for other arguments, with its terms, and only where it counts', async () => {
    const { approvals, id } = await granted({ uses: 2, forMs: MINUTE, vary }, {}, { programHash: 'script' });
    const like = (changes: Partial<NewApproval>) =>
      approvals.remembered(payment({ programHash: 'script', ...changes }));
    const found = [
      {
        id,
        by: 'bob',
        terms: { vary, types: { amount: 'number' }, fixedHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    ];
    expect(await like({ argumentsHash: 'four', insideHash: 'other input' })).toEqual(found);
    const others: Partial<NewApproval>[] = [
      { programHash: 'other script' },
      { callerId: 'mallory' },
      { callerHash: 'boss' },
      { tool: 'play' },
      { definitionHash: 'changed' },
      { profile: 'all' },
      { ground: 'a rule' },
      { timeZone: 'Asia/Tokyo' },
      { answersHash: 'answers' },
    ];
    for (const changes of others) expect(await like(changes), JSON.stringify(changes)).toEqual([]);
    expect(await approvals.remembered(payment())).toEqual([]);
  });

  it('is used as often as it says, however many try at once', async () => {
    const { approvals, id } = await granted({ uses: 5, forMs: MINUTE });
    const used = await Promise.all(Array.from({ length: 20 }, () => approvals.useGrant(id)));
    expect(used.filter(Boolean)).toHaveLength(5);
    expect(await approvals.remembered(payment())).toEqual([]);
    expect(await approvals.grants(10)).toEqual([]);
    await approvals.returnUse(id);
    expect(await approvals.useGrant(id)).toBe(true);
    expect(await approvals.useGrant(id)).toBe(false);
  });

  it('two processes at once count the same uses', { timeout: 60_000 }, async () => {
    const url = await place();
    if (url === 'memory:') return; // it belongs to one process
    const store = await openStore({ url, env: {} });
    const { approval } = await addTo(store.approvals, payment());
    await store.approvals.answer(approval.id, {
      decision: 'approve',
      by: 'bob',
      remember: { uses: 30, forMs: 10 * MINUTE },
    });
    const users = [1, 2].map(() => startProcess(USE_GRANT, [url, approval.id, '40']));
    expect(await Promise.all(users.map(({ ended }) => ended))).toEqual([0, 0]);
    const counts = users.map(({ lines }) => Number(lines[0]));
    await store.close();
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(30);
  });

  it('ends at its time, at the latest after 30 days', async () => {
    let at = NOON;
    const until = new Date(NOON + 5 * MINUTE).toISOString();
    const { approvals, id } = await granted({ uses: 5, until }, { now: () => at });
    expect(await approvals.grants(10)).toMatchObject([{ id, usesLeft: 5, expiresAt: NOON + 5 * MINUTE }]);
    at += 5 * MINUTE;
    expect(await approvals.useGrant(id)).toBe(false);
    expect(await approvals.remembered(payment())).toEqual([]);
    expect(await approvals.grants(10)).toEqual([]);
    const late = await granted({ uses: 5, until: '2999-01-01T00:00:00Z' }, { now: () => NOON });
    expect(await late.approvals.grants(10)).toMatchObject([{ expiresAt: NOON + 30 * 86_400_000 }]);
  });

  it('is listed with its request until it is forgotten', async () => {
    const { approvals, id } = await granted({ uses: 2, forMs: MINUTE, vary }, { now: () => NOON });
    expect(await approvals.grants(10)).toEqual([
      {
        id,
        by: 'bob',
        at: NOON,
        expiresAt: NOON + MINUTE,
        usesLeft: 2,
        approval: expect.objectContaining({ id, tool: 'pay', arguments: { amount: 3 }, state: 'approved' }),
      },
    ]);
    expect(await approvals.forget(id)).toBe(true);
    expect(await approvals.useGrant(id)).toBe(false);
    expect(await approvals.grants(10)).toEqual([]);
    expect(await approvals.forget(id)).toBe(false);
  });

  it('one without a count comes first and is not used up', async () => {
    const { approvals, id } = await granted({ uses: 2, forMs: MINUTE });
    const { approval } = await addTo(approvals, payment({ argumentsHash: 'four', arguments: { amount: 4 } }));
    await approvals.answer(approval.id, { decision: 'approve', by: 'bob', remember: { forMs: MINUTE } });
    expect((await approvals.remembered(payment())).map((one) => one.id)).toEqual([approval.id, id]);
    expect(await approvals.useGrant(approval.id)).toBe(false);
  });

  it('an answer to a batch is remembered for each of its requests that it has answered', async () => {
    const { approvals } = await opened();
    const { approval: first } = await addTo(approvals, payment({ batch: 'b.1' }));
    const { approval: second } = await addTo(
      approvals,
      payment({ batch: 'b.1', argumentsHash: 'four', arguments: { amount: 4 } }),
    );
    expect(await approvals.answerBatch('b.1', { decision: 'approve', by: 'eve' })).toEqual([]);
    await approvals.sealBatch('b.1');
    await approvals.answer(first.id, { decision: 'deny', by: 'bob' });
    const answered = await approvals.answerBatch('b.1', { decision: 'approve', by: 'bob', remember: 'arguments' });
    expect(answered).toMatchObject([{ id: second.id, state: 'approved' }]);
    expect((await approvals.grants(10)).map(({ id }) => id)).toEqual([second.id]);
    expect(await approvals.answerBatch('b.1', { decision: 'deny', by: 'bob' })).toEqual([]);
  });
}
