import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type CribOptions, done, type ToolInput } from '../../../src/index.ts';
import { stillTime } from '../../crib/manual-clock.ts';
import { folderWith } from '../../crib/workshop.ts';
import { type CallAnswer, ERAS } from './eras.ts';
import { type Gateway, startGateway } from './gateway.ts';

const OPERATOR = { id: 'olga', operator: true };

/** A gateway at which paying needs a person. */
async function openBank(options: CribOptions = {}): Promise<Gateway & { readonly paid: unknown[] }> {
  const paid: unknown[] = [];
  const pay: ToolInput = {
    name: 'pay',
    description: 'Pays',
    input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
    effects: { destructive: true },
    run: { kind: 'bank' },
  };
  const payAll: ToolInput = {
    name: 'pay_all',
    description: 'Pays what is open',
    run: (_: unknown, call: { tools: { call(name: string, input: unknown): unknown } }) =>
      call.tools.call('pay', { amount: 7 }),
  };
  const gateway = await startGateway({
    tools: [pay, payAll],
    executors: [
      {
        kind: 'bank',
        runSchema: { type: 'object' },
        execute: async (call) => {
          paid.push(call.input);
          if (call.input.amount === 13) throw new Error('The bank is closed');
          return done('paid');
        },
      },
    ],
    ...options,
  });
  return { ...gateway, paid };
}

/** The approval that an answer says it waits for. */
function waitingOf({ isError, content, _meta }: CallAnswer): { readonly id: string; readonly expiresAt: number } {
  expect(isError).toBe(true);
  const waiting = _meta?.['toolcrib/waiting'] as { id: string; expiresAt: number; for: string };
  expect(waiting.for).toBe('approval');
  const [{ text } = { text: '' }] = content;
  expect(text).toContain(waiting.id);
  expect(text).toContain(new Date(waiting.expiresAt).toISOString());
  return waiting;
}

