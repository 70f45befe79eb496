import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import type { NewApproval, StoredApprovals } from '../../src/core/ports/stored-approvals.ts';
import { type KeepBounds, RESERVED_BYTES } from '../../src/core/ports/stored-results.ts';
import { done } from '../../src/core/tool-result.ts';
import { openEngine } from '../../src/store/engines/open-engine.ts';
import { sql } from '../../src/store/engines/sql-engine.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';
import { migrate } from '../../src/store/open-store.ts';
import { ownerKey } from '../../src/store/repeats.ts';
import { MIGRATIONS } from '../../src/store/tables.ts';
import { AMPLE, addTo, payment } from './approvals-contract.ts';

type Place = () => Promise<string>;
type Opened = (options?: Partial<StoreOptions>) => Promise<Store>;

const NOON = 1_700_000_000_000;
const DAY = 86_400_000;
const yes = { decision: 'approve', by: 'bob' } as const;
const no = { decision: 'deny', by: 'bob' } as const;

let requests = 0;
/** Another request of a caller each time, of about this many bytes. */
function another(callerId: string, bytes = 0): NewApproval {
  const hash = String(++requests);
  return payment({ callerId, caller: { id: callerId }, argumentsHash: hash, arguments: { note: 'x'.repeat(bytes) } });
}

/** What makes room again: an approval that is over, in every way. */
const ENDINGS: readonly (readonly [string, (approvals: StoredApprovals, id: string) => Promise<unknown>])[] = [
  ['a no', (approvals, id) => approvals.answer(id, no)],
  ['the caller that is gone', (approvals, id) => approvals.end(id, 'withdrawn')],
  ['a caller that noted the expiry', (approvals, id) => approvals.end(id, 'expired')],
  [
    'the end of a call that took up the yes in the same step',
    async (approvals, id) => {
      await approvals.answer(id, yes, 'call');
      await approvals.finish(id, 'done');
    },
  ],
];

