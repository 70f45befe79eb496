import { describe, expect, it } from 'vitest';
import type { Caller } from '../../src/index.ts';
import { OPERATOR } from './payments.ts';
import { mail, openJobs, pay } from './scripts.ts';

const ALICE: Caller = { id: 'alice', roles: ['dev'] };
const BOSS: Caller = { id: 'bea', roles: ['boss'] };
const yes = { decision: 'approve' } as const;
const no = { decision: 'deny' } as const;

describe('inner calls that wait at the same time', () => {
  it('are one request that shows the arguments of each', async () => {
    const { crib, waiting, sealed } = await openJobs();
    const { batch, ids } = await sealed([pay(3), mail(4)]);
    const [request, ...others] = await waiting();
    expect(others).toEqual([]);
    expect(request).toMatchObject({
      id: batch,
      batch,
      state: 'waiting',
      tool: 'job',
      reason: '2 calls inside it require approval',
      caller: { id: 'alice', roles: ['dev'] },
      door: 'rest',
      isParked: true,
      approvers: [],
    });
    const items = request?.items ?? [];
    expect(items.map(({ id }) => id)).toEqual(ids);
    expect(items[0]).toEqual({
      id: ids[0],
      state: 'waiting',
      tool: 'pay',
      title: 'Pay a bill',
      description: 'Pays',
      arguments: { amount: 3 },
      reason: 'it is destructive',
      approvers: [],
      expiresAt: request?.expiresAt,
    });
    expect(request?.arguments).toEqual({ '1 pay': { amount: 3 }, '2 mail': { amount: 4 } });
    expect(await crib.approvals.get(batch)).toEqual(request);
    expect(await crib.approvals.list({ limit: 1 })).toEqual([request]);
    expect(await crib.approvals.get(ids[1] ?? '')).toMatchObject({ id: ids[1], batch, tool: 'mail' });
  });

  it('are answered together, once', async () => {
    const { crib, sealed, stored, waiting } = await openJobs();
    const { batch, ids } = await sealed([pay(3), pay(3), mail(4)]);
    const answered = await crib.approvals.answer(batch, { ...yes, note: 'fine' }, OPERATOR);
    expect(answered).toMatchObject({
      ok: true,
      approval: { id: batch, state: 'approved', answer: { by: 'olga', note: 'fine' } },
    });
    expect([...(await stored.statesOf(ids)).values()]).toEqual(['approved', 'approved', 'approved']);
    expect(await waiting()).toEqual([]);
    for (const decision of [yes, no])
      expect(await crib.approvals.answer(batch, decision, OPERATOR)).toMatchObject({
        error: { code: 'conflict', message: `The approval ${batch} was already answered: olga approved it.` },
      });
  });

  it('are answered one by one, or the rest together', async () => {
    const { crib, sealed, stored, waiting } = await openJobs();
    const { batch, ids } = await sealed([pay(3), pay(4), pay(5)]);
    const [first = '', second = ''] = ids;
    expect(await crib.approvals.answer(first, no, OPERATOR)).toMatchObject({ approval: { id: first, batch } });
    expect(await waiting()).toMatchObject([{ id: batch, state: 'waiting' }]);
    expect((await waiting())[0]?.items).toHaveLength(3);
    expect(await crib.approvals.answer(batch, yes, OPERATOR)).toMatchObject({ ok: true });
    const states = await stored.statesOf(ids);
    expect(ids.map((id) => states.get(id))).toEqual(['denied', 'approved', 'approved']);
    expect(await crib.approvals.answer(second, no, OPERATOR)).toMatchObject({ error: { code: 'conflict' } });
    expect(await crib.approvals.answer(batch, yes, OPERATOR)).toMatchObject({
      error: { code: 'conflict', message: expect.stringContaining('No call of the approval') },
    });
  });

  it('a batch of one is an ordinary request, which its batch names, too', async () => {
    const { crib, sealed, waiting } = await openJobs();
    const { batch, ids } = await sealed([pay(3)]);
    const [request] = await waiting();
    expect(request).toMatchObject({ id: ids[0], batch, tool: 'pay', arguments: { amount: 3 }, inside: ['job'] });
    expect(request).not.toHaveProperty('items');
    expect(await crib.approvals.answer(batch, yes, OPERATOR)).toMatchObject({ approval: { id: ids[0] } });
  });

  it('an approved one runs once, when the script names it', async () => {
    const { crib, sealed, stored, paid } = await openJobs();
    const { batch, ids } = await sealed([pay(3), pay(3)]);
    await crib.approvals.answer(batch, yes, OPERATOR);
    const chest = await crib.open(undefined, ALICE);
    for (const approvalId of ids)
      expect(await chest.call('pay', { amount: 3 }, { approvalId })).toMatchObject({ error: { code: 'denied' } });
    expect(paid).toEqual([]);
    expect([...(await stored.statesOf(ids)).values()]).toEqual(['approved', 'approved']);
  });

  it('two answers at once are not mixed', async () => {
    const { crib, sealed, stored } = await openJobs();
    for (let round = 0; round < 5; round++) {
      const { batch, ids } = await sealed([pay(3), pay(4), pay(5), mail(6)]);
      const outcomes = await Promise.all([
        crib.approvals.answer(batch, yes, OPERATOR),
        crib.approvals.answer(batch, no, { id: 'otto', operator: true }),
      ]);
      expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
      expect(new Set((await stored.statesOf(ids)).values()).size).toBe(1);
    }
  });

  it('a hundred calls with huge arguments are one request, each cut on its own', async () => {
    const { crib, sealed, waiting, stored } = await openJobs();
    const huge = Array.from({ length: 100 }, (_, n) => pay(n, { note: `${n} ${'x'.repeat(20_000)}`, end: n }));
    const { batch, ids } = await sealed(huge);
    const [request, ...others] = await waiting();
    expect(others).toEqual([]);
    expect(request?.items).toHaveLength(100);
    expect(JSON.stringify(request).length).toBeLessThan(200_000);
    for (const item of request?.items ?? []) {
      expect(item.argumentsLength).toBeGreaterThan(20_000);
      expect(item.arguments).toMatchObject({ note: expect.stringContaining('…'), end: expect.any(Number) });
    }
    const whole = await crib.approvals.get(batch);
    expect(whole?.items?.every(({ argumentsLength }) => argumentsLength === undefined)).toBe(true);
    expect(await crib.approvals.answer(batch, yes, OPERATOR)).toMatchObject({ ok: true });
    expect(new Set((await stored.statesOf(ids)).values())).toEqual(new Set(['approved']));
  });

  it('an expired one is over, the others are still answered', async () => {
    const { crib, sealed, stored } = await openJobs();
    const { batch, ids } = await sealed([pay(3), pay(4)]);
    const [first = '', second = ''] = ids;
    await stored.end(first, 'expired');
    expect(await crib.approvals.answer(batch, yes, OPERATOR)).toMatchObject({ ok: true });
    const states = await stored.statesOf(ids);
    expect([states.get(first), states.get(second)]).toEqual(['expired', 'approved']);
  });
});

