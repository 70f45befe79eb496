import { expect, it, onTestFinished, vi } from 'vitest';
import type { SilentProcess, Store } from '../../src/core/ports/store.ts';
import { toolError } from '../../src/core/tool-error.ts';
import { done, failed } from '../../src/core/tool-result.ts';
import { openEngine } from '../../src/store/engines/open-engine.ts';
import { type Statement, sql } from '../../src/store/engines/sql-engine.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';
import { type ManualClock, manualClock } from '../crib/manual-clock.ts';
import { AMPLE, addTo, payment } from './approvals-contract.ts';

type Opened = (options?: Partial<StoreOptions>) => Promise<Store>;

/** Between two signs of life. */
const BEAT_MS = 2000;
const yes = { decision: 'approve', by: 'bob' } as const;
const keeping = { owner: 'ann', bounds: AMPLE };
const lostResult = () => failed(toolError('unknown_outcome', 'its process is gone'));
const served = payment({ parked: { callId: 'call-1' } });

/** What every store that processes share keeps to about their claims. */
export function claimsContract(opened: Opened, place: () => Promise<string>): void {
  const call = (id: string) => ({ id, argumentsHash: 'h', keepMs: 60_000, keeping });
  const approve = async (store: Store) => {
    const { approval } = await addTo(store.approvals, served);
    await store.approvals.answer(approval.id, yes);
    return approval.id;
  };

  it('a released approval is as it was before it was claimed', async () => {
    const { approvals } = await opened();
    const id = await approve({ approvals } as Store); // the part that is used
    const before = await approvals.get(id);
    await approvals.claim(id, served, 'call-1');
    expect(await approvals.giveBack(id)).toBe(true);
    expect(await approvals.giveBack(id)).toBe(false);
    expect(await approvals.get(id)).toEqual({ ...before, claim: { callId: 'call-1', at: expect.any(Number) } });
    expect(await approvals.find(served)).toMatchObject({ id, state: 'approved' });
    expect(await approvals.claim(id, served, 'call-2')).toMatchObject({ claim: { callId: 'call-2' } });
    await approvals.finish(id, 'done');
    expect(await approvals.giveBack(id)).toBe(false);
  });

  it('one that was not parked is found again once it was released, unless another waits for the same call', async () => {
    const { approvals } = await opened();
    for (const isAnotherWaiting of [false, true]) {
      const subject = payment({ isParked: false, argumentsHash: String(isAnotherWaiting) });
      const { approval } = await addTo(approvals, subject);
      await approvals.answer(approval.id, yes, 'call-1');
      const other = isAnotherWaiting ? await addTo(approvals, { ...subject, isParked: true }) : undefined;
      expect(await approvals.giveBack(approval.id)).toBe(true);
      expect(await approvals.get(approval.id)).toMatchObject({ state: 'approved' });
      expect((await approvals.find(subject))?.id).toBe(other?.approval.id ?? approval.id);
    }
  });

  it('lists the calls that a server can run, oldest first, page by page', async () => {
    let now = 1_700_000_000_000;
    const { approvals } = await opened({ now: () => now });
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) {
      const { approval } = await addTo(approvals, { ...served, argumentsHash: String(count) });
      ids.push(approval.id);
      if (count !== 1) now++; // two of them come at once
    }
    await addTo(approvals, payment({ argumentsHash: 'not for a server' }));
    expect(await approvals.runnable(undefined, 10)).toEqual([]);
    for (const id of ids) await approvals.answer(id, yes);
    const first = await approvals.runnable(undefined, 2);
    const second = await approvals.runnable(first.at(-1), 2);
    const third = await approvals.runnable(second.at(-1), 2);
    const listed = [...first, ...second, ...third].map(({ id }) => id);
    expect(listed.toSorted()).toEqual(ids.toSorted());
    expect([listed[0], listed[3], listed[4]]).toEqual([ids[0], ids[3], ids[4]]);
    now += 301_000;
    expect(await approvals.runnable(undefined, 10)).toEqual([]);
  });

  it('a process without claims writes no heartbeat', async () => {
    const url = await place();
    const store = await opened({ url });
    await approve(store);
    expect(await processesOf(store, url)).toEqual([]);
  });

  it('claims of a closed process count as lost at once, each once, for every reader', async () => {
    const url = await place();
    if (url === 'memory:') return; // it ends with the process
    const [gone, left] = [await opened({ url }), await opened({ url })];
    const id = await approve(gone);
    await gone.approvals.claim(id, served, 'call-1');
    await gone.repeats.begin('k', call('call-2'));
    expect(await left.claims.silent()).toEqual([]);
    await gone.close();
    const [process] = await left.claims.silent();
    const other = await opened({ url });
    const looks = await Promise.all([left, other].map(({ claims }) => claims.abandon(must(process), lostResult)));
    expect(looks.flat().toSorted((a, b) => (a.callId < b.callId ? -1 : 1))).toEqual([
      { callId: 'call-1', at: expect.any(Number), approval: expect.objectContaining({ id, tool: 'pay' }) },
      { callId: 'call-2', at: expect.any(Number), key: 'k' },
    ]);
    expect(await left.claims.silent()).toEqual([]);
    expect(await left.approvals.ofCall('call-1')).toMatchObject({
      approval: { state: 'done', outcome: 'unknown_outcome' },
      result: { error: { code: 'unknown_outcome' } },
    });
    expect(await left.repeats.begin('k', call('call-3'))).toEqual({ state: 'lost', argumentsHash: 'h' });
  });

  it('a process that was only frozen may record the real end, and releases nothing that counts as lost', async () => {
    const url = await place();
    if (url === 'memory:') return; // likewise
    const [frozen, left] = [await opened({ url }), await opened({ url })];
    const id = await approve(frozen);
    await frozen.approvals.claim(id, served, 'call-1');
    await frozen.repeats.begin('k', call('call-2'));
    await forget(url);
    const [process] = await left.claims.silent();
    expect(await left.claims.abandon(must(process), lostResult)).toHaveLength(2);
    expect(await left.approvals.takeResult(id, 'first')).toMatchObject({ error: { code: 'unknown_outcome' } });
    expect(await frozen.approvals.giveBack(id)).toBe(false);
    await left.approvals.finish(id, 'done', { result: done('forged'), isHandedOver: false });
    await frozen.approvals.finish(id, 'done', { result: done('paid'), isHandedOver: false });
    expect(await left.approvals.ofCall('call-1')).toMatchObject({
      approval: { outcome: 'done' },
      result: done('paid'),
    });
    expect(await left.approvals.takeResult(id, 'first')).toEqual(done('paid'));
    await frozen.repeats.end('k', 'call-2', { ...keeping, result: done('paid'), instead: done('too long') });
    expect(await left.repeats.begin('k', call('call-3'))).toMatchObject({ state: 'ended', result: done('paid') });
  });

  it('a failed write is repeated as soon as possible', async () => {
    const url = await place();
    if (url === 'memory:') return; // likewise
    const clock = manualClock();
    const store = await opened({ url, clock });
    const id = await approve(store);
    await store.approvals.claim(id, served, 'call-1');
    await store.repeats.begin('k', call('call-2'));
    await store.repeats.begin('l', call('call-3'));
    const putBack = await setAside(url);
    const ending = { ...keeping, result: done('paid'), instead: done('too long') };
    await expect(store.approvals.giveBack(id)).rejects.toThrow();
    await expect(store.repeats.end('k', 'call-2', ending)).rejects.toThrow();
    await expect(store.repeats.forget('l', 'call-3')).rejects.toThrow();
    await putBack();
    await inTime(clock, async () => {
      expect(await store.approvals.stateOf(id)).toBe('approved');
      expect(await store.repeats.begin('k', call('call-4'))).toMatchObject({ state: 'ended', result: done('paid') });
      expect(await store.repeats.begin('l', call('call-3'))).toEqual({ state: 'new' });
    });
  });

  it('a write whose answer was lost ends no later claim of the same request', async () => {
    const url = await place();
    if (url === 'memory:') return; // likewise
    const clock = manualClock();
    const store = await opened({ url, clock });
    const id = await approve(store);
    await store.approvals.claim(id, served, 'call-1');
    await store.repeats.begin('l', call('call-3'));
    const putBack = await setAside(url);
    await expect(store.approvals.giveBack(id)).rejects.toThrow();
    await expect(store.repeats.forget('l', 'call-3')).rejects.toThrow();
    await putBack(sql`UPDATE toolcrib_approvals SET state = 'approved' WHERE id = ${id}`); // as it would have
    expect(await store.approvals.claim(id, served, 'call-1')).toBeDefined();
    const another = async () => expect(await store.repeats.begin('l', call('call-4'))).toEqual({ state: 'new' });
    await inTime(clock, another); // what was owed has been written
    expect(await store.approvals.stateOf(id)).toBe('claimed');
    await store.repeats.forget('l', 'call-4');
    await forget(url, 1);
    await inTime(clock, async () => expect(await store.claims.silent()).toEqual([])); // it still says that it lives
  });

  it('a clock that stands still does not merge two claims', async () => {
    const url = await place();
    if (url === 'memory:') return; // likewise
    const clock = manualClock();
    const store = await opened({ url, now: () => 1_700_000_000_000, clock });
    const id = await approve(store);
    await Promise.all([store.approvals.claim(id, served, 'call-1'), store.repeats.begin('l', call('call-3'))]);
    const putBack = await setAside(url);
    await expect(store.approvals.giveBack(id)).rejects.toThrow();
    await expect(store.repeats.forget('l', 'call-3')).rejects.toThrow();
    const given = sql`UPDATE toolcrib_approvals SET state = 'approved' WHERE id = ${id}`;
    await putBack(given, sql`DELETE FROM toolcrib_repeats`); // as they would have, with the answers lost
    expect(await store.approvals.claim(id, served, 'call-1')).toBeDefined();
    expect(await store.repeats.begin('l', call('call-3'))).toMatchObject({ state: 'running' });
    const again = async () => expect(await store.repeats.begin('l', call('call-3'))).toEqual({ state: 'new' });
    await inTime(clock, again); // what was owed has been written
    expect(await store.approvals.stateOf(id)).toBe('claimed');
  });

  it('a claim is ended only by the process that has it', async () => {
    const url = await place();
    if (url === 'memory:') return; // likewise
    const [store, other] = [await opened({ url }), await opened({ url })];
    const id = await approve(store);
    await other.approvals.claim(id, served, 'call-1');
    expect(await other.approvals.giveBack(id)).toBe(true);
    await store.approvals.claim(id, served, 'call-1');
    await other.approvals.finish(id, 'unavailable', { result: lostResult(), isHandedOver: false });
    expect(await other.approvals.giveBack(id)).toBe(false);
    expect(await store.approvals.stateOf(id)).toBe('claimed');
    await store.approvals.finish(id, 'done', { result: done('paid'), isHandedOver: false });
    expect(await other.approvals.takeResult(id, 'first')).toEqual(done('paid'));
  });

  it('a process with a new heartbeat keeps its claims', async () => {
    const url = await place();
    if (url === 'memory:') return; // likewise
    const [alive, left] = [await opened({ url }), await opened({ url })];
    const id = await approve(alive);
    await alive.approvals.claim(id, served, 'call-1');
    await forget(url);
    const [process] = await left.claims.silent();
    await forget(url, 1);
    expect(await left.claims.abandon(must(process), lostResult)).toEqual([]);
    expect(await left.approvals.stateOf(id)).toBe('claimed');
  });
}

