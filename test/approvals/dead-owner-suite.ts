import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Crib, createCrib, type ToolResult } from '../../src/index.ts';
import { openEngine } from '../../src/store/engines/open-engine.ts';
import { numberOf, sql } from '../../src/store/engines/sql-engine.ts';
import { folderWith } from '../crib/workshop.ts';
import { startProcess } from '../store/start-process.ts';
import { bank, idOf, OPERATOR, PAY } from './payments.ts';

const HOLD_PAYMENTS = new URL('./processes/hold-payments.ts', import.meta.url);
const FREE = { ...PAY, name: 'pay_free', effects: {}, policy: { approval: 'never' } } as const;
/** What docs/reliability.md promises, three times. */
const WITHIN_MS = 3 * 12_000;

/** A crib that shares the store with another process, which runs an approved payment and one with a key. */
async function sharedWith(place: string) {
  const folder = folderWith({ 'toolcrib.yaml': '', notes: '' });
  const url = place === '' ? `sqlite:${join(folder, 'crib.db')}` : place;
  const paid: unknown[] = [];
  const executor = bank(({ input }) => void paid.push(input));
  const crib = await createCrib({ configFile: folder, store: { url }, tools: [PAY, FREE], executors: [executor] });
  onTestFinished(() => crib.close());
  const chest = await crib.open(undefined, { id: 'alice' });
  const ask = (more: object = {}) => chest.call('pay', { amount: 3 }, { door: 'rest', park: true, ...more });
  const askKeyed = () => chest.call('pay_free', { amount: 5 }, { idempotencyKey: 'order' });
  const notes = join(folder, 'notes');
  const waiting = await ask({ id: 'approved' });
  const approvalId = idOf(waiting);
  await crib.approvals.answer(approvalId, { decision: 'approve' }, OPERATOR);
  const other = startProcess(HOLD_PAYMENTS, [url, notes, folder]);
  await other.said(2);
  const runs = () => readFileSync(notes, 'utf8').trim().split('\n').toSorted();
  return { crib, other, ask, askKeyed, approvalId, paid, runs, url };
}

type Shared = Awaited<ReturnType<typeof sharedWith>>;

/** Both calls, once their outcome counts as unknown. */
async function untilUnknown({ crib, askKeyed }: Shared): Promise<void> {
  const stop = crib.runParked();
  const unknown = { error: { code: 'unknown_outcome' } };
  const options = { timeout: WITHIN_MS, interval: 250 };
  await vi.waitFor(async () => expect(await askKeyed()).toMatchObject(unknown), options);
  await vi.waitFor(async () => expect(await stateOf(crib)).toMatchObject({ state: 'ended', result: unknown }), options);
  stop();
}

const stateOf = (crib: Crib) => crib.parked('approved', { id: 'alice' });

/** When the other process last said that it lives. */
async function lastSign(url: string): Promise<number> {
  const { engine } = await openEngine({ url, env: {} });
  const [row] = await engine.read(sql`SELECT max(seen_at) AS seen_at FROM toolcrib_processes`);
  await engine.close();
  return row === undefined ? 0 : numberOf(row, 'seen_at');
}

/** The outcomes on record of a call that ran. */
async function outcomesOf(crib: Crib, callId: string): Promise<readonly string[]> {
  const outcomes: string[] = [];
  for await (const row of crib.audit.export()) if (row.callId === callId) outcomes.push(row.outcome);
  return outcomes;
}

/** What is true of claims whose process is gone, on an engine that processes share; '' names a file of its own each time. */
export function deadOwnerSuite(place: () => Promise<string>): void {
  describe('a process that was killed while its calls ran', () => {
    it('leaves calls with an unknown outcome within seconds; they are recorded and never run again', async () => {
      const shared = await sharedWith(await place());
      const { crib, other, ask, askKeyed, approvalId, paid, runs } = shared;
      expect(await askKeyed()).toMatchObject({ error: { code: 'conflict', retryable: true } });
      expect(await stateOf(crib)).toMatchObject({ state: 'running' });
      other.child.kill('SIGKILL');
      await other.ended;
      await untilUnknown(shared);
      expect(await ask({ approvalId })).toMatchObject({ error: { code: 'unknown_outcome' } });
      expect(await crib.approvals.get(approvalId)).toMatchObject({ state: 'done', outcome: 'unknown_outcome' });
      await vi.waitFor(async () => {
        expect(await outcomesOf(crib, 'keyed')).toEqual(['unknown_outcome']);
        expect((await outcomesOf(crib, 'approved')).toSorted()).toEqual(['intent', 'unknown_outcome', 'waiting']);
      });
      expect(await crib.calls.get('approved')).toMatchObject({
        outcome: 'unknown_outcome',
        tool: 'pay',
        caller: 'alice',
        door: 'rest',
        approval: { id: approvalId, by: 'olga' },
        argumentsHash: expect.any(String),
      });
      expect(await crib.calls.get('keyed')).toMatchObject({
        tool: 'pay_free',
        caller: 'alice',
        source: 'code',
      });
      expect((await crib.audit.verify()).findings.map(({ kind }) => kind)).not.toContain('intent_open');
      expect(idOf(await ask())).not.toBe(approvalId); // once the result was handed over it is a new call
      expect(runs()).toEqual(['approved', 'keyed']);
      expect(paid).toEqual([]);
    }, 120_000);
  });

  describe('a process that was only frozen', () => {
    it('corrects the outcome from unknown to the real one, and no tool runs twice', async () => {
      const shared = await sharedWith(await place());
      const { crib, other, ask, askKeyed, approvalId, paid, runs } = shared;
      other.child.kill('SIGSTOP');
      await untilUnknown(shared);
      other.child.kill('SIGCONT');
      other.child.stdin?.write('go on\n');
      await other.said(3);
      const paidResult = { ok: true, content: [{ text: 'paid' }] };
      const answers: (() => Promise<ToolResult>)[] = [askKeyed, () => ask({ approvalId })];
      for (const answer of answers)
        await vi.waitFor(async () => expect(await answer()).toMatchObject(paidResult), 20_000);
      expect(await stateOf(crib)).toMatchObject({ state: 'ended', result: paidResult });
      await vi.waitFor(async () => {
        expect(await crib.calls.get('approved')).toMatchObject({ outcome: 'done' });
      }, 20_000);
      expect(runs()).toEqual(['approved', 'keyed']);
      expect(paid).toEqual([]);
    }, 120_000);
  });

  describe('a process that is slow', () => {
    it('keeps its claims as long as it lives', async () => {
      const shared = await sharedWith(await place());
      const { crib, other, askKeyed, runs, url } = shared;
      const stop = crib.runParked();
      const first = await lastSign(url);
      await vi.waitFor(
        async () => {
          expect(await askKeyed()).toMatchObject({ error: { code: 'conflict' } });
          expect(await stateOf(crib)).toMatchObject({ state: 'running' });
          expect((await lastSign(url)) - first).toBeGreaterThan(12_000);
        },
        { timeout: 60_000, interval: 500 },
      );
      stop();
      other.child.stdin?.write('go on\n');
      await vi.waitFor(async () => expect(await askKeyed()).toMatchObject({ ok: true }), 20_000);
      expect(runs()).toEqual(['approved', 'keyed']);
    }, 120_000);
  });
}
