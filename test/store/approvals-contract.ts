import { describe, expect, it } from 'vitest';
import { MAX_REMEMBER_MS } from '../../src/core/ports/remember.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { NewApproval, StoredApprovals } from '../../src/core/ports/stored-approvals.ts';
import type { KeepBounds } from '../../src/core/ports/stored-results.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';

type Opened = (options?: Partial<StoreOptions>) => Promise<Store>;

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOON = 1_700_000_000_000;

/** A request of alice to pay 3. */
export function payment(changes: Partial<NewApproval> = {}): NewApproval {
  return {
    callerId: 'alice',
    callerHash: 'dev',
    profile: 'desk',
    tool: 'pay',
    definitionHash: 'definition',
    argumentsHash: 'three',
    reason: 'it is destructive',
    ground: 'destructive',
    description: 'Pays',
    arguments: { amount: 3 },
    caller: { id: 'alice', roles: ['dev'] },
    unlisted: { caller: { id: 'alice', roles: ['dev'] } },
    door: 'cli',
    approvers: [],
    isParked: true,
    lifetimeMs: 5 * MINUTE,
    ...changes,
  };
}

/** Bounds that no test reaches which is not about them. */
export const AMPLE: KeepBounds = {
  maxPerCaller: 10_000,
  maxBytesPerCaller: 1_000_000_000,
  maxTotal: 100_000,
  maxTotalBytes: 10_000_000_000,
};

/** Adds a request for which there is room. */
export async function addTo(approvals: StoredApprovals, request: NewApproval) {
  const added = await approvals.add(request, AMPLE);
  if (!added.ok) throw new Error(`no room: ${added.broken}`);
  return added;
}

/** What no answer to that request counts for. */
const ELSE: readonly Partial<NewApproval>[] = [
  { callerId: 'mallory' },
  { profile: 'all' },
  { tool: 'play' },
  { definitionHash: 'changed' },
];

const yes = { decision: 'approve', by: 'bob' } as const;
const no = { decision: 'deny', by: 'bob' } as const;

