import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import type { NewTask, StoredTasks, TaskClaim } from '../../src/core/ports/stored-tasks.ts';
import { toolError } from '../../src/core/tool-error.ts';
import { done, failed } from '../../src/core/tool-result.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';
import { AMPLE, addTo, payment } from './approvals-contract.ts';
import { journalsContract } from './journals-contract.ts';
import { taskBoundsContract } from './task-bounds-contract.ts';

type Opened = (options?: Partial<StoreOptions>) => Promise<Store>;
type Place = () => Promise<string>;

export const HERE: TaskClaim = { sources: ['bank'], isWorker: false, limit: 10 };
const T0 = 1_700_000_000_000;
const paid = done('paid');
export const ENDED = { outcome: 'done', result: paid, instead: done('too long'), bounds: AMPLE };
const cancelledResult = failed(toolError('cancelled', 'not wanted any more'));
const late = () => failed(toolError('timeout', 'too late'));

/** A call to run later. */
export function transfer(id: string, more: Partial<NewTask> = {}): NewTask {
  return {
    id,
    tool: 'pay',
    source: 'bank',
    profile: 'default',
    caller: { id: 'ann', roles: ['clerk'] },
    identifiedAt: T0,
    arguments: { amount: 5 },
    call: { conversation: 'c1' },
    door: 'rest',
    priority: 0,
    isForWorkers: false,
    isRepeatable: false,
    delayMs: 0,
    lifetimeMs: 60_000,
    keepMs: 3_600_000,
    ...more,
  };
}

/** What every store keeps to about calls that run later. */
export function tasksContract(opened: Opened, place: Place): void {
  describe('from submission to end', () => lifeContract(opened));
  describe('claims', () => claimContract(opened, place));
  describe('ends that others request', () => cancelContract(opened));
  describe('lists', () => listContract(opened));
  describe('bounds', () => taskBoundsContract(opened, place));
  describe('journals of scripts', () => journalsContract(opened));
}

const idsOf = (tasks: readonly { readonly id: string }[]) => tasks.map(({ id }) => id);
export const claimIds = async (tasks: StoredTasks, what: Partial<TaskClaim> = {}) =>
  idsOf(await tasks.claim({ ...HERE, ...what }));