/** Waits for what a sign of life brings; the next one is always due. */
function inTime(clock: ManualClock, check: () => Promise<void>): Promise<void> {
  const look = async () => {
    clock.advance(BEAT_MS);
    await check();
  };
  return vi.waitFor(look, { timeout: 20_000, interval: 20 });
}

function must(process: SilentProcess | undefined): SilentProcess {
  if (process === undefined) throw new Error('no process is silent');
  return process;
}

/** The processes that have given a sign of life. */
async function processesOf(store: Store, url: string): Promise<unknown> {
  if (url === 'memory:') return store.claims.silent();
  return (await engineOf(url)).read(sql`SELECT id FROM toolcrib_processes WHERE seen_at > 0`);
}

/** Nothing has been heard of any process since this time. */
async function forget(url: string, seenAt = 0): Promise<void> {
  await (await engineOf(url)).write([sql`UPDATE toolcrib_processes SET seen_at = ${seenAt}`]);
}

/** Takes the tables with claims away; returns how they are put back, together with what else is to be written. */
async function setAside(url: string): Promise<(...more: readonly Statement[]) => Promise<unknown>> {
  const engine = await engineOf(url);
  const rename = (from: string, to: string): readonly Statement[] =>
    ['approvals', 'repeats'].map((table) => ({
      sql: `ALTER TABLE ${from}_${table} RENAME TO ${to}_${table}`,
      params: [],
    }));
  await engine.write(rename('toolcrib', 'away'));
  return (...more) => engine.write([...rename('away', 'toolcrib'), ...more]);
}

async function engineOf(url: string) {
  const { engine } = await openEngine({ url, env: {} });
  onTestFinished(() => engine.close());
  return engine;
}
