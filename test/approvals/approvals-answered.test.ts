import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ApprovalDecision, Caller } from '../../src/index.ts';
import { wrong } from '../bad-input/wrong.ts';
import { stillTime } from '../crib/manual-clock.ts';
import { idOf, OPERATOR, openOffice } from './payments.ts';

const MINUTE = 60_000;

afterEach(() => {
  vi.useRealTimers();
});

describe('which callers may answer', () => {
  const yes: ApprovalDecision = { decision: 'approve' };
  const ask = async (approvers: string | readonly string[]) => {
    const office = await openOffice({ tool: { policy: wrong({ approvers }) } });
    const id = idOf(await office.pay(3));
    return (by: Caller) => office.crib.approvals.answer(id, yes, by);
  };

  it.each<[string, Caller]>([
    ['who did not ask and has no part in it', { id: 'bob' }],
    ['the caller', { id: 'alice' }],
    ['the caller, with an approving role', { id: 'alice', roles: ['boss'] }],
    ['an answerer without an id', {}],
    ['an answerer without an id, with an approving role', { roles: ['boss'] }],
    ['who has another role', { id: 'bob', roles: ['bos', 'role:boss', 'caller', 'operator'] }],
    ['who says not to be an operator', { id: 'bob', operator: false }],
  ])('%s may not', async (_, by) => {
    const answer = await ask(['role:boss', 'operator']);
    expect(await answer(by)).toMatchObject({ ok: false, error: { code: 'denied' } });
    expect(await answer(OPERATOR)).toMatchObject({ ok: true });
  });

  it.each<[string, string[], Caller]>([
    ['an operator', ['role:boss'], { operator: true }],
    ['an operator that made the call', [], { id: 'alice', operator: true }],
    ['who has a role that may', ['role:boss', 'role:chief'], { id: 'bob', roles: ['dev', 'chief'] }],
    ['the caller, if the policy says caller', ['caller'], { id: 'alice' }],
  ])('%s may', async (_, approvers, by) => {
    expect(await (await ask(approvers))(by)).toMatchObject({ ok: true, approval: { state: 'approved' } });
  });

  it('the caller may not answer its own request without a policy that allows it', async () => {
    const office = await openOffice();
    const id = idOf(await office.pay(3));
    expect(await office.crib.approvals.answer(id, yes, { id: 'alice' })).toMatchObject({
      error: { code: 'denied', message: expect.stringContaining('own calls') },
    });
  });

  it("the calling client's own answer counts where the policy says approvers: caller, but not after another answer", async () => {
    const office = await openOffice({ tool: { policy: { approvers: ['caller'] } } });
    const own = { answers: { approval: true } };
    const first = idOf(await office.pay(3));
    expect(await office.pay(3, own)).toMatchObject({ ok: true });
    expect(await office.crib.approvals.get(first)).toMatchObject({ state: 'done', answer: { by: 'alice' } });
    const second = idOf(await office.pay(4));
    await office.answer(second, 'deny');
    expect(await office.pay(4, own)).toMatchObject({ error: { code: 'denied' } });
    expect(await office.pay(4, { ...own, as: { id: 'alice', approve: () => true } })).toMatchObject({ ok: false });
    expect(await office.pay(5, { answers: { approval: false } })).toMatchObject({ error: { code: 'denied' } });
    expect(office.paid).toEqual([{ amount: 3 }]);
  });

  it("the calling client's own answer does not count elsewhere", async () => {
    const office = await openOffice();
    const own = { answers: { approval: true } };
    expect(await office.pay(3, own)).toMatchObject({ status: 'waiting' });
    expect(await office.pay(3, own)).toMatchObject({ status: 'waiting' });
    expect(office.paid).toEqual([]);
  });
});