function lifeContract(opened: Opened): void {
  it('stores a task, runs it once, and keeps its result', async () => {
    let now = T0;
    const { tasks } = await opened({ now: () => now });
    const task = transfer('t1', { notify: 'hook', resentFrom: 't0', slot: `nightly@${T0}` });
    expect(await tasks.add(task, AMPLE)).toEqual({ ok: true, isNew: true, id: 't1' });
    const { delayMs: _delay, lifetimeMs: _lifetime, keepMs: _keep, ...same } = task;
    const stored = { ...same, state: 'queued', createdAt: T0, runAt: T0, expiresAt: T0 + 60_000, attempts: 0 };
    expect(await tasks.get('t1')).toEqual(stored);
    now += 5;
    expect(await tasks.claim(HERE)).toEqual([{ ...stored, state: 'running', attempts: 1, startedAt: T0 + 5 }]);
    expect(await tasks.claim(HERE)).toEqual([]);
    expect(await tasks.result('t1')).toBeUndefined();
    await tasks.noteProgress('t1', { percent: 50 });
    expect(await tasks.get('t1')).toMatchObject({ state: 'running', progress: { percent: 50 } });
    now += 5;
    expect(await tasks.finish('t1', ENDED)).toBe(true);
    expect(await tasks.get('t1')).toMatchObject({ state: 'done', outcome: 'done', endedAt: T0 + 10 });
    expect(await tasks.result('t1')).toEqual(paid);
    expect(await tasks.finish('t1', { ...ENDED, outcome: 'failed' })).toBe(false);
    expect(await tasks.get('t1')).toMatchObject({ outcome: 'done' });
  });

  it('adds one task for an id and one for a slot', async () => {
    const { tasks } = await opened();
    const slot = `nightly@${T0}`;
    const added = await Promise.all(
      Array.from({ length: 20 }, (_, index) => tasks.add(transfer(`t${index}`, { slot }), AMPLE)),
    );
    const [first] = added.filter((one) => one.ok && one.isNew);
    if (first?.ok !== true) throw new Error('none was added');
    expect(added.filter((one) => one.ok && one.isNew)).toHaveLength(1);
    expect(new Set(added.map((one) => one.ok && one.id))).toEqual(new Set([first.id]));
    expect(await tasks.add(transfer(first.id), AMPLE)).toEqual({ ok: true, isNew: false, id: first.id });
    const same = await Promise.all(Array.from({ length: 5 }, () => tasks.add(transfer('same'), AMPLE)));
    expect(same.filter((one) => one.ok && one.isNew)).toHaveLength(1);
  });

  it('keeps any text as it is, and ids that differ apart', async () => {
    const { tasks } = await opened();
    const texts = ['a\0b', 'a\ufffdb', '\ud800', '\udfff', 'x'.repeat(5000), 'sha256:1', "'; DROP TABLE", '💥 ?'];
    for (const text of texts) {
      const names = { tool: text, source: text, profile: text, slot: text, caller: { id: text } };
      const task = transfer(text, { ...names, arguments: { [text]: text }, call: { conversation: text } });
      expect(await tasks.add(task, AMPLE)).toEqual({ ok: true, isNew: true, id: text });
      expect(await tasks.get(text)).toMatchObject({ id: text, ...names, arguments: { [text]: text } });
      expect(idsOf(await tasks.list({ tool: text, callerId: text, limit: 10 }))).toEqual([text]);
      expect(await claimIds(tasks, { sources: [text], profiles: [text] })).toEqual([text]);
      await tasks.noteProgress(text, text);
      expect(await tasks.cancel(text, text, cancelledResult)).toBe('requested');
      expect(await tasks.cancelled([text])).toEqual(new Map([[text, text]]));
      expect(await tasks.finish(text, { ...ENDED, outcome: text, result: done(text) })).toBe(true);
      expect(await tasks.result(text)).toEqual(done(text));
    }
  });

  it('keeps arguments of 4 MB', async () => {
    const { tasks } = await opened();
    const long = 'ä'.repeat(2_000_000);
    expect(await tasks.add(transfer('t1', { arguments: { long } }), AMPLE)).toMatchObject({ isNew: true });
    const [claimed] = await tasks.claim(HERE);
    expect(claimed?.arguments.long === long).toBe(true);
    expect(idsOf(await tasks.list({ limit: 1 }))).toEqual(['t1']);
  });

  it('queues a task again whose tool did not begin, and claims it when its time comes', async () => {
    let now = T0;
    const { tasks } = await opened({ now: () => now });
    await tasks.add(transfer('t1', { delayMs: 100 }), AMPLE);
    expect(await claimIds(tasks)).toEqual([]);
    now += 100;
    expect(await claimIds(tasks)).toEqual(['t1']);
    await tasks.postpone('t1', { pauseMs: 50, approvalId: 'a1' });
    expect(await tasks.get('t1')).toMatchObject({ state: 'queued', runAt: now + 50, approvalId: 'a1', attempts: 1 });
    expect(await claimIds(tasks)).toEqual([]);
    now -= 1000; // the clock was set back: the task is delayed
    expect(await claimIds(tasks)).toEqual([]);
    now += 1050;
    expect(await claimIds(tasks)).toEqual(['t1']);
    await tasks.postpone('t1', { pauseMs: 0 });
    const [again] = await tasks.claim(HERE);
    expect(again).toMatchObject({ id: 't1', attempts: 3 });
    expect(again).not.toHaveProperty('approvalId');
  });

  it('takes a waiting task up when its approval request is answered, expired or gone', async () => {
    let now = T0;
    const { tasks, approvals } = await opened({ now: () => now });
    const ids: string[] = [];
    for (const name of ['approved', 'denied', 'expired', 'gone']) {
      const { approval } = await addTo(approvals, payment({ argumentsHash: name, lifetimeMs: 1000 }));
      ids.push(name === 'gone' ? 'zzzz-zzzz-zzzz' : approval.id);
      await tasks.add(transfer(name), AMPLE);
    }
    const [approved = '', denied = ''] = ids;
    expect(await claimIds(tasks)).toHaveLength(4);
    for (const [index, name] of ['approved', 'denied', 'expired', 'gone'].entries()) {
      await tasks.await(name, ids[index] ?? '');
      expect(await tasks.get(name)).toMatchObject({ state: 'waiting', approvalId: ids[index] });
    }
    expect(await claimIds(tasks)).toEqual(['gone']);
    await approvals.answer(approved, { decision: 'approve', by: 'bob' });
    expect(await claimIds(tasks)).toEqual(['approved']);
    await approvals.answer(denied, { decision: 'deny', by: 'bob' });
    expect(await claimIds(tasks)).toEqual(['denied']);
    now += 1000;
    expect(await tasks.claim(HERE)).toMatchObject([{ id: 'expired', approvalId: ids[2], attempts: 2 }]);
  });

  it('ends tasks that were not begun in time, and runs them no more', async () => {
    let now = T0;
    const { tasks } = await opened({ now: () => now });
    await tasks.add(transfer('short', { lifetimeMs: 10 }), AMPLE);
    await tasks.add(transfer('later', { delayMs: 100, lifetimeMs: 10 }), AMPLE);
    await tasks.add(transfer('long'), AMPLE);
    expect(await tasks.expire(late)).toEqual([]);
    now += 10;
    expect(await claimIds(tasks)).toEqual(['long']);
    expect(await tasks.expire(late)).toMatchObject([{ id: 'short', state: 'done', outcome: 'timeout', endedAt: now }]);
    expect(await tasks.expire(late)).toEqual([]);
    expect(await tasks.result('short')).toEqual(late());
    now += 100_000;
    expect(idsOf(await tasks.expire(late))).toEqual(['later']);
    expect(await tasks.get('long')).toMatchObject({ state: 'running' });
  });
}