/** What every store keeps to about bounds on requests that wait. */
export function approvalBoundsContract(opened: Opened, place: Place, emptyPlace: Place): void {
  it.each([
    ['maxPerCaller', { maxPerCaller: 3 }, 'maxPerCaller'],
    ['maxBytesPerCaller', { maxBytesPerCaller: 40_000 }, 'maxBytesPerCaller'],
    ['maxTotal', { maxTotal: 3 }, 'maxTotal'],
    ['maxTotalBytes', { maxTotalBytes: 40_000 }, 'maxTotalBytes'],
  ] as const)('%s limits the waiting requests of one caller', async (_, some, broken) => {
    const { approvals } = await opened();
    const bounds = { ...AMPLE, ...some };
    for (let count = 0; count < 3; count++)
      expect(await approvals.add(another('alice', 10_000), bounds)).toMatchObject({ ok: true, isNew: true });
    expect(await approvals.add(another('alice', 10_000), bounds)).toEqual({ ok: false, broken });
    expect(await approvals.list({ limit: 10 })).toHaveLength(3);
    const others = await approvals.add(another('bob', 10_000), bounds);
    expect(others).toMatchObject(broken.startsWith('maxTotal') ? { ok: false, broken } : { ok: true });
  });

  it('callers are counted separately, whatever their ids', async () => {
    const { approvals } = await opened();
    const bounds = { ...AMPLE, maxPerCaller: 1 };
    const ids = ['', 'alice', 'Alice', 'alice ', '\u0000', '\ud800', '\ud801', `' OR 1 = 1 --`, 'x'.repeat(100_000)];
    for (const id of ids) expect(await approvals.add(another(id), bounds)).toMatchObject({ ok: true });
    for (const id of ids) expect(await approvals.add(another(id), bounds)).toMatchObject({ ok: false });
  });

  it.each(ENDINGS)('%s makes room again', async (_, end) => {
    const { approvals } = await opened();
    const bounds = { ...AMPLE, maxPerCaller: 1 };
    const { approval } = await addTo(approvals, another('alice'));
    expect(await approvals.add(another('alice'), bounds)).toMatchObject({ ok: false });
    await end(approvals, approval.id);
    expect(await approvals.add(another('alice'), bounds)).toMatchObject({ ok: true });
  });

  it('an approval keeps its place until the call that claimed it has ended', async () => {
    const { approvals } = await opened();
    const bounds = { ...AMPLE, maxPerCaller: 1 };
    const request = another('alice');
    const { approval } = await addTo(approvals, request);
    await approvals.answer(approval.id, yes);
    expect(await approvals.add(another('alice'), bounds)).toMatchObject({ ok: false });
    await approvals.claim(approval.id, request, 'call');
    expect(await approvals.add(another('alice'), bounds)).toMatchObject({ ok: false });
    await approvals.finish(approval.id, 'done');
    expect(await approvals.add(another('alice'), bounds)).toMatchObject({ ok: true });
  });

  it.each([
    ['maxPerCaller', { maxPerCaller: 3 }],
    ['maxBytesPerCaller', { maxBytesPerCaller: 40_000 }],
    ['maxTotal', { maxTotal: 3 }],
    ['maxTotalBytes', { maxTotalBytes: 40_000 }],
  ] as const)('%s holds, however often an approval is claimed and released', async (broken, some) => {
    const { approvals } = await opened();
    const bounds: KeepBounds = { ...AMPLE, ...some };
    const ways = [
      async (id: string, request: NewApproval) => {
        await approvals.answer(id, yes);
        await approvals.claim(id, request, 'call');
      },
      (id: string) => approvals.answer(id, yes, 'call'),
    ];
    for (const take of ways) {
      const taken: string[] = [];
      for (let round = 0; round < 4; round++) {
        const request = another('alice', 10_000);
        const added = await approvals.add(request, bounds);
        if (!added.ok) expect(added).toEqual({ ok: false, broken });
        else {
          await take(added.approval.id, request);
          taken.push(added.approval.id);
        }
      }
      expect(taken).toHaveLength(3);
      for (const id of taken) expect(await approvals.giveBack(id)).toBe(true);
      expect(await approvals.add(another('alice', 10_000), bounds)).toEqual({ ok: false, broken });
      expect(await approvals.list({ state: 'approved', limit: 10 })).toHaveLength(3);
      for (const { id } of await approvals.list({ state: 'approved', limit: 10 })) {
        const request = await approvals.get(id);
        if (request !== undefined) await approvals.claim(id, request, 'call');
        await approvals.finish(id, 'done');
      }
    }
  });

  it('a call that runs on after its approval expired holds no place, and what it releases has expired', async () => {
    let now = NOON;
    const { approvals } = await opened({ now: () => now });
    const bounds = { ...AMPLE, maxPerCaller: 1 };
    const { approval } = await addTo(approvals, another('alice'));
    await approvals.answer(approval.id, yes, 'call');
    now += 6 * 60_000;
    expect(await approvals.add(another('alice'), bounds)).toMatchObject({ ok: true });
    await approvals.giveBack(approval.id);
    expect(await approvals.stateOf(approval.id)).toBe('expired');
    expect(await approvals.add(another('alice'), bounds)).toMatchObject({ ok: false });
    expect(await approvals.list({ state: 'approved', limit: 10 })).toEqual([]);
  });

  it.each([
    ['time', 6 * 60_000],
    ['a clock that was set back', -DAY],
  ])('%s makes room again, even if no process recorded it', async (_, passed) => {
    let now = NOON;
    const { approvals } = await opened({ now: () => now });
    const bounds = { ...AMPLE, maxTotal: 2 };
    await addTo(approvals, another('alice'));
    const { approval } = await addTo(approvals, another('bob'));
    await approvals.answer(approval.id, yes);
    expect(await approvals.add(another('alice'), bounds)).toMatchObject({ ok: false });
    now += passed;
    expect(await approvals.add(another('alice'), bounds)).toMatchObject({ ok: true });
    expect(await approvals.add(another('alice'), bounds)).toMatchObject({ ok: true });
    expect(await approvals.add(another('alice'), bounds)).toMatchObject({ ok: false });
  });

  it('the same request is found even if there is no room for another', async () => {
    const { approvals } = await opened();
    const bounds = { ...AMPLE, maxPerCaller: 1 };
    const request = another('alice');
    const { approval } = await addTo(approvals, request);
    expect(await approvals.add(request, bounds)).toMatchObject({
      ok: true,
      isNew: false,
      approval: { id: approval.id },
    });
  });

  it.each([
    ['of one caller', { maxBytesPerCaller: 35_000 }, ['mine 2', 'mine 3', 'others 1']],
    ['of all callers', { maxTotalBytes: 35_000 }, ['mine 3', 'others 1']],
  ] as const)('stored results %s: returned ones are dropped first, then the oldest', async (_, some, left) => {
    let now = NOON;
    const { approvals } = await opened({ now: () => now++ });
    const bounds: KeepBounds = { ...AMPLE, ...some };
    const end = async (callId: string, bytes: number, isHandedOver = false) => {
      const request = { ...another(callId.split(' ')[0] ?? ''), parked: { callId } };
      const { approval } = await addTo(approvals, request);
      await approvals.answer(approval.id, yes);
      await approvals.claim(approval.id, request, callId);
      await approvals.finish(approval.id, 'done', { result: done('x'.repeat(bytes)), isHandedOver, bounds });
      return request;
    };
    const first = await end('mine 1', 10_000);
    await end('mine 2', 15_000);
    await end('others 1', 10_000);
    await end('mine handed', 5_000, true);
    await end('mine 3', 15_000);
    const calls = ['mine 1', 'mine 2', 'mine 3', 'mine handed', 'others 1'];
    const kept = await Promise.all(calls.map(async (call) => (await approvals.ofCall(call))?.result?.ok === true));
    expect(calls.filter((_, index) => kept[index])).toEqual(left);
    const dropped = await approvals.find(first); // the same call sent again is told so once, then it is a new one
    expect(await approvals.takeResult(dropped?.id ?? '', 'first')).toMatchObject({ error: { code: 'too_large' } });
    expect(await approvals.find(first)).toBeUndefined();
    expect(await approvals.ofCall('mine handed')).not.toHaveProperty('result');
    expect(await approvals.ofCall('mine 1')).toMatchObject({ approval: { state: 'done', outcome: 'done' } });
  });

  it.each([
    ['in number', { maxPerCaller: 7 }, 7],
    ['in all', { maxTotal: 7 }, 7],
    ['in bytes', { maxBytesPerCaller: 78_000 }, 7],
  ] as const)('many concurrent requests over several connections do not exceed a limit %s', async (_, some, most) => {
    const url = await place();
    const bounds: KeepBounds = { ...AMPLE, ...some };
    const stores = await Promise.all(Array.from({ length: url === 'memory:' ? 1 : 3 }, () => opened({ url })));
    const adding = stores.flatMap(({ approvals }) =>
      Array.from({ length: 10 }, () => approvals.add(another('alice', 10_000), bounds)),
    );
    const added = await Promise.all(adding);
    expect(added.filter(({ ok }) => ok)).toHaveLength(most);
    expect(await stores[0]?.approvals.list({ state: 'waiting', limit: 100 })).toHaveLength(most);
  });

  describe('long arguments', () => {
    const long = { path: '/etc/passwd', text: 'y'.repeat(1_000_000), list: Array.from({ length: 1000 }, (_, n) => n) };
    const cut = {
      argumentsLength: JSON.stringify(long).length,
      arguments: { path: '/etc/passwd', text: `${'y'.repeat(200)}… (1000000 characters)` },
    };

    it('are cut in lists and states of calls, and complete in one request', async () => {
      const { approvals } = await opened();
      const request = payment({ arguments: long, parked: { callId: 'call' } });
      const { approval } = await addTo(approvals, request);
      expect(approval.arguments).toEqual(long);
      const [listed] = await approvals.list({ limit: 1 });
      expect(listed).toMatchObject(cut);
      expect(JSON.stringify(listed).length).toBeLessThan(8000);
      expect(await approvals.ofCall('call')).toMatchObject({ approval: cut });
      const one = await approvals.get(approval.id);
      expect(one?.arguments).toEqual(long);
      expect(one).not.toHaveProperty('argumentsLength');
      expect((await approvals.find(request))?.arguments).toEqual(long);
      await approvals.answer(approval.id, yes);
      expect((await approvals.claim(approval.id, request, 'call'))?.arguments).toEqual(long);
    });

    it('keep only their cut form when the request has ended', async () => {
      const { approvals } = await opened();
      for (const [name, end] of ENDINGS) {
        const { approval } = await addTo(approvals, another('alice', 1_000_000));
        await end(approvals, approval.id);
        await approvals.finish(approval.id, 'done');
        expect(await approvals.get(approval.id), name).toMatchObject({ argumentsLength: 1_000_011 });
      }
    });

    it('and so do answers to questions of the tool, and its state', async () => {
      const { approvals } = await opened();
      const inputResponses = { amount: { note: 'y'.repeat(1_000_000) } };
      for (const [name, end] of ENDINGS)
        for (const bytes of [0, 100_000]) {
          const inputState = 's'.repeat(1_000_000);
          const request = another('alice', bytes);
          const unlisted = { ...request.unlisted, inputState };
          const { approval } = await addTo(approvals, { ...request, answersHash: 'a', inputResponses, unlisted });
          const whole = await approvals.get(approval.id);
          expect(whole).toMatchObject({ arguments: request.arguments, inputResponses, unlisted: { inputState } });
          expect(whole).not.toHaveProperty('argumentsLength');
          await end(approvals, approval.id);
          await approvals.finish(approval.id, 'done');
          const over = await approvals.get(approval.id);
          expect(JSON.stringify(over).length, name).toBeLessThan(20_000);
          expect(over?.inputResponses).toHaveProperty('amount');
        }
    });

    it('short ones are unchanged everywhere', async () => {
      const { approvals } = await opened();
      const { approval } = await addTo(approvals, payment({ arguments: { note: 'z'.repeat(3000) } }));
      const [listed] = await approvals.list({ limit: 1 });
      expect(listed?.arguments).toEqual({ note: 'z'.repeat(3000) });
      expect(listed).not.toHaveProperty('argumentsLength');
      await approvals.answer(approval.id, no);
      expect((await approvals.get(approval.id))?.arguments).toEqual({ note: 'z'.repeat(3000) });
    });

    it('of requests of an older version are moved', async () => {
      const url = await emptyPlace();
      if (url === 'memory:') return; // it ends with the process
      const odd = `? 'a' "b" \\ \u0000 \ud800 \u{1f527}\n`;
      const strange = `? 'a' "b" \\ \u{1f527}\n{},"arguments":{}`;
      const arguments_ = { strange, text: 'y'.repeat(100_000), numbers: [1.5, -0.1, 1e21] };
      const { engine } = await openEngine({ url, env: {} });
      onTestFinished(() => engine.close());
      await migrate(engine, MIGRATIONS.slice(0, 10));
      const { callerId, definitionHash, argumentsHash, ground, lifetimeMs, ...said } = payment();
      const subject = JSON.stringify({ callerId, definitionHash, argumentsHash, ground });
      const write = (id: string, given: object) => sql`
        INSERT INTO toolcrib_approvals
          (id, state, binding, is_parked, created_at, expires_at, lifetime_ms, request, subject)
        VALUES (${id}, 'waiting', ${id}, 1, ${NOON}, ${NOON + lifetimeMs}, ${lifetimeMs},
          ${JSON.stringify({ ...said, arguments: given, description: strange })}, ${subject})`;
      await engine.write([write('0000-0000-0001', arguments_), write('0000-0000-0002', { odd })]);
      const { approvals } = await opened({ url, now: () => NOON });
      expect((await approvals.get('0000-0000-0001'))?.arguments).toEqual(arguments_);
      expect((await approvals.get('0000-0000-0002'))?.arguments).toEqual({ odd });
      const listed = await approvals.list({ ids: ['0000-0000-0001'], limit: 10 });
      expect(listed).toMatchObject([{ description: strange, arguments: {}, argumentsLength: expect.any(Number) }]);
      expect(JSON.stringify(listed).length).toBeLessThan(2000);
    });
  });

  it('states and requests are read by id without unrequested parts', async () => {
    const { approvals } = await opened();
    const [first, second] = [await addTo(approvals, another('alice')), await addTo(approvals, another('bob'))];
    await approvals.answer(second.approval.id, yes);
    expect(await approvals.stateOf(first.approval.id)).toBe('waiting');
    expect(await approvals.stateOf('0000-0000-0000')).toBeUndefined();
    expect(await approvals.stateOf('\u0000')).toBeUndefined();
    const states = [
      { id: first.approval.id, state: 'waiting' },
      { id: second.approval.id, state: 'approved' },
    ];
    expect(new Set(await approvals.states(10))).toEqual(new Set(states));
    expect(await approvals.states(1)).toHaveLength(1);
    expect(await approvals.list({ ids: [first.approval.id, '0000-0000-0000'], limit: 10 })).toMatchObject([states[0]]);
    expect(await approvals.list({ ids: [], limit: 10 })).toEqual([]);
    expect(await approvals.list({ ids: [first.approval.id], state: 'approved', limit: 10 })).toEqual([]);
  });
}

