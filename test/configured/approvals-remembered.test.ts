import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Remember } from '../../src/index.ts';
import { stillTime } from './manual-clock.ts';
import { idOf, OPERATOR, openOffice } from './payments.ts';

const MINUTE = 60_000;

afterEach(() => {
  vi.useRealTimers();
});

describe('what is remembered', () => {
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

  it('can be forgotten, by who may answer', async () => {
    const { crib, id, pay } = await remembering('arguments');
    expect(await crib.approvals.forget(id, { id: 'alice' })).toMatchObject({ error: { code: 'denied' } });
    expect(await crib.approvals.forget(id, OPERATOR)).toMatchObject({ ok: true });
    expect(await crib.approvals.forget(id, OPERATOR)).toMatchObject({ error: { code: 'conflict' } });
    expect(await pay(3)).toMatchObject({ status: 'waiting' });
  });

  it('by a person at hand counts alike', async () => {
    const office = await openOffice();
    const approve = vi.fn(() => ({ approved: true, remember: { forMs: MINUTE } as const }));
    const as = { id: 'alice', approve };
    await office.pay(3, { as });
    await office.pay(4, { as });
    expect(approve).toHaveBeenCalledOnce();
    expect(office.paid).toHaveLength(2);
  });

  it('does not let arguments pass that a rule asks about', async () => {
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

  it('is nothing where nobody in particular asked', async () => {
    const office = await openOffice();
    const id = idOf(await office.pay(3, { as: {} }));
    const answered = await office.crib.approvals.answer(id, { decision: 'approve', remember: 'arguments' }, OPERATOR);
    expect(answered).toMatchObject({ error: { code: 'invalid_input' } });
  });
});