function claimContract(opened: Opened, place: Place): void {
  it('gives each task to one of many that claim at once', async () => {
    const url = await place();
    const stores = url === 'memory:' ? [await opened()] : [await opened({ url }), await opened({ url })];
    const [first] = stores;
    const ids = Array.from({ length: 200 }, (_, index) => `t${index}`);
    await Promise.all(ids.map((id) => first?.tasks.add(transfer(id), AMPLE)));
    const claimed: string[] = [];
    const claimAll = async ({ tasks }: Store): Promise<void> => {
      for (;;) {
        const batch = await Promise.all(Array.from({ length: 4 }, () => claimIds(tasks, { limit: 7 })));
        claimed.push(...batch.flat());
        if (claimed.length >= ids.length) return;
      }
    };
    await Promise.all(stores.map(claimAll));
    expect(claimed.toSorted()).toEqual(ids.toSorted());
  });

  it('claims by priority, then by time, and only what the process can run', async () => {
    let now = T0;
    const { tasks } = await opened({ now: () => now });
    const add = (id: string, more: Partial<NewTask>) => tasks.add(transfer(id, more), AMPLE);
    await add('low', { priority: -100 });
    now++;
    await add('old', {});
    now++;
    await add('delayed', { delayMs: 5 });
    await add('new', {});
    await add('high', { priority: 100 });
    await add('other source', { source: 'mail' });
    await add('other profile', { profile: 'night' });
    await add('for workers', { isForWorkers: true });
    now += 100;
    expect(await claimIds(tasks, { sources: [] })).toEqual([]);
    expect(await claimIds(tasks, { limit: 0 })).toEqual([]);
    expect(await claimIds(tasks, { limit: 2, profiles: ['default'] })).toEqual(['high', 'old']);
    expect(await claimIds(tasks, { profiles: ['default'] })).toEqual(['new', 'delayed', 'low']);
    expect(await claimIds(tasks, { profiles: ['night', 'day'] })).toEqual(['other profile']);
    expect(await claimIds(tasks)).toEqual([]);
    expect(await claimIds(tasks, { isWorker: true })).toEqual(['for workers']);
    expect(await claimIds(tasks, { sources: ['bank', 'mail'] })).toEqual(['other source']);
  });

  it('lets only the process that claimed a task say how it ended', async () => {
    const url = await place();
    if (url === 'memory:') return; // it has one process
    const [one, other] = [await opened({ url }), await opened({ url })];
    await one.tasks.add(transfer('t1'), AMPLE);
    expect(await claimIds(one.tasks)).toEqual(['t1']);
    expect(await other.tasks.finish('t1', ENDED)).toBe(false);
    await other.tasks.postpone('t1', { pauseMs: 0 });
    await other.tasks.await('t1', 'a1');
    await other.tasks.noteProgress('t1', 'forged');
    expect(await other.tasks.cancelled(['t1'])).toEqual(new Map());
    expect(await one.tasks.get('t1')).toMatchObject({ state: 'running' });
    expect(await one.tasks.get('t1')).not.toHaveProperty('progress');
    expect(await one.tasks.finish('t1', ENDED)).toBe(true);
  });
}

