import { expect, it, onTestFinished, vi } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { toolError } from '../../src/core/tool-error.ts';
import { done, failed } from '../../src/core/tool-result.ts';
import { openEngine } from '../../src/store/engines/open-engine.ts';
import { sql } from '../../src/store/engines/sql-engine.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';
import { manualClock } from '../crib/manual-clock.ts';
import { AMPLE, addTo, payment } from './approvals-contract.ts';
import { claimIds, ENDED, HERE, transfer } from './tasks-contract.ts';

type Opened = (options?: Partial<StoreOptions>) => Promise<Store>;

const BEAT_MS = 2000;
const unknown = () => failed(toolError('unknown_outcome', 'its process is gone'));
const again = { isRepeatable: true };

/** What stores that processes share keep to about the tasks of a process that is gone. */
export function lostTasksContract(opened: Opened, place: () => Promise<string>): void {
  /** Two processes with one store; `lose` takes the first for dead. */
  const twoProcesses = async () => {
    const url = await place();
    const [one, other] = [await opened({ url }), await opened({ url })];
    const { engine } = await openEngine({ url, env: {} });
    onTestFinished(() => engine.close());
    const lose = async () => {
      await engine.write([sql`UPDATE toolcrib_processes SET seen_at = 0`]);
      const lost = [];
      for (const silent of await other.claims.silent()) lost.push(...(await other.claims.abandon(silent, unknown)));
      return lost;
    };
    return { url, one, other, engine, lose };
  };

  it('queues what may be repeated, and ends the rest with an unknown outcome', async () => {
    const { one, other, lose } = await twoProcesses();
    await one.tasks.add(transfer('once'), AMPLE);
    await one.tasks.add(transfer('again', again), AMPLE);
    await one.tasks.claim(HERE);
    const lost = await lose();
    expect(lost.toSorted((a, b) => (a.callId < b.callId ? -1 : 1))).toMatchObject([
      { callId: 'again', at: expect.any(Number), task: { id: 'again', state: 'running' }, isQueued: true },
      { callId: 'once', task: { id: 'once', tool: 'pay' }, isQueued: false },
    ]);
    expect(await other.tasks.get('once')).toMatchObject({ state: 'done', outcome: 'unknown_outcome' });
    expect(await other.tasks.result('once')).toEqual(unknown());
    expect(await other.tasks.get('again')).toMatchObject({ state: 'queued', attempts: 1 });
    expect(await claimIds(one.tasks)).toEqual([]); // its first run may still go on
    expect(await other.tasks.claim(HERE)).toMatchObject([{ id: 'again', attempts: 2 }]);
    expect(await lose()).toMatchObject([{ callId: 'again', isQueued: true }]);
  });

  it('lets a process that was only frozen store the real ends, unless another has the task', async () => {
    const { one, other, lose } = await twoProcesses();
    for (const id of ['queued', 'taken', 'cancelled']) await one.tasks.add(transfer(id, again), AMPLE);
    await one.tasks.add(transfer('once'), AMPLE);
    await one.tasks.claim(HERE);
    await lose();
    expect(await other.tasks.cancel('cancelled', 'ann', unknown())).toBe('cancelled');
    expect(await one.tasks.finish('queued', ENDED)).toBe(true);
    expect(await claimIds(other.tasks)).toEqual(['taken']);
    expect(await one.tasks.finish('taken', ENDED)).toBe(false);
    expect(await one.tasks.finish('cancelled', ENDED)).toBe(false);
    expect(await one.tasks.finish('once', { ...ENDED, result: done('really') })).toBe(true);
    expect(await other.tasks.result('once')).toEqual(done('really'));
    expect(await other.tasks.get('once')).toMatchObject({ outcome: 'done' });
    expect(await other.tasks.finish('taken', { ...ENDED, result: done('by the other') })).toBe(true);
    expect(await one.tasks.result('taken')).toEqual(done('by the other'));
  });

  it('gives up a task that has ended five processes', async () => {
    const { one, other, engine, lose } = await twoProcesses();
    await one.tasks.add(transfer('deadly', again), AMPLE);
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(await other.tasks.get('deadly')).toMatchObject({ state: 'queued', attempts: attempt - 1 });
      expect(await claimIds(one.tasks)).toEqual(['deadly']);
      expect(await lose()).toMatchObject([{ isQueued: attempt < 5 }]);
      await engine.write([sql`UPDATE toolcrib_tasks SET process = 'a process before'`]);
    }
    expect(await other.tasks.get('deadly')).toMatchObject({ outcome: 'unknown_outcome', attempts: 5 });
  });

  it('keeps a requested end, frees the idempotency key, and asks for approval again', async () => {
    const { one, other, lose } = await twoProcesses();
    const { approval } = await addTo(one.approvals, payment());
    const call = { id: 't1', argumentsHash: 'h', keepMs: 60_000, keeping: { owner: 'ann', bounds: AMPLE } };
    await one.tasks.add(transfer('t1', again), AMPLE);
    await one.tasks.claim(HERE);
    await one.tasks.postpone('t1', { pauseMs: 0, approvalId: approval.id });
    await one.tasks.claim(HERE);
    expect(await one.repeats.begin('k', call)).toEqual({ state: 'new' });
    await other.tasks.cancel('t1', 'ann', unknown());
    expect(await lose()).toHaveLength(1);
    expect(await other.repeats.begin('k', { ...call, id: 't1' })).toEqual({ state: 'new' });
    const [claimed] = await other.tasks.claim(HERE);
    expect(claimed).toMatchObject({ id: 't1', cancelledBy: 'ann' });
    expect(claimed).not.toHaveProperty('approvalId');
  });

  it('holds every claimed task by the heartbeat until the last one is settled', async () => {
    const url = await place();
    const clock = manualClock();
    const store = await opened({ url, clock });
    const { engine } = await openEngine({ url, env: {} });
    onTestFinished(() => engine.close());
    for (const id of ['t1', 't2', 't3']) await store.tasks.add(transfer(id), AMPLE);
    expect(await claimIds(store.tasks)).toHaveLength(3);
    await store.tasks.finish('t1', ENDED);
    await store.tasks.postpone('t2', { pauseMs: 10_000 });
    const isHeard = async () => {
      clock.advance(BEAT_MS);
      expect(await store.claims.silent()).toEqual([]);
    };
    for (let beat = 0; beat < 3; beat++) {
      await engine.write([sql`UPDATE toolcrib_processes SET seen_at = 0`]);
      await vi.waitFor(isHeard, { timeout: 5000, interval: 20 });
    }
    await store.tasks.await('t3', 'zzzz-zzzz-zzzz');
    const isSilent = async () => {
      await engine.write([sql`UPDATE toolcrib_processes SET seen_at = 0`]);
      clock.advance(BEAT_MS);
      await store.tasks.counts();
      expect(await store.claims.silent()).toHaveLength(1);
      expect(clock.count()).toBe(0);
    };
    await vi.waitFor(isSilent, { timeout: 20_000, interval: 20 });
  });

  it('what was written, though its answer was lost, does not end a later claim of the same task', async () => {
    const url = await place();
    const clock = manualClock();
    const store = await opened({ url, clock });
    const { engine } = await openEngine({ url, env: {} });
    onTestFinished(() => engine.close());
    for (const id of ['t1', 't2']) await store.tasks.add(transfer(id), AMPLE);
    expect(await claimIds(store.tasks)).toEqual(['t1', 't2']);
    await engine.write([sql`ALTER TABLE toolcrib_tasks RENAME TO away`]);
    await expect(store.tasks.postpone('t1', { pauseMs: 0 })).rejects.toThrow();
    await expect(store.tasks.finish('t2', ENDED)).rejects.toThrow();
    const asWritten = sql`
      UPDATE toolcrib_tasks SET is_ready = 1, state = 'queued', process = NULL, claim = NULL WHERE id = 't1'`;
    await engine.write([sql`ALTER TABLE away RENAME TO toolcrib_tasks`, asWritten]);
    expect(await claimIds(store.tasks)).toEqual(['t1']);
    const isWritten = async () => {
      clock.advance(BEAT_MS);
      expect(await store.tasks.result('t2')).toEqual(done('paid')); // it was owed after the other
    };
    await vi.waitFor(isWritten, { timeout: 5000, interval: 20 });
    expect(await store.tasks.get('t1')).toMatchObject({ state: 'running', attempts: 2 });
    expect(await store.tasks.finish('t1', ENDED)).toBe(true);
  });

  it('writes an end that could not be written as soon as it can be', async () => {
    const url = await place();
    const clock = manualClock();
    const store = await opened({ url, clock });
    const { engine } = await openEngine({ url, env: {} });
    onTestFinished(() => engine.close());
    for (const id of ['t1', 't2']) await store.tasks.add(transfer(id), AMPLE);
    await store.tasks.claim(HERE);
    await engine.write([sql`ALTER TABLE toolcrib_tasks RENAME TO away`]);
    const ends = await Promise.allSettled(['t1', 't2'].map((id) => store.tasks.finish(id, ENDED)));
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await engine.write([sql`ALTER TABLE away RENAME TO toolcrib_tasks`]);
    const areWritten = async () => {
      clock.advance(BEAT_MS);
      for (const id of ['t1', 't2']) expect(await store.tasks.result(id)).toEqual(done('paid'));
    };
    await vi.waitFor(areWritten, { timeout: 20_000, interval: 20 });
  });
}