/** What every store keeps to about bounds on idempotency keys. */
export function repeatBoundsContract(opened: Opened, place: () => Promise<string>): void {
  const keeping = (some: Partial<KeepBounds>, owner = 'ann') => ({ owner, bounds: { ...AMPLE, ...some } });
  const call = (some: Partial<KeepBounds>, owner?: string) => ({
    id: 'call',
    argumentsHash: 'hash',
    keepMs: 1000,
    keeping: keeping(some, owner),
  });
  const instead = done('too long to be kept');

  it.each([
    ['maxPerCaller', { maxPerCaller: 3 }],
    ['maxBytesPerCaller', { maxBytesPerCaller: 3 * RESERVED_BYTES }],
    ['maxTotal', { maxTotal: 3 }],
    ['maxTotalBytes', { maxTotalBytes: 3 * RESERVED_BYTES }],
  ] as const)('%s limits the keys of one caller', async (broken, some) => {
    const { repeats } = await opened();
    for (const key of ['a', 'b', 'c']) expect(await repeats.begin(key, call(some))).toEqual({ state: 'new' });
    expect(await repeats.begin('d', call(some))).toEqual({ state: 'refused', broken });
    expect(await repeats.begin('a', call(some))).toMatchObject({ state: 'running' });
    const others = await repeats.begin('e', call(some, 'bob'));
    expect(others).toEqual(broken.startsWith('maxTotal') ? { state: 'refused', broken } : { state: 'new' });
  });

  it('a released or expired key makes room again', async () => {
    let now = 5000;
    const { repeats } = await opened({ now: () => now });
    const some = { maxPerCaller: 1 };
    await repeats.begin('a', call(some));
    await repeats.forget('a', 'call');
    expect(await repeats.begin('b', call(some))).toEqual({ state: 'new' });
    expect(await repeats.begin('c', call(some))).toMatchObject({ state: 'refused' });
    now = 6000;
    expect(await repeats.begin('c', call(some))).toEqual({ state: 'new' });
  });

  it('expired keys take no room, however many there are', async () => {
    const url = await place();
    if (url === 'memory:') return; // no other connection can write to it
    let now = 5000;
    const { repeats } = await opened({ url, now: () => now });
    await repeats.begin('a', { ...call({}), keepMs: 10_000 });
    const { engine } = await openEngine({ url, env: {} });
    onTestFinished(() => engine.close());
    const rows = (from: number) => sql`
      INSERT INTO toolcrib_repeats (key, call_id, arguments_hash, began_at, expires_at, owner, bytes)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2500)
      SELECT 'old ' || (n + CAST(${from} AS BIGINT)), 'call', 'hash', 5000, 6000, ${ownerKey('ann')}, 1000 FROM numbers`;
    await engine.write([rows(0)]);
    now = 6000;
    expect(await repeats.begin('old 2500', call({ maxPerCaller: 2 }))).toEqual({ state: 'new' });
    now = 7000;
    await engine.write([rows(2500)]);
    const some = { maxBytesPerCaller: 30_000 };
    const result = done('x'.repeat(12_000));
    await repeats.end('a', 'call', { ...keeping(some), result, instead });
    expect(await repeats.begin('a', call(some))).toMatchObject({ state: 'ended', result });
  });

  it.each([{ maxBytesPerCaller: 30_000 }, { maxTotalBytes: 30_000 }])(
    'a result that does not fit into %j is replaced by a notice',
    async (some) => {
      const { repeats } = await opened();
      const result = done('x'.repeat(12_000));
      for (const key of ['a', 'b', 'c']) {
        await repeats.begin(key, call(some));
        await repeats.end(key, 'call', { ...keeping(some), result, instead });
      }
      const kept = await Promise.all(['a', 'b', 'c'].map((key) => repeats.begin(key, call(some))));
      expect(kept).toMatchObject([{ result }, { result }, { result: instead }]);
    },
  );

  it('keys of the crib itself take no place of callers', async () => {
    const { repeats } = await opened();
    const own = { id: 'own', argumentsHash: '', keepMs: 1000 };
    for (const key of ['x', 'y', 'z']) expect(await repeats.begin(key, own)).toEqual({ state: 'new' });
    expect(await repeats.begin('x', own)).toMatchObject({ state: 'running' });
    expect(await repeats.begin('a', call({ maxTotal: 1 }))).toEqual({ state: 'new' });
    expect(await repeats.begin('w', own)).toEqual({ state: 'new' });
  });

  it('many concurrent keys over several connections do not exceed a limit', async () => {
    const url = await place();
    const stores = await Promise.all(
      Array.from({ length: url === 'memory:' ? 1 : 3 }, () => opened({ url, now: () => NOON })),
    );
    const some = { maxPerCaller: 7, maxBytesPerCaller: 30_000 };
    const begun = await Promise.all(
      stores.flatMap(({ repeats }, store) =>
        Array.from({ length: 10 }, async (_, index) => {
          const key = `${store} ${index}`;
          const { state } = await repeats.begin(key, call(some));
          if (state === 'new')
            await repeats.end(key, 'call', { ...keeping(some), result: done('x'.repeat(9000)), instead });
          return { key, state };
        }),
      ),
    );
    const kept = begun.filter(({ state }) => state === 'new');
    expect(kept).toHaveLength(7);
    const results = await Promise.all(kept.map(({ key }) => stores[0]?.repeats.begin(key, call(some))));
    const bytes = results.map((first) => (first?.state === 'ended' ? JSON.stringify(first.result).length : 0));
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(30_000);
    expect(bytes.filter((one) => one > 9000).length).toBeGreaterThan(0);
  });
}
