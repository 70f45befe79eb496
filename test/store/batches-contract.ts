import { expect, it } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import type { NewApproval } from '../../src/core/ports/stored-approvals.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';
import { AMPLE, addTo, payment } from './approvals-contract.ts';

const MINUTE = 60_000;
const NOON = 1_700_000_000_000;
const yes = { decision: 'approve', by: 'bob' } as const;
const no = { decision: 'deny', by: 'bob' } as const;

/** A request of an inner call of a script. */
const inner = (changes: Partial<NewApproval> = {}) => payment({ batch: 'call-1.1', inside: ['script'], ...changes });

/** What every store keeps to about batches. */
export function batchesContract(
  opened: (options?: Partial<StoreOptions>) => Promise<Store>,
  place: () => Promise<string>,
): void {
  it('a request of an unsealed batch is neither listed nor answered', async () => {
    const { approvals } = await opened();
    const { approval } = await addTo(approvals, inner());
    expect(approval).toMatchObject({ batch: 'call-1.1', isSealed: false, state: 'waiting' });
    expect(await approvals.get(approval.id)).toMatchObject({ batch: 'call-1.1', isSealed: false });
    expect(await approvals.list({ limit: 10 })).toEqual([]);
    expect(await approvals.list({ limit: 10, state: 'waiting', ids: [approval.id] })).toEqual([]);
    expect(await approvals.states(10)).toEqual([]);
    expect(await approvals.answer(approval.id, yes)).toBeUndefined();
    expect(await approvals.answer(approval.id, no)).toBeUndefined();
    expect(await approvals.stateOf(approval.id)).toBe('waiting');
  });

  it('sealing makes all of them answerable, with their whole lifetime, and can be done twice', async () => {
    let at = NOON;
    const { approvals } = await opened({ now: () => at });
    const { approval: first } = await addTo(approvals, inner());
    at += MINUTE;
    const { approval: second } = await addTo(approvals, inner({ argumentsHash: 'four', arguments: { amount: 4 } }));
    await addTo(approvals, inner({ batch: 'call-2.1' }));
    const told: string[] = [];
    approvals.onSeal((batch) => told.push(batch));
    at += MINUTE;
    const sealed = await approvals.sealBatch('call-1.1');
    expect(sealed.map(({ id }) => id)).toEqual([first.id, second.id]);
    expect(sealed.map(({ arguments: given }) => given)).toEqual([{ amount: 3 }, { amount: 4 }]);
    for (const one of sealed) {
      expect(one).not.toHaveProperty('isSealed');
      expect(one.expiresAt).toBe(NOON + 7 * MINUTE);
    }
    at += MINUTE;
    expect(await approvals.sealBatch('call-1.1')).toEqual(sealed);
    expect(told).toEqual(['call-1.1', 'call-1.1']);
    expect((await approvals.list({ limit: 10 })).map(({ id, batch }) => ({ id, batch }))).toEqual([
      { id: first.id, batch: 'call-1.1' },
      { id: second.id, batch: 'call-1.1' },
    ]);
    expect(await approvals.answer(first.id, yes)).toMatchObject({ state: 'approved', batch: 'call-1.1' });
    expect((await approvals.ofBatch('call-1.1')).map(({ state }) => state)).toEqual(['approved', 'waiting']);
  });

  it('a request that is added to a sealed batch is never answered', async () => {
    const { approvals } = await opened();
    const { approval: first } = await addTo(approvals, inner());
    await approvals.sealBatch('call-1.1');
    const { approval: late } = await addTo(approvals, inner({ argumentsHash: 'late' }));
    await approvals.sealBatch('call-1.1');
    expect((await approvals.list({ limit: 10 })).map(({ id }) => id)).toEqual([first.id]);
    expect((await approvals.answerBatch('call-1.1', yes)).map(({ id }) => id)).toEqual([first.id]);
    expect(await approvals.answer(late.id, yes)).toBeUndefined();
  });

  it('of two answers at once through two connections, one counts for all of its requests', async () => {
    const url = await place();
    if (url === 'memory:') return; // it has one connection
    const [one, other] = [await opened({ url }), await opened({ url })];
    for (const batch of ['a.1', 'b.1', 'c.1']) {
      const items = Array.from({ length: 10 }, (_, n) => inner({ batch, argumentsHash: `${n}` }));
      await Promise.all(items.map((item) => addTo(one.approvals, item)));
      await one.approvals.sealBatch(batch);
      const answers = [one.approvals.answerBatch(batch, yes), other.approvals.answerBatch(batch, no)];
      const counts = (await Promise.all(answers)).map(({ length }) => length);
      expect(counts.toSorted((a, b) => a - b)).toEqual([0, 10]);
      expect(new Set((await other.approvals.ofBatch(batch)).map(({ state }) => state)).size).toBe(1);
    }
  });

  it('equal calls of a script are requests of their own, and each is claimed once', async () => {
    const { approvals } = await opened();
    const added = await Promise.all([addTo(approvals, inner()), addTo(approvals, inner())]);
    expect(new Set(added.map(({ approval }) => approval.id)).size).toBe(2);
    expect(await approvals.find(inner())).toBeUndefined();
    await approvals.sealBatch('call-1.1');
    for (const { approval } of added) {
      await approvals.answer(approval.id, yes);
      expect(await approvals.find(inner())).toBeUndefined();
      expect(await approvals.claim(approval.id, inner(), 'a call')).toMatchObject({ state: 'claimed' });
      expect(await approvals.claim(approval.id, inner(), 'another call')).toBeUndefined();
    }
  });

  it('a claim that was given back is found by its id only', async () => {
    const { approvals } = await opened();
    const { approval } = await addTo(approvals, inner());
    await approvals.sealBatch('call-1.1');
    await approvals.answer(approval.id, yes);
    await approvals.claim(approval.id, inner(), 'a call');
    expect(await approvals.giveBack(approval.id)).toBe(true);
    expect(await approvals.find(inner())).toBeUndefined();
    expect(await approvals.claim(approval.id, inner(), 'a later call')).toMatchObject({ state: 'claimed' });
  });

  it('a denial holds for the same inner call of a later run', async () => {
    const { approvals } = await opened();
    const { approval } = await addTo(approvals, inner());
    await approvals.sealBatch('call-1.1');
    await approvals.answer(approval.id, no);
    expect(await approvals.find(inner())).toMatchObject({ id: approval.id, state: 'denied' });
    expect(await approvals.find(inner({ insideHash: 'another script' }))).toBeUndefined();
  });

  it('a request that expired before its batch was sealed stays unlisted', async () => {
    let at = NOON;
    const { approvals } = await opened({ now: () => at });
    const { approval: late } = await addTo(approvals, inner({ lifetimeMs: MINUTE }));
    const { approval } = await addTo(approvals, inner());
    at += MINUTE;
    const sealed = await approvals.sealBatch('call-1.1');
    expect(sealed.find(({ id }) => id === late.id)).toMatchObject({ state: 'expired', isSealed: false });
    expect((await approvals.list({ limit: 10 })).map(({ id }) => id)).toEqual([approval.id]);
    expect(await approvals.answer(late.id, yes)).toBeUndefined();
  });

  it('the bounds on waiting requests hold for a batch, too', async () => {
    const { approvals } = await opened();
    await addTo(approvals, inner());
    const bounds = { ...AMPLE, maxPerCaller: 1 };
    expect(await approvals.add(inner(), bounds)).toEqual({ ok: false, broken: 'maxPerCaller' });
  });

  it('a name of any text is a batch, and an unknown one is empty', async () => {
    const { approvals } = await opened();
    const odd = `? 'a' \\ \u0000 \ud800 \u{1f527}\n`;
    await addTo(approvals, inner({ batch: odd }));
    expect(await approvals.ofBatch(odd)).toMatchObject([{ batch: odd }]);
    expect(await approvals.sealBatch('unknown')).toEqual([]);
    expect(await approvals.ofBatch('')).toEqual([]);
  });
}
