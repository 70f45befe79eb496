import { expect, it, onTestFinished, vi } from 'vitest';
import type { ToolInput } from '../../../src/index.ts';
import { execute, type Served, serve } from './served.ts';

const KEY = { idempotencyKey: 'order-7' };

/** A crib that runs what was approved, with a tool that costs, counts and may be called once in an hour. */
async function shop(): Promise<Served> {
  const hour = { scope: 'tool', perMs: 3_600_000 } as const;
  const policy = { price: 1, budgets: [{ ...hour, amount: 1 }], rates: [{ ...hour, amount: 2 }] };
  const served = await serve({ url: 'memory:' });
  served.crib.register({ name: 'buy', description: 'Buy', policy, run: () => 'bought' } as ToolInput);
  onTestFinished(served.crib.runParked());
  return served;
}

/** The lines of one metric. */
async function metric({ crib }: Served, name: string): Promise<readonly string[]> {
  return (await crib.metrics()).split('\n').filter((line) => line.startsWith(`${name}{`));
}

const rowsOf = async ({ ask, token }: Served, tool: string) =>
  (await ask(`/api/calls?tool=${tool}`, { token })).json.calls as readonly {
    readonly outcome: string;
    readonly isReplayed?: true;
    readonly approval?: object;
  }[];

it('a call with the key of another is recorded as its replay, and does not count as a run', async () => {
  const served = await shop();
  const { ask, token, crib } = served;
  for (let time = 0; time < 10; time++)
    expect((await execute(ask, 'buy', {}, KEY, token)).json, `time ${time}`).toMatchObject({ ok: true });
  const rows = await rowsOf(served, 'buy');
  expect(rows.map(({ isReplayed = false }) => isReplayed)).toEqual([...Array(9).fill(true), false]);
  expect(await metric(served, 'toolcrib_calls_total')).toEqual([
    'toolcrib_calls_total{tool="buy",source="code",outcome="done"} 1',
  ]);
  expect(await metric(served, 'toolcrib_replayed_calls_total')).toEqual([
    'toolcrib_replayed_calls_total{tool="buy",source="code",outcome="done"} 9',
  ]);
  expect(await metric(served, 'toolcrib_call_duration_seconds_count')).toEqual([
    'toolcrib_call_duration_seconds_count{tool="buy",source="code"} 1',
  ]);
  expect((await ask('/api/stats', { token })).json.calls).toMatchObject({
    count: 1,
    replayed: 9,
    byOutcome: { done: 1 },
    byTool: [{ tool: 'buy', count: 1, failed: 0 }],
  });
  expect(await crib.audit.verify()).toMatchObject({ ok: true });
  // One of two slots is left, and nothing of the budget.
  expect((await execute(ask, 'buy', {}, {}, token)).json.error).toMatchObject({
    message: expect.stringContaining('The call costs 1'),
  });
  expect((await execute(ask, 'buy', {}, {}, token)).json.error).toMatchObject({
    message: expect.stringContaining('Too many calls'),
  });
});

it('an approved call that is sent again is recorded as a replay, and does not count as a run', async () => {
  const served = await shop();
  const { ask, token, deeds } = served;
  const heard = await execute(ask, 'wipe', { what: 'all' });
  const approvalId = heard.json.waiting.id;
  await ask(`/api/approvals/${approvalId}`, { token, body: { decision: 'approve' } });
  for (let time = 0; time < 3; time++)
    expect((await execute(ask, 'wipe', { what: 'all' }, { approvalId })).json).toMatchObject({ ok: true });
  expect(deeds.wiped).toHaveLength(1);
  const rows = await vi.waitFor(async () => {
    const found = await rowsOf(served, 'wipe');
    expect(found).toHaveLength(5);
    return found;
  });
  const kinds = rows.map(({ outcome, isReplayed = false, approval }) =>
    [outcome, isReplayed && 'replay', approval !== undefined && 'approved'].filter(Boolean).join(' '),
  );
  expect(kinds.toSorted()).toEqual(['done approved', 'done replay', 'done replay', 'done replay', 'waiting']);
  expect(await metric(served, 'toolcrib_calls_total')).toEqual([
    'toolcrib_calls_total{tool="wipe",source="code",outcome="done"} 1',
    'toolcrib_calls_total{tool="wipe",source="code",outcome="waiting"} 1',
  ]);
  expect(await metric(served, 'toolcrib_replayed_calls_total')).toEqual([
    'toolcrib_replayed_calls_total{tool="wipe",source="code",outcome="done"} 3',
  ]);
  expect(await served.crib.metrics()).toContain('toolcrib_approved_calls_total 1');
});