describe('an invalid answer is refused with a sentence', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no decision', {}],
    ['another decision', { decision: 'maybe' }],
    ['a decision that is true', { decision: true }],
    ['an unknown key', { decision: 'approve', remeber: 'arguments' }],
    ['a note that is not text', { decision: 'approve', note: 5 }],
    ['a note without end', { decision: 'deny', note: 'x'.repeat(100_000) }],
    ['an unknown remember value', { decision: 'approve', remember: 'always' }],
    ['no time to remember', { decision: 'approve', remember: { forMs: 0 } }],
    ['a time that is none', { decision: 'approve', remember: { forMs: Number.NaN } }],
    ['a time without end', { decision: 'approve', remember: { forMs: Number.POSITIVE_INFINITY } }],
    ['years', { decision: 'approve', remember: { forMs: 1e12 } }],
    ['a no to be remembered', { decision: 'deny', remember: 'arguments' }],
    ['a conversation that the call did not name', { decision: 'approve', remember: 'conversation' }],
  ])('%s', async (_, decision) => {
    const office = await openOffice();
    const id = idOf(await office.pay(3));
    expect(await office.crib.approvals.answer(id, wrong(decision), OPERATOR)).toMatchObject({
      ok: false,
      error: { code: 'invalid_input', message: expect.stringMatching(/[.?]$/) },
    });
    expect(await office.waiting()).toMatchObject([{ id }]);
  });

  it.each<[string, unknown]>([
    ['an unknown id', '0000-0000-0000'],
    ['no id', ''],
    ['something else', { id: 1 }],
    ['nothing', undefined],
  ])('%s', async (_, id) => {
    const { crib } = await openOffice();
    const { answer, forget, get } = crib.approvals;
    const refusal = { ok: false, error: { code: 'invalid_input', message: expect.stringContaining('was not found') } };
    expect(await answer(wrong(id), { decision: 'approve' }, OPERATOR)).toMatchObject(refusal);
    expect(await forget(wrong(id), OPERATOR)).toMatchObject(refusal);
    expect(await get(wrong(id))).toBeUndefined();
  });

  it('an answerer without an identity', async () => {
    const office = await openOffice();
    const id = idOf(await office.pay(3));
    for (const by of [5, { id: 7 }, { operator: 'yes' }, null, { id: '' }]) {
      const answered = await office.crib.approvals.answer(id, { decision: 'approve' }, wrong(by));
      expect(answered).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
    }
    expect(await office.crib.approvals.answer(id, { decision: 'approve' }, wrong(undefined))).toMatchObject({
      error: { code: 'denied' },
    });
  });

  it('a list in a state that does not exist', async () => {
    const { crib } = await openOffice();
    await expect(crib.approvals.list({ state: wrong('wating') })).rejects.toMatchObject({
      message: expect.stringContaining('Did you mean "waiting"?'),
    });
    await expect(crib.approvals.list({ limit: 0 })).rejects.toMatchObject({ code: 'invalid_option' });
  });
});

describe('an approval answered', () => {
  it('a second time: the second approver learns who answered first', async () => {
    const office = await openOffice();
    const id = idOf(await office.pay(3));
    await office.answer(id, 'deny');
    expect(await office.answer(id, 'approve')).toMatchObject({
      error: { code: 'conflict', message: expect.stringContaining('olga denied it') },
    });
    expect(await office.pay(3)).toMatchObject({ error: { code: 'denied' } });
  });

  it('after expiry is refused, and the call makes a new request', async () => {
    const move = stillTime();
    const office = await openOffice();
    const id = idOf(await office.pay(3));
    move(5 * MINUTE);
    expect(await office.answer(id, 'approve')).toMatchObject({
      error: { code: 'conflict', message: expect.stringContaining('expired') },
    });
    expect(await office.pay(3, { approvalId: id })).toMatchObject({
      error: { code: 'denied', message: expect.stringContaining('expired') },
    });
    expect(idOf(await office.pay(3))).not.toBe(id);
  });

  it('and used too late does not run the call', async () => {
    const move = stillTime();
    const office = await openOffice();
    const id = idOf(await office.pay(3));
    await office.answer(id, 'approve');
    move(5 * MINUTE);
    expect(await office.pay(3, { approvalId: id })).toMatchObject({ error: { code: 'denied' } });
    expect(office.paid).toEqual([]);
  });

  it('before the clock went back does not run the call', async () => {
    const move = stillTime();
    const office = await openOffice();
    const id = idOf(await office.pay(3));
    await office.answer(id, 'approve');
    move(-60 * MINUTE);
    expect(await office.pay(3, { approvalId: id })).toMatchObject({ error: { code: 'denied' } });
    expect(office.paid).toEqual([]);
  });
});
