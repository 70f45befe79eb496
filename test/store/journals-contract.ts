import { expect, it } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import type { JournalEntry } from '../../src/core/ports/stored-journals.ts';
import type { ParkedScript } from '../../src/core/ports/stored-tasks.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';
import { AMPLE, addTo, payment } from './approvals-contract.ts';
import { claimIds, ENDED, HERE, transfer } from './tasks-contract.ts';

type Opened = (options?: Partial<StoreOptions>) => Promise<Store>;

const START = { seed: 7, now: 1_700_000_000_000, definition: 'd', code: 'c', input: 'i' };
const STATE = { lines: 2, waits: 1 };
const entry = (index: number, more: Partial<JournalEntry> = {}): JournalEntry => ({
  index,
  kind: 'call',
  name: 'pay',
  hash: 'h',
  isRepeatable: false,
  ...more,
});
const answer = { order: 0, isOk: true, text: '{"a":"\\u0000"}', now: 5 };
const yes = { decision: 'approve', by: 'bob' } as const;

const waiting = (batch: string, approvalId: string, more: Partial<ParkedScript> = {}): ParkedScript => ({
  batch,
  approvalId,
  expiresAt: 0,
  state: STATE,
  journal: { ...START, ...STATE, entries: [entry(0, { answer }), entry(1, { isWaiting: true, approvalId })] },
  binding: 'same',
  ...more,
});

/** What every store keeps to about the journals of scripts. */
export function journalsContract(opened: Opened): void {
  it('only the process that runs a task writes to its journal', async () => {
    const { tasks, journals } = await opened();
    await tasks.add(transfer('t1', { isRepeatable: true }), AMPLE);
    expect(await journals.begin('t1', START)).toBe(false);
    expect(await journals.get('t1')).toBeUndefined();
    await tasks.claim(HERE);
    expect(await journals.begin('t1', START)).toBe(true);
    expect(await journals.begin('t1', START)).toBe(true); // its first answer may have been lost
    expect(await journals.put('t1', { entries: [entry(0), entry(1)], state: { lines: 0, waits: 0 } })).toBe(true);
    expect(await journals.put('t1', { entries: [entry(0, { answer })], state: STATE })).toBe(true);
    const journal = { ...START, ...STATE, entries: [entry(0, { answer }), entry(1)] };
    expect(await journals.get('t1')).toEqual(journal);
    await tasks.postpone('t1', { pauseMs: 0 });
    expect(await journals.put('t1', { entries: [entry(2)], state: { lines: 9, waits: 9 } })).toBe(false);
    expect(await journals.drop('t1')).toBe(false);
    expect(await journals.get('t1')).toEqual(journal);
  });

  it('a dropped journal has no entries', async () => {
    const { tasks, journals } = await opened();
    await tasks.add(transfer('t1'), AMPLE);
    await tasks.claim(HERE);
    await journals.begin('t1', START);
    await journals.put('t1', { entries: [entry(0)], state: STATE });
    expect(await journals.drop('t1')).toBe(true);
    expect(await journals.get('t1')).toEqual({ ...START, ...STATE, entries: [], isDropped: true });
  });

  it('a script that waits is a task with its journal, and its batch is sealed', async () => {
    const { tasks, journals, approvals } = await opened();
    const { approval: first } = await addTo(approvals, payment({ batch: 't1.1' }));
    const { approval: second } = await addTo(approvals, payment({ batch: 't1.1', argumentsHash: 'other' }));
    const script = waiting('t1.1', 't1.1');
    expect(await tasks.park(transfer('t1'), script, AMPLE)).toEqual({ ok: true, isNew: true, id: 't1' });
    expect(await tasks.get('t1')).toMatchObject({ state: 'waiting', approvalId: 't1.1', batch: 't1.1' });
    expect(await journals.get('t1')).toEqual(script.journal);
    expect(await approvals.list({ limit: 10 })).toHaveLength(2);
    expect(await claimIds(tasks)).toEqual([]);
    await approvals.answer(first.id, yes);
    expect(await claimIds(tasks)).toEqual([]);
    await approvals.answer(second.id, { ...yes, decision: 'deny' });
    expect(await claimIds(tasks)).toEqual(['t1']);
  });

  it('a script that waits again is set aside until the next batch is answered or has expired', async () => {
    let now = 1_700_000_000_000;
    const { tasks, journals, approvals } = await opened({ now: () => now });
    await tasks.add(transfer('t1'), AMPLE);
    await tasks.claim(HERE);
    await journals.begin('t1', START);
    const { approval } = await addTo(approvals, payment({ batch: 't1.1' }));
    expect(await tasks.await('t1', approval.id, { batch: 't1.1', state: STATE })).toBe(true);
    expect(await approvals.get(approval.id)).not.toHaveProperty('isSealed');
    expect(await journals.get('t1')).toMatchObject(STATE);
    expect(await tasks.await('t1', approval.id, { batch: 't1.2', state: STATE })).toBe(false);
    expect(await claimIds(tasks)).toEqual([]);
    now += 6 * 60_000;
    expect(await claimIds(tasks)).toEqual(['t1']);
  });

  it('a second task with the same id changes neither the first nor its journal', async () => {
    const { tasks, journals, approvals } = await opened();
    await tasks.add(transfer('t1'), AMPLE);
    const { approval } = await addTo(approvals, payment({ batch: 't1.1' }));
    expect(await tasks.park(transfer('t1'), waiting('t1.1', approval.id), AMPLE)).toMatchObject({ isNew: false });
    expect(await tasks.get('t1')).toMatchObject({ state: 'queued' });
    expect(await journals.get('t1')).toBeUndefined();
    expect(await approvals.get(approval.id)).toMatchObject({ isSealed: false });
  });

  it('the newest script with a binding is found until its result was handed over', async () => {
    let now = 1_700_000_000_000;
    const { tasks, journals } = await opened({ now: () => now });
    await tasks.park(transfer('t1'), waiting('t1.1', 'gone-gone-gone'), AMPLE);
    now += 1;
    await tasks.park(transfer('t2'), waiting('t2.1', 'gone-gone-gone'), AMPLE);
    await tasks.park(transfer('t3'), waiting('t3.1', 'gone-gone-gone', { binding: 'other' }), AMPLE);
    expect(await journals.find('same')).toBe('t2');
    await journals.handOver('t2');
    expect(await journals.find('same')).toBe('t1');
    expect(await journals.find('none')).toBeUndefined();
  });

  it('a journal counts among the bytes of its caller, and is removed with its task', async () => {
    let now = 1_700_000_000_000;
    const { tasks, journals } = await opened({ now: () => now });
    const large = { ...answer, text: JSON.stringify('x'.repeat(5000)) };
    const script = waiting('t1.1', 'gone-gone-gone', {
      journal: { ...START, ...STATE, entries: [entry(0, { answer: large })] },
    });
    const bounds = { ...AMPLE, maxBytesPerCaller: 4000 };
    expect(await tasks.park(transfer('t1'), script, bounds)).toEqual({ ok: false, broken: 'maxBytesPerCaller' });
    expect(await journals.get('t1')).toBeUndefined();
    await tasks.park(transfer('t1'), script, AMPLE);
    await tasks.claim(HERE);
    await tasks.finish('t1', ENDED);
    now += 4_000_000;
    for (let n = 0; n < 100; n++) await tasks.add(transfer(`n${n}`), AMPLE);
    expect(await tasks.get('t1')).toBeUndefined();
    expect(await journals.get('t1')).toBeUndefined();
  });
}
