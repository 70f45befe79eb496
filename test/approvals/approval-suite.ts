import { describe, expect, it, vi } from 'vitest';
import { type ApprovalRequest, type Approve, approval } from '../../src/index.ts';
import { manualClock } from '../crib/manual-clock.ts';
import { startProcess } from '../store/start-process.ts';
import { idOf, openOffice } from './payments.ts';

const PAY_AND_HANG = new URL('./processes/pay-and-hang.ts', import.meta.url);

/** What approval promises, on any engine that processes share; `place` names an empty store each time. */
export function approvalSuite(place: () => Promise<string>): void {
  describe("Approval: exactly one request carrying tool, arguments, caller and reason; approved -> runs; denied -> `denied`, not run; timed out -> `denied` saying so. A call waiting in memory whose asker is gone is refused; a parked one stays. A failure after approval is the tool's failure.", () => {
    it('exactly one request, however often and wherever the call is sent', async () => {
      const url = await place();
      const offices = [await openOffice({ url }), await openOffice({ url })];
      const calls = offices.flatMap((office) => [1, 2, 3].map(() => office.pay(3)));
      const ids = (await Promise.all(calls)).map(idOf);
      expect(new Set(ids).size).toBe(1);
      expect(await offices[1]?.waiting()).toEqual([
        {
          id: ids[0],
          state: 'waiting',
          tool: 'pay',
          title: 'Pay a bill',
          description: 'Pays',
          arguments: { amount: 3 },
          caller: { id: 'alice', roles: ['dev'] },
          profile: 'all',
          door: 'cli',
          reason: 'it is destructive',
          approvers: [],
          isParked: true,
          createdAt: expect.any(Number),
          expiresAt: expect.any(Number),
        },
      ]);
    });

    it('approved -> runs, once, and says how it ended', async () => {
      const office = await openOffice({ url: await place() });
      const id = idOf(await office.pay(3));
      expect(await office.answer(id, 'approve')).toMatchObject({ ok: true, approval: { state: 'approved' } });
      expect(office.paid).toEqual([]);
      expect(await office.pay(3, { id: 'call-1' })).toMatchObject({ ok: true });
      expect(office.paid).toEqual([{ amount: 3 }]);
      expect(await office.crib.approvals.get(id)).toMatchObject({
        state: 'done',
        outcome: 'done',
        answer: { decision: 'approve', by: 'olga' },
        claim: { callId: 'call-1' },
      });
      expect(idOf(await office.pay(3))).not.toBe(id);
    });

    it('denied -> denied, not run', async () => {
      const office = await openOffice({ url: await place() });
      const id = idOf(await office.pay(3));
      await office.answer(id, 'deny', 'not on a Friday');
      for (const options of [{}, { approvalId: id }]) {
        expect(await office.pay(3, options)).toMatchObject({
          error: { code: 'denied', message: 'The approver denied "pay": not on a Friday.' },
        });
      }
      expect(office.paid).toEqual([]);
    });

    it('timed out -> denied saying so', async () => {
      const clock = manualClock();
      const office = await openOffice({ url: await place(), extensions: [approval({ clock, timeoutMs: 70_000 })] });
      const { approve, asked } = silentPerson();
      const result = office.pay(3, { as: { id: 'alice', approve } });
      const { id, signal } = await asked;
      clock.advance(70_000);
      expect(await result).toMatchObject({
        error: { code: 'denied', message: expect.stringMatching(/was not answered within 70000 ms/) },
      });
      expect(signal.aborted).toBe(true);
      expect(await office.crib.approvals.get(id)).toMatchObject({ state: 'expired' });
      expect(await office.answer(id, 'approve')).toMatchObject({ error: { code: 'conflict' } });
      expect(clock.count()).toBe(0);
    });

    it('a call waiting in memory whose caller is gone is refused', async () => {
      const office = await openOffice({ url: await place() });
      const { approve, asked } = silentPerson();
      const asker = new AbortController();
      const result = office.pay(3, { as: { id: 'alice', approve }, signal: asker.signal });
      const { id, signal } = await asked;
      expect(await office.waiting()).toMatchObject([{ id, isParked: false }]);
      asker.abort();
      expect(await result).toMatchObject({ error: { code: 'cancelled' } });
      expect(signal.aborted).toBe(true);
      await vi.waitFor(async () => {
        expect(await office.crib.approvals.get(id)).toMatchObject({ state: 'withdrawn' });
      });
      expect(await office.answer(id, 'approve')).toMatchObject({
        error: { code: 'conflict', message: expect.stringContaining('withdrawn') },
      });
    });

    it('a parked one stays, also after a restart, and runs then', async () => {
      const url = await place();
      const before = await openOffice({ url });
      const id = idOf(await before.pay(3));
      await before.crib.close();
      const between = await openOffice({ url });
      expect(await between.waiting()).toMatchObject([{ id }]);
      await between.answer(id, 'approve');
      await between.crib.close();
      const after = await openOffice({ url });
      expect(await after.pay(3, { approvalId: id })).toMatchObject({ ok: true });
      expect(after.paid).toHaveLength(1);
    });

    it("a failure after approval is the tool's failure", async () => {
      const work = () => {
        throw new Error('no money');
      };
      const office = await openOffice({ url: await place(), work });
      const id = idOf(await office.pay(3));
      await office.answer(id, 'approve');
      expect(await office.pay(3)).toMatchObject({ error: { code: 'tool_error', message: 'no money' } });
      expect(await office.crib.approvals.get(id)).toMatchObject({ state: 'done', outcome: 'tool_error' });
    });
  });

  describe('Approval holds on every door and inside scripts, agents and background calls. A person approves what was asked: changed arguments or a changed definition need a new approval.', () => {
    it('on every door', async () => {
      const office = await openOffice({ url: await place() });
      for (const [index, door] of ['rest', 'mcp', 'cli', 'library'].entries()) {
        expect(await office.pay(index, { door })).toMatchObject({ status: 'waiting' });
        expect(await office.pay(index, { door, park: false })).toMatchObject({ status: 'waiting' });
        expect(await office.pay(100 + index, { door, park: false })).toMatchObject({ error: { code: 'denied' } });
      }
      expect(office.paid).toEqual([]);
    });

    it('nested calls: an inner call is parked, and runs when the outer one is sent again', async () => {
      const office = await openOffice({ url: await place() });
      const chest = await office.crib.open(undefined, { id: 'alice' });
      const payAll = () => chest.call('pay_all', {}, { park: true });
      const id = idOf(await payAll());
      expect(idOf(await payAll())).toBe(id);
      await office.answer(id, 'approve');
      expect(await payAll()).toMatchObject({ ok: true });
      expect(office.paid).toEqual([{ amount: 7 }]);
      expect(await payAll()).toMatchObject({ status: 'waiting' });
    });

    it('changed arguments need a new approval', async () => {
      const office = await openOffice({ url: await place() });
      const id = idOf(await office.pay(3));
      await office.answer(id, 'approve');
      expect(await office.pay(3000, { approvalId: id })).toMatchObject({
        error: { code: 'denied', message: expect.stringContaining('other arguments') },
      });
      expect(idOf(await office.pay(3000))).not.toBe(id);
      expect(office.paid).toEqual([]);
    });

    it('a changed definition needs a new approval', async () => {
      const url = await place();
      const before = await openOffice({ url });
      const id = idOf(await before.pay(3));
      await before.answer(id, 'approve');
      const after = await openOffice({ url, tool: { description: 'Pays twice' } });
      expect(await after.pay(3, { approvalId: id })).toMatchObject({
        error: { code: 'denied', message: expect.stringContaining('before it changed') },
      });
      expect(idOf(await after.pay(3))).not.toBe(id);
      expect(after.paid).toEqual([]);
    });
  });

  describe('At most once for what may not be repeated, whatever dies: an approved, parked or background call is claimed atomically before it runs.', () => {
    it('of many that take it up at once, in several processes, one runs', async () => {
      const url = await place();
      const first = await openOffice({ url });
      const offices = [first, await openOffice({ url })];
      for (let round = 1; round <= 4; round++) {
        const id = idOf(await first.pay(round));
        await first.answer(id, 'approve');
        const calls = offices.flatMap((office) => [
          ...[1, 2, 3].map(() => office.pay(round)),
          ...[1, 2, 3].map(() => office.pay(round, { approvalId: id })),
        ]);
        const results = await Promise.all(calls);
        expect(results.filter(({ ok }) => ok)).toHaveLength(1);
        expect(offices.flatMap(({ paid }) => paid)).toHaveLength(round);
      }
    });

    it('a process killed while the tool runs: the call never runs again, and the caller gets unknown_outcome', async () => {
      const url = await place();
      const office = await openOffice({ url });
      const id = idOf(await office.pay(3));
      await office.answer(id, 'approve');
      const other = startProcess(PAY_AND_HANG, [url, id]);
      await other.said(1);
      expect(other.lines).toEqual(['paying {"amount":3}']);
      other.child.kill('SIGKILL');
      expect(await other.ended).toBe('SIGKILL');
      expect(await office.crib.approvals.get(id)).toMatchObject({ state: 'claimed' });
      expect(await office.pay(3, { approvalId: id })).toMatchObject({ error: { code: 'unknown_outcome' } });
      expect(idOf(await office.pay(3))).not.toBe(id);
      expect(office.paid).toEqual([]);
    });
  });

  describe('the first answer wins everywhere', () => {
    it("an answer through another process reaches the waiting call, and the host's approver is told", async () => {
      const url = await place();
      const clock = manualClock();
      const office = await openOffice({ url, extensions: [approval({ clock })] });
      const other = await openOffice({ url });
      const { approve, asked } = silentPerson();
      const result = office.pay(3, { as: { id: 'alice', approve } });
      const { id, signal } = await asked;
      await other.answer(id, 'approve');
      clock.advance(500);
      expect(await result).toMatchObject({ ok: true });
      expect(signal.aborted).toBe(true);
      expect(office.paid).toHaveLength(1);
      expect(clock.count()).toBe(0);
    });

    it("the host's approver cannot overrule an earlier no of an operator", async () => {
      const url = await place();
      const clock = manualClock();
      const office = await openOffice({ url, extensions: [approval({ clock })] });
      const other = await openOffice({ url });
      const { approve, asked, say } = silentPerson();
      const result = office.pay(3, { as: { id: 'alice', approve } });
      const { id } = await asked;
      await other.answer(id, 'deny', 'no');
      say(true);
      expect(await result).toMatchObject({ error: { code: 'denied', message: 'The approver denied "pay": no.' } });
      expect(office.paid).toEqual([]);
    });
  });
}

/** An approver that answers later. */
function silentPerson() {
  const asked = Promise.withResolvers<ApprovalRequest>();
  const answer = Promise.withResolvers<boolean>();
  const approve: Approve = (request) => {
    asked.resolve(request);
    return answer.promise;
  };
  return { approve, asked: asked.promise, say: answer.resolve };
}