/** What every store keeps to about approvals. */
export function approvalsContract(opened: Opened, place: () => Promise<string>): void {
  const parked = async (options?: Partial<StoreOptions>, changes?: Partial<NewApproval>) => {
    const { approvals } = await opened(options);
    const { approval } = await addTo(approvals, payment(changes));
    return { approvals, id: approval.id, approval };
  };

  it('keeps a request with everything that an approver should see', async () => {
    const { approvals, id } = await parked({ now: () => NOON }, { title: 'Pay', conversation: 'talk' });
    expect(id).toMatch(/^[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}$/);
    const request = payment({ title: 'Pay', conversation: 'talk' });
    expect(await approvals.get(id)).toEqual({
      ...request,
      id,
      state: 'waiting',
      createdAt: NOON,
      expiresAt: NOON + 5 * MINUTE,
    });
  });

  it('returns every text unchanged', async () => {
    const odd = `? $1 'a' "b" \\ \u0000 \ud800 \u{1f527}\n'); DROP TABLE toolcrib_approvals; --`;
    const changes = {
      callerId: odd,
      tool: odd,
      conversation: odd,
      ground: odd,
      reason: odd,
      arguments: { [odd]: odd },
    };
    const { approvals, id } = await parked({}, changes);
    await approvals.answer(id, { decision: 'approve', by: odd, note: odd, remember: 'conversation' });
    expect(await approvals.get(id)).toMatchObject({ ...changes, answer: { by: odd, note: odd } });
    expect(await approvals.find(payment(changes))).toMatchObject({ id });
    expect(await approvals.remembered(payment(changes))).toEqual([{ id, by: odd }]);
  });

  it('has no approval under an invalid id', async () => {
    const { approvals } = await parked();
    const odd = ['', 'no', '0000-0000-000', '0000-0000-0000 ', '\u0000', 'x'.repeat(100_000), `' OR 1 = 1 --`];
    for (const id of [...odd, '0000-0000-0000']) {
      expect(await approvals.get(id)).toBeUndefined();
      expect(await approvals.answer(id, yes)).toBeUndefined();
      expect(await approvals.claim(id, payment(), 'call')).toBeUndefined();
      expect(await approvals.forget(id)).toBe(false);
    }
  });

  it('the first answer wins', async () => {
    const { approvals, id } = await parked({ now: () => NOON });
    expect(await approvals.answer(id, { ...no, note: 'too much' })).toMatchObject({ state: 'denied' });
    expect(await approvals.answer(id, yes)).toBeUndefined();
    expect(await approvals.get(id)).toMatchObject({
      state: 'denied',
      answer: { decision: 'deny', by: 'bob', note: 'too much', at: NOON },
    });
  });

  it('is claimed once, and records by which call and how that ended', async () => {
    const { approvals, id } = await parked({ now: () => NOON });
    expect(await approvals.claim(id, payment(), 'early')).toBeUndefined();
    await approvals.answer(id, yes);
    expect(await approvals.claim(id, payment(), 'one')).toMatchObject({ state: 'claimed' });
    expect(await approvals.claim(id, payment(), 'two')).toBeUndefined();
    await approvals.finish(id, 'tool_error');
    await approvals.finish(id, 'done');
    expect(await approvals.get(id)).toMatchObject({
      state: 'done',
      claim: { callId: 'one', at: NOON },
      outcome: 'tool_error',
    });
    expect(await approvals.claim(id, payment(), 'three')).toBeUndefined();
  });

  it('an answer can claim it in the same step', async () => {
    const { approvals, id } = await parked();
    expect(await approvals.answer(id, yes, 'one')).toMatchObject({ state: 'claimed', claim: { callId: 'one' } });
    expect(await approvals.claim(id, payment(), 'two')).toBeUndefined();
    const { approval } = await addTo(approvals, payment());
    expect(await approvals.answer(approval.id, no, 'one')).toMatchObject({ state: 'denied' });
  });

  it('is neither found nor claimed for any other call', async () => {
    const { approvals, id } = await parked();
    await approvals.answer(id, yes);
    const others: readonly Partial<NewApproval>[] = [...ELSE, { callerId: '' }, { argumentsHash: 'three thousand' }];
    for (const changes of others) {
      expect(await approvals.find(payment(changes)), JSON.stringify(changes)).toBeUndefined();
      expect(await approvals.claim(id, payment(changes), 'call'), JSON.stringify(changes)).toBeUndefined();
    }
    expect(await approvals.claim(id, payment(), 'call')).toMatchObject({ id });
  });

  it('there is one parked request per call, while it waits or is approved', async () => {
    const { approvals, id } = await parked();
    expect(await addTo(approvals, payment())).toMatchObject({ isNew: false, approval: { id, state: 'waiting' } });
    await approvals.answer(id, yes);
    expect(await addTo(approvals, payment())).toMatchObject({ isNew: false, approval: { id, state: 'approved' } });
    await approvals.claim(id, payment(), 'one');
    expect(await approvals.find(payment())).toBeUndefined();
    expect(await addTo(approvals, payment())).toMatchObject({ isNew: true });
    const added = await Promise.all(
      Array.from({ length: 20 }, () => addTo(approvals, payment({ argumentsHash: 'others' }))),
    );
    expect(added.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(added.map(({ approval }) => approval.id)).size).toBe(1);
  });

  it('requests that a process waits for in memory may be several, and are not found by others', async () => {
    const { approvals } = await parked({}, { isParked: false });
    expect(await addTo(approvals, payment({ isParked: false }))).toMatchObject({ isNew: true });
    expect(await approvals.find(payment())).toBeUndefined();
  });

  it('a denied one is found until it expires, and blocks a new one no longer than that', async () => {
    let now = NOON;
    const { approvals, id } = await parked({ now: () => now });
    await approvals.answer(id, no);
    expect(await approvals.find(payment())).toMatchObject({ id, state: 'denied' });
    now += 5 * MINUTE;
    expect(await approvals.find(payment())).toBeUndefined();
    expect(await approvals.get(id)).toMatchObject({ state: 'denied' });
  });

  it('only a waiting one is withdrawn', async () => {
    const { approvals, id } = await parked();
    expect(await approvals.end(id, 'withdrawn')).toBe(true);
    expect(await approvals.end(id, 'expired')).toBe(false);
    expect(await approvals.answer(id, yes)).toBeUndefined();
    expect(await approvals.get(id)).toMatchObject({ state: 'withdrawn' });
  });

  describe('time', () => {
    it('no answer counts after expiry', async () => {
      let now = NOON;
      const { approvals, id } = await parked({ now: () => now });
      now = NOON + 5 * MINUTE;
      expect(await approvals.answer(id, yes)).toBeUndefined();
      expect(await approvals.get(id)).toMatchObject({ state: 'expired' });
      expect(await approvals.find(payment())).toBeUndefined();
      expect(await addTo(approvals, payment())).toMatchObject({ isNew: true });
    });

    it('an approval can be claimed as long as there was time to answer, and not later', async () => {
      let now = NOON;
      const { approvals, id } = await parked({ now: () => now });
      now = NOON + 4 * MINUTE;
      expect(await approvals.answer(id, yes)).toMatchObject({ expiresAt: NOON + 9 * MINUTE });
      now = NOON + 9 * MINUTE;
      expect(await approvals.claim(id, payment(), 'late')).toBeUndefined();
      expect(await approvals.get(id)).toMatchObject({ state: 'expired' });
    });

    it.each([
      ['answered', 0],
      ['taken up', 1],
    ])('an expired request stays expired when the clock is set back: %s', async (_, isApproved) => {
      let now = NOON;
      const { approvals, id } = await parked({ now: () => now });
      if (isApproved) await approvals.answer(id, yes);
      now = NOON + 20 * MINUTE;
      await (isApproved ? approvals.claim(id, payment(), 'late') : approvals.answer(id, yes));
      now = NOON;
      expect(await approvals.answer(id, yes)).toBeUndefined();
      expect(await approvals.claim(id, payment(), 'again')).toBeUndefined();
    });

    it('a clock that is set back far extends nothing', async () => {
      let now = NOON;
      const { approvals, id } = await parked({ now: () => now });
      await approvals.answer(id, { ...yes, remember: 'arguments' });
      now = NOON - DAY;
      expect(await approvals.remembered(payment())).toEqual([]);
      expect(await approvals.find(payment())).toBeUndefined();
      expect(await approvals.get(id)).toMatchObject({ state: 'expired' });
      expect(await approvals.list({ state: 'approved', limit: 10 })).toEqual([]);
      expect(await approvals.list({ state: 'expired', limit: 10 })).toMatchObject([{ id, state: 'expired' }]);
      expect(await approvals.claim(id, payment(), 'early')).toBeUndefined();
      expect(await approvals.get(id)).toMatchObject({ state: 'expired' });
    });

    it('clocks of two machines may differ a little', async () => {
      let now = NOON;
      const { approvals, id } = await parked({ now: () => now });
      now = NOON - 1000;
      expect(await approvals.answer(id, yes)).toMatchObject({ state: 'approved' });
      expect(await approvals.claim(id, payment(), 'one')).toMatchObject({ state: 'claimed' });
    });
  });

  describe('listing', () => {
    it('returns requests by state, oldest first, and the newest if there are too many', async () => {
      let now = NOON;
      const { approvals } = await opened({ now: () => now });
      const ids: string[] = [];
      for (const argumentsHash of ['a', 'b', 'c', 'd', 'e']) {
        now += 1000;
        ids.push((await addTo(approvals, payment({ argumentsHash }))).approval.id);
      }
      const [a = '', b = '', c = '', d = '', e = ''] = ids;
      await approvals.answer(a, yes);
      await approvals.answer(b, no);
      await approvals.answer(c, yes, 'call');
      const idsOf = async (state?: 'waiting' | 'approved' | 'denied' | 'expired' | 'claimed', limit = 10) =>
        (await approvals.list({ limit, ...(state !== undefined && { state }) })).map(({ id }) => id);
      expect(await idsOf()).toEqual(ids);
      expect(await idsOf(undefined, 2)).toEqual([d, e]);
      expect(await idsOf('waiting')).toEqual([d, e]);
      expect(await idsOf('approved')).toEqual([a]);
      expect(await idsOf('denied')).toEqual([b]);
      expect(await idsOf('claimed')).toEqual([c]);
      const before = { id: c, createdAt: now - 2000 };
      expect(await approvals.list({ before, limit: 1 })).toMatchObject([{ id: b }]);
      expect(await approvals.list({ callerId: 'alice', limit: 10 })).toHaveLength(5);
      expect(await approvals.list({ callerId: 'bob', limit: 10 })).toEqual([]);
      expect(await idsOf('expired')).toEqual([]);
      now += 60 * MINUTE;
      expect(await idsOf('waiting')).toEqual([]);
      expect(await idsOf('expired')).toEqual([a, d, e]);
    });

    it('ended requests are removed in time, answered ones later than unanswered ones', async () => {
      let now = NOON;
      const { approvals, id } = await parked({ now: () => now });
      const { approval } = await addTo(approvals, payment({ argumentsHash: 'other' }));
      await approvals.answer(approval.id, yes, 'call');
      const addMany = async () => {
        for (let count = 0; count < 100; count++) await addTo(approvals, payment({ argumentsHash: `new ${count}` }));
      };
      now += 2 * DAY;
      await addMany();
      expect(await approvals.get(id)).toBeUndefined();
      expect(await approvals.get(approval.id)).toMatchObject({ state: 'claimed' });
      now += 30 * DAY;
      await addMany();
      expect(await approvals.get(approval.id)).toBeUndefined();
    });
  });

  describe('a remembered approval', () => {
    const remembering = async (remember: 'conversation' | 'arguments' | { forMs: number }, now = () => NOON) => {
      const { approvals, id } = await parked({ now }, { conversation: 'talk' });
      await approvals.answer(id, { ...yes, remember });
      const counts = async (changes: Partial<NewApproval>) => (await approvals.remembered(payment(changes))).length > 0;
      return { approvals, id, counts };
    };
    const talk = { conversation: 'talk' };
    const others = { argumentsHash: 'others' };

    it('for this conversation counts for other arguments in it', async () => {
      const { approvals, id, counts } = await remembering('conversation');
      expect(await approvals.remembered(payment({ ...talk, ...others }))).toEqual([{ id, by: 'bob' }]);
      expect(await counts({})).toBe(false);
      expect(await counts({ conversation: 'another' })).toBe(false);
    });

    it('for these arguments counts in every conversation', async () => {
      const { counts } = await remembering('arguments');
      expect(await counts({})).toBe(true);
      expect(await counts(others)).toBe(false);
    });

    it('for a time counts for everything, and ends', async () => {
      let now = NOON;
      const { counts } = await remembering({ forMs: MINUTE }, () => now);
      expect(await counts({ ...others, conversation: 'another' })).toBe(true);
      now += MINUTE;
      expect(await counts({})).toBe(false);
    });

    it.each(['conversation', 'arguments', { forMs: 100 * DAY }] as const)('%j ends after 30 days', async (remember) => {
      let now = NOON;
      const { counts } = await remembering(remember, () => now);
      now += MAX_REMEMBER_MS - 1;
      expect(await counts(talk)).toBe(true);
      now += 1;
      expect(await counts(talk)).toBe(false);
    });

    it.each(['conversation', 'arguments', { forMs: DAY }] as const)(
      '%j never counts for another caller, profile, tool, definition or reason',
      async (remember) => {
        const { counts } = await remembering(remember);
        expect(await counts(talk)).toBe(true);
        for (const changes of [...ELSE, { ground: 'a rule' }])
          expect(await counts({ ...talk, ...changes }), JSON.stringify(changes)).toBe(false);
      },
    );

    it('has no effect for a caller without an id', async () => {
      const { approvals, id } = await parked({}, { callerId: '', ...talk });
      await approvals.answer(id, { ...yes, remember: 'arguments' });
      expect(await approvals.remembered(payment({ callerId: '', ...talk }))).toEqual([]);
    });

    it('is not remembered if another answer was first, or it was a denial', async () => {
      const { approvals, id } = await parked();
      await approvals.answer(id, { ...no, remember: 'arguments' });
      await approvals.answer(id, { ...yes, remember: 'arguments' });
      expect(await approvals.remembered(payment())).toEqual([]);
    });

    it('can be forgotten', async () => {
      const { approvals, id, counts } = await remembering('arguments');
      expect(await approvals.forget(id)).toBe(true);
      expect(await approvals.forget(id)).toBe(false);
      expect(await counts({})).toBe(false);
    });
  });

  it('tells listeners about answers given through it', async () => {
    const { approvals, id } = await parked();
    const heard: string[] = [];
    const stop = approvals.onAnswer((answered) => heard.push(answered));
    await approvals.answer(id, yes);
    await approvals.answer(id, no);
    stop();
    const { approval } = await addTo(approvals, payment({ argumentsHash: 'others' }));
    await approvals.answer(approval.id, yes);
    expect(heard).toEqual([id]);
  });

  it('of many concurrent answers and claims over several connections, one succeeds', async () => {
    const url = await place();
    const first = await opened({ url });
    const stores = url === 'memory:' ? [first, first] : [first, await opened({ url })];
    for (let round = 0; round < 8; round++) {
      const subject = payment({ argumentsHash: `round ${round}` });
      const added = await Promise.all(stores.map(({ approvals }) => addTo(approvals, subject)));
      const [id = '', ...rest] = new Set(added.map(({ approval }) => approval.id));
      expect(rest).toEqual([]);
      const replies = stores.flatMap(({ approvals }) => [yes, no, yes].map((reply) => approvals.answer(id, reply)));
      const answered = (await Promise.all(replies)).filter((one) => one !== undefined);
      expect(answered).toHaveLength(1);
      const claims = stores.flatMap(({ approvals }) =>
        ['one', 'two', 'three'].map((callId) => approvals.claim(id, subject, callId)),
      );
      const claimed = (await Promise.all(claims)).filter((one) => one !== undefined);
      expect(claimed).toHaveLength(answered[0]?.state === 'approved' ? 1 : 0);
    }
  });
}