function cancelContract(opened: Opened): void {
  it('ends tasks that do not run, and requests the end of one that runs', async () => {
    const { tasks } = await opened();
    const cancel = (id: string) => tasks.cancel(id, 'ann', cancelledResult);
    expect(await cancel('unknown')).toBeUndefined();
    await tasks.add(transfer('queued'), AMPLE);
    expect(await cancel('queued')).toBe('cancelled');
    expect(await cancel('queued')).toBe('over');
    expect(await tasks.get('queued')).toMatchObject({ state: 'done', outcome: 'cancelled', cancelledBy: 'ann' });
    expect(await tasks.result('queued')).toEqual(cancelledResult);
    await tasks.add(transfer('waiting'), AMPLE);
    await tasks.claim(HERE);
    await tasks.await('waiting', 'zzzz-zzzz-zzzz');
    expect(await cancel('waiting')).toBe('cancelled');
    await tasks.add(transfer('running'), AMPLE);
    expect(await claimIds(tasks)).toEqual(['running']);
    expect(await tasks.cancelled(['running'])).toEqual(new Map());
    expect(await cancel('running')).toBe('requested');
    expect(await tasks.cancel('running', 'bob', cancelledResult)).toBe('requested');
    expect(await tasks.cancelled(['running', 'waiting'])).toEqual(new Map([['running', 'ann']]));
    expect(await tasks.finish('running', ENDED)).toBe(true);
    expect(await cancel('running')).toBe('over');
    expect(await tasks.get('running')).toMatchObject({ outcome: 'done', cancelledBy: 'ann' });
  });

  it('keeps the request though the task is postponed or waits: it can be claimed at once, to end it', async () => {
    const { tasks, approvals } = await opened();
    const { approval } = await addTo(approvals, payment());
    await tasks.add(transfer('t1'), AMPLE);
    const steps = [() => tasks.postpone('t1', { pauseMs: 1_000_000 }), () => tasks.await('t1', approval.id)];
    for (const step of steps) {
      expect(await claimIds(tasks)).toEqual(['t1']);
      await tasks.cancel('t1', 'ann', cancelledResult);
      await step();
    }
    expect(await tasks.claim(HERE)).toMatchObject([{ id: 't1', cancelledBy: 'ann' }]);
  });
}

function listContract(opened: Opened): void {
  it('lists 10,000 tasks by pages, the newest first', { timeout: 60_000 }, async () => {
    let now = T0;
    const { tasks } = await opened({ now: () => Math.floor(now++ / 3) });
    const ids = Array.from({ length: 10_000 }, (_, index) => `t${index}`);
    for (let begin = 0; begin < ids.length; begin += 500)
      await Promise.all(ids.slice(begin, begin + 500).map((id) => tasks.add(transfer(id), AMPLE)));
    const listed: string[] = [];
    for (let before: string | undefined; ; ) {
      const page = await tasks.list({ limit: 999, ...(before !== undefined && { before }) });
      listed.push(...idsOf(page));
      before = page.at(-1)?.id;
      if (page.length === 0 || listed.length > ids.length) break;
    }
    expect(listed).toHaveLength(ids.length);
    expect(new Set(listed).size).toBe(ids.length);
    expect(await tasks.counts()).toEqual({ queued: 10_000, running: 0, waiting: 0 });
  });

  it('lists by state, outcome, tool and caller', async () => {
    const { tasks } = await opened();
    await tasks.add(transfer('failed', { tool: 'fail', caller: {} }), AMPLE);
    await tasks.add(transfer('ended'), AMPLE);
    await tasks.claim(HERE);
    await tasks.finish('failed', { ...ENDED, outcome: 'unavailable' });
    await tasks.finish('ended', ENDED);
    await tasks.add(transfer('running', { caller: { id: 'bob' } }), AMPLE);
    await tasks.claim(HERE);
    await tasks.add(transfer('queued'), AMPLE);
    const list = async (filter: object) => idsOf(await tasks.list({ limit: 10, ...filter })).toSorted();
    expect(await list({})).toEqual(['ended', 'failed', 'queued', 'running']);
    expect(await list({ state: 'queued' })).toEqual(['queued']);
    expect(await list({ state: 'done' })).toEqual(['ended', 'failed']);
    expect(await list({ outcome: 'unavailable' })).toEqual(['failed']);
    expect(await list({ tool: 'pay' })).toEqual(['ended', 'queued', 'running']);
    expect(await list({ callerId: 'bob' })).toEqual(['running']);
    expect(await list({ callerId: '' })).toEqual(['failed']);
    expect(await list({ before: 'unknown' })).toEqual([]);
    expect(await tasks.counts()).toEqual({ queued: 1, running: 1, waiting: 0 });
    expect((await tasks.list({ limit: 1 }))[0]).not.toHaveProperty('arguments');
  });
}
