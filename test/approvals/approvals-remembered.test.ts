import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Remember } from '../../src/index.ts';
import { stillTime } from '../crib/manual-clock.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { idOf, OPERATOR, openOffice } from './payments.ts';

const MINUTE = 60_000;

afterEach(() => {
  vi.useRealTimers();
});

describe('a remembered answer', () => {
  const remembering = async (remember: Remember, conversation?: string) => {
    const office = await openOffice();
    const options = conversation === undefined ? {} : { conversation };
    const id = idOf(await office.pay(3, options));
    const answered = await office.crib.approvals.answer(id, { decision: 'approve', remember }, OPERATOR);
    expect(answered).toMatchObject({ ok: true, approval: { answer: { remember } } });
    await office.pay(3, options);
    return { ...office, id };
  };

  it('for the conversation: other arguments in it run without asking', async () => {
    const { pay, paid, waiting } = await remembering('conversation', 'talk');
    expect(await pay(4, { conversation: 'talk' })).toMatchObject({ ok: true });
    expect(await pay(5, { conversation: 'other' })).toMatchObject({ status: 'waiting' });
    expect(await pay(6)).toMatchObject({ status: 'waiting' });
    expect(paid).toEqual([{ amount: 3 }, { amount: 4 }]);
    expect(await waiting()).toHaveLength(2);
  });

  it('for the arguments: the same ones run without asking', async () => {
    const { pay } = await remembering('arguments');
    expect(await pay(3)).toMatchObject({ ok: true });
    expect(await pay(3, { conversation: 'other' })).toMatchObject({ ok: true });
    expect(await pay(4)).toMatchObject({ status: 'waiting' });
    expect(await pay(3, { as: { id: 'bob' } })).toMatchObject({ status: 'waiting' });
  });

  it('for a time: everything runs without asking until then', async () => {
    const move = stillTime();
    const { pay } = await remembering({ forMs: 10 * MINUTE });
    expect(await pay(99)).toMatchObject({ ok: true });
    move(10 * MINUTE);
    expect(await pay(99)).toMatchObject({ status: 'waiting' });
  });

  it('can be forgotten by a caller that may answer', async () => {
    const { crib, id, pay } = await remembering('arguments');
    expect(await crib.approvals.forget(id, { id: 'alice' })).toMatchObject({ error: { code: 'denied' } });
    expect(await crib.approvals.forget(id, OPERATOR)).toMatchObject({ ok: true });
    expect(await crib.approvals.forget(id, OPERATOR)).toMatchObject({ error: { code: 'conflict' } });
    expect(await pay(3)).toMatchObject({ status: 'waiting' });
  });

  describe('an answer that the caller itself remembers', () => {
    const ALICE = { id: 'alice', roles: ['dev'] };
    const selfRemembering = async (remember: Remember) => {
      const office = await openOffice({ tool: { policy: { approvers: ['caller'] } } });
      const id = idOf(await office.pay(3, { conversation: 'talk' }));
      await office.crib.approvals.answer(id, { decision: 'approve', remember }, ALICE);
      expect(await office.pay(3, { conversation: 'talk' })).toMatchObject({ ok: true });
      return office;
    };

    it.each(['conversation', { forMs: MINUTE }] as const)(
      'for %j does not allow calls that the caller may not approve',
      async (remember) => {
        const { crib, pay, paid } = await selfRemembering(remember);
        expect(await pay(4, { conversation: 'talk' })).toMatchObject({ ok: true });
        const long = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`note${n}`, 'x'.repeat(450)]));
        const chest = await crib.open(undefined, ALICE);
        const call = () => chest.call('pay', { amount: 5, ...long }, { park: true, conversation: 'talk' });
        const id = idOf(await call());
        expect(paid).toEqual([{ amount: 3 }, { amount: 4 }]);
        await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
        expect(await call()).toMatchObject({ ok: true });
      },
    );

    it('ends when callers may no longer approve their own calls', async () => {
      const url = `sqlite:${join(temporaryFolder(), 'crib.db')}`;
      const open = (approvers: readonly ['caller'] | readonly []) =>
        openOffice({ url, tool: { policy: { approvers } } });
      const before = await open(['caller']);
      const id = idOf(await before.pay(3));
      await before.crib.approvals.answer(id, { decision: 'approve', remember: 'arguments' }, ALICE);
      await before.pay(3);
      expect(await before.pay(3)).toMatchObject({ ok: true });
      const after = await open([]);
      expect(await after.pay(3)).toMatchObject({ status: 'waiting' });
    });
  });

  it("counts the same if the host's approver gives it", async () => {
    const office = await openOffice();
    const approve = vi.fn(() => ({ approved: true, remember: { forMs: MINUTE } as const }));
    const as = { id: 'alice', approve };
    await office.pay(3, { as });
    await office.pay(4, { as });
    expect(approve).toHaveBeenCalledOnce();
    expect(office.paid).toHaveLength(2);
  });

  it('does not allow arguments that a rule requires approval for', async () => {
    const rules = [
      { tools: ['pay'], when: { properties: { amount: { maximum: 100 } } }, otherwise: 'approve' },
    ] as const;
    const office = await openOffice({ profiles: { desk: { rules } } });
    const approve = async (id: string) =>
      office.crib.approvals.answer(id, { decision: 'approve', remember: { forMs: 10 * MINUTE } }, OPERATOR);
    await approve(idOf(await office.pay(3)));
    expect(await office.pay(100)).toMatchObject({ ok: true });
    await approve(idOf(await office.pay(101)));
    expect(await office.pay(5000)).toMatchObject({ ok: true });
  });

  it('has no effect for a caller without an id', async () => {
    const office = await openOffice();
    const id = idOf(await office.pay(3, { as: {} }));
    const answered = await office.crib.approvals.answer(id, { decision: 'approve', remember: 'arguments' }, OPERATOR);
    expect(answered).toMatchObject({ error: { code: 'invalid_input' } });
  });
});