describe('before its batch is sealed', () => {
  it('a request is neither listed, shown nor answered, by its id or that of its batch', async () => {
    const { crib, begin, stored, waiting } = await openJobs();
    const { batch, ids } = await begin([pay(3), pay(4)]);
    expect(await waiting()).toEqual([]);
    for (const id of [batch, ...ids]) {
      expect(await crib.approvals.get(id)).toBeUndefined();
      expect(await crib.approvals.answer(id, yes, OPERATOR)).toMatchObject({
        error: { code: 'invalid_input', message: `The approval "${id}" was not found.` },
      });
    }
    await stored.sealBatch(batch);
    expect(await waiting()).toHaveLength(1);
  });

  it('a call outside of a tool cannot be put into a batch', async () => {
    const { crib } = await openJobs();
    const chest = await crib.open(undefined, ALICE);
    const result = await chest.call('pay', { amount: 3 }, { park: true, batch: 'x' });
    expect(result).toMatchObject({ error: { code: 'invalid_input', message: expect.stringContaining('"batch"') } });
  });
});

describe('which callers may answer a batch', () => {
  it('a caller that may answer one of its calls answers that one, and not the batch', async () => {
    const { crib, sealed, stored } = await openJobs();
    const { batch, ids } = await sealed([pay(3), mail(4), mail(5)]);
    const [paying = '', mailing = ''] = ids;
    for (const by of [ALICE, BOSS]) {
      expect(await crib.approvals.answer(batch, yes, by)).toMatchObject({
        error: { code: 'denied', message: expect.stringContaining('it may not answer 1 of its 3 calls') },
      });
      expect(await crib.approvals.answer(paying, yes, by)).toMatchObject({ error: { code: 'denied' } });
    }
    expect(await crib.approvals.answer(mailing, yes, ALICE)).toMatchObject({ ok: true });
    expect(await crib.approvals.answer(paying, yes, OPERATOR)).toMatchObject({ ok: true });
    const states = await stored.statesOf(ids);
    expect(ids.map((id) => states.get(id))).toEqual(['approved', 'approved', 'waiting']);
    expect(await crib.approvals.answer(batch, no, BOSS)).toMatchObject({ ok: true }); // what still waits is hers to answer
  });

  it('a caller sees only those calls of a batch that it may answer or has made', async () => {
    const { crib, sealed } = await openJobs();
    const { batch, ids } = await sealed([pay(3), mail(4)]);
    expect(await crib.approvals.list({}, BOSS)).toMatchObject([{ id: ids[1], tool: 'mail' }]);
    expect(await crib.approvals.get(batch, BOSS)).toMatchObject({ id: ids[1] });
    expect(await crib.approvals.list({}, ALICE)).toMatchObject([{ id: batch }]);
    expect(await crib.approvals.list({}, { id: 'mallory' })).toEqual([]);
    expect(await crib.approvals.get(batch, { id: 'mallory' })).toBeUndefined();
    expect(await crib.approvals.answer(batch, yes, { id: 'mallory' })).toMatchObject({ error: { code: 'denied' } });
  });

  it('a caller approves its own calls together only if the text of all of them is short', async () => {
    const { crib, sealed } = await openJobs();
    const long = Array.from({ length: 40 }, (_, n) => ({ tool: 'mail', input: { amount: n, text: 'x'.repeat(480) } }));
    const { batch, ids } = await sealed(long);
    expect(await crib.approvals.get(batch)).toMatchObject({ notByCaller: expect.stringContaining('16384 bytes') });
    expect(await crib.approvals.answer(batch, yes, ALICE)).toMatchObject({
      error: { code: 'denied', message: expect.stringContaining('one by one') },
    });
    expect(await crib.approvals.answer(ids[0] ?? '', yes, ALICE)).toMatchObject({ ok: true });
    const short = await sealed([mail(1), mail(2)]);
    expect(await crib.approvals.answer(short.batch, yes, ALICE)).toMatchObject({ ok: true });
  });

  it('an unknown batch is not found, whatever it is', async () => {
    const { crib } = await openJobs();
    for (const id of ['x.1', '', '\u0000', '\ud800', 'x'.repeat(10_000), "'; DROP TABLE toolcrib_approvals; --"])
      expect(await crib.approvals.answer(id, yes, OPERATOR)).toMatchObject({ error: { code: 'invalid_input' } });
  });
});