describe.each(Object.entries(ERAS))('over MCP, %s', (_era, connect) => {
  describe("Approval: exactly one request carrying tool, arguments, caller and reason; approved -> runs; denied -> `denied`, not run; timed out -> `denied` saying so. A call waiting in memory whose asker is gone is refused; a parked one stays. A failure after approval is the tool's failure.", () => {
    it('exactly one request, however often the call is sent; the same call uses it once', async () => {
      const { crib, url, paid } = await openBank();
      const client = await connect(url());
      const { id } = waitingOf(await client.call('pay', { amount: 3 }));
      expect(waitingOf(await client.call('pay', { amount: 3 })).id).toBe(id);
      expect(await crib.approvals.list({ state: 'waiting' })).toMatchObject([
        {
          id,
          tool: 'pay',
          arguments: { amount: 3 },
          caller: { id: 'local' },
          reason: 'it is destructive',
          door: 'mcp',
        },
      ]);
      expect(paid).toEqual([]);
      await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
      expect(await client.call('pay', { amount: 3 })).toMatchObject({ content: [{ text: 'paid' }] });
      expect(paid).toEqual([{ amount: 3 }]);
      expect(waitingOf(await client.call('pay', { amount: 3 })).id).not.toBe(id);
    });

    it('denied -> denied, not run', async () => {
      const { crib, url, paid } = await openBank();
      const client = await connect(url());
      const { id } = waitingOf(await client.call('pay', { amount: 3 }));
      await crib.approvals.answer(id, { decision: 'deny', note: 'not on a Friday' }, OPERATOR);
      expect(await client.call('pay', { amount: 3 })).toMatchObject({
        isError: true,
        content: [{ text: 'denied: The approver denied "pay": not on a Friday.' }],
      });
      expect(paid).toEqual([]);
    });

    it('a parked one stays when its client is gone, for another one of the same caller', async () => {
      const { crib, url, paid } = await openBank();
      const first = await connect(url());
      const { id } = waitingOf(await first.call('pay', { amount: 3 }));
      const second = await connect(url());
      expect(waitingOf(await second.call('pay', { amount: 3 })).id).toBe(id);
      await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
      expect(await second.call('pay', { amount: 3 })).toMatchObject({ content: [{ text: 'paid' }] });
      expect(paid).toHaveLength(1);
    });

    it('timed out -> not run, and the next call makes a new request', async () => {
      const later = stillTime();
      onTestFinished(() => void vi.useRealTimers());
      const { crib, url, paid } = await openBank();
      const client = await connect(url());
      const { id } = waitingOf(await client.call('pay', { amount: 3 }));
      later(300_001);
      expect(await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR)).toMatchObject({
        error: { code: 'conflict', message: expect.stringContaining('expired') },
      });
      expect(waitingOf(await client.call('pay', { amount: 3 })).id).not.toBe(id);
      expect(paid).toEqual([]);
    });

    it("a failure after approval is the tool's failure", async () => {
      const { crib, url, paid } = await openBank();
      const client = await connect(url());
      const { id } = waitingOf(await client.call('pay', { amount: 13 }));
      await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
      expect(await client.call('pay', { amount: 13 })).toMatchObject({
        isError: true,
        content: [{ text: 'tool_error: The bank is closed' }],
      });
      expect(paid).toHaveLength(1);
    });
  });

  describe('Approval holds on every door and inside scripts, agents and background calls. A person approves what was asked: changed arguments or a changed definition need a new approval.', () => {
    it('inside another tool', async () => {
      const { url, paid } = await openBank();
      const answer = await (await connect(url())).call('pay_all');
      expect(answer.isError).toBe(true);
      expect(paid).toEqual([]);
    });

    it('changed arguments or a changed definition need a new approval', async () => {
      const { crib, url, paid } = await openBank();
      const client = await connect(url());
      const { id } = waitingOf(await client.call('pay', { amount: 3 }));
      expect(waitingOf(await client.call('pay', { amount: 4 })).id).not.toBe(id);
      crib.unregister('pay');
      crib.register({ name: 'pay', description: 'Pays twice', effects: { destructive: true }, run: { kind: 'bank' } });
      expect(waitingOf(await client.call('pay', { amount: 3 })).id).not.toBe(id);
      await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
      expect((await client.call('pay', { amount: 3 })).isError).toBe(true);
      expect(paid).toEqual([]);
    });
  });

  it('At most once for what may not be repeated, whatever dies: an approved, parked or background call is claimed atomically before it runs.', async () => {
    const { crib, url, paid } = await openBank();
    const clients = await Promise.all([1, 2, 3, 4].map(() => connect(url())));
    const { id } = waitingOf(await (clients[0] as (typeof clients)[number]).call('pay', { amount: 3 }));
    const stops = [crib.runParked(), crib.runParked()]; // as replicas do
    await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
    const answers = await Promise.all(clients.map((client) => client.call('pay', { amount: 3 })));
    for (const stop of stops) stop();
    expect(paid).toEqual([{ amount: 3 }]);
    expect(answers.filter(({ isError }) => isError !== true)).toHaveLength(1);
    expect(new Set(answers.filter(({ isError }) => isError).map((answer) => waitingOf(answer).id)).size).toBe(1);
  });
});

it('whichever replica runs an approved call, the same call sent again gets its result, and no approver is asked twice', async () => {
  const store = { url: `sqlite:${join(folderWith({}), 'crib.db')}` };
  const banks = [await openBank({ store }), await openBank({ store }), await openBank({ store })];
  const connect = ERAS['2025-11-25'];
  const clients = await Promise.all(banks.map(async ({ url }) => connect?.(url())));
  for (let amount = 1; amount <= 10; amount++) {
    const { id } = waitingOf((await clients[amount % 3]?.call('pay', { amount })) as CallAnswer); // there are three
    await banks[0]?.crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
    expect(await clients[(amount + 1) % 3]?.call('pay', { amount })).toMatchObject({ content: [{ text: 'paid' }] });
  }
  expect(banks.flatMap(({ paid }) => paid)).toHaveLength(10);
});
