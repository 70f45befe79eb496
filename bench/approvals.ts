import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApprovals } from '../src/approvals/approvals.ts';
import type { NewApproval } from '../src/core/ports/stored-approvals.ts';
import { DEFAULT_KEEP_BOUNDS } from '../src/core/ports/stored-results.ts';
import { openStore } from '../src/store/open-store.ts';
import { median, printTable } from './measure.ts';

const PENDING = 10_000;
const ROUNDS = 15;
const BATCH = 500;
const BOUNDS = { ...DEFAULT_KEEP_BOUNDS, maxPerCaller: PENDING, maxTotal: 2 * PENDING };

/** How long it takes to list what waits, and to take one of many up. */
export async function benchApprovals(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-'));
  const store = await openStore({ url: `sqlite:${join(folder, 'approvals.db')}`, env: {} });
  try {
    for (let index = 0; index < PENDING; index += BATCH) {
      await Promise.all(
        Array.from({ length: BATCH }, (_, offset) => store.approvals.add(request(index + offset), BOUNDS)),
      );
    }
    const approvals = createApprovals({ store, redact: (text) => text });
    const listMs = await timed(ROUNDS, async () => {
      const { length } = await approvals.list({ state: 'waiting' });
      if (length !== PENDING) throw new Error(`${length} are listed`);
    });
    let next = 0;
    const takeMs = await timed(200, async () => {
      const added = await store.approvals.add(request(PENDING + next++), BOUNDS);
      if (!added.ok) throw new Error(`no room: ${added.broken}`);
      const { approval } = added;
      await store.approvals.answer(approval.id, { decision: 'approve', by: 'bench' });
      await store.approvals.claim(approval.id, approval, 'call');
      await store.approvals.finish(approval.id, 'done');
    });
    printTable(`Approvals, ${PENDING.toLocaleString('en')} of which wait (SQLite)`, [
      ['all of them listed', `${listMs.toFixed(1)} ms`],
      ['one asked for, approved, taken up and ended', `${takeMs.toFixed(2)} ms`],
    ]);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

function request(index: number): NewApproval {
  return {
    callerId: `user_${index % 50}`,
    caller: { id: `user_${index % 50}`, roles: ['dev'] },
    profile: 'assistant',
    tool: `tool_${index % 100}`,
    description: 'Moves money from one account to another and tells both owners',
    arguments: { from: 'operations', to: `supplier ${index}`, amount: index, note: 'invoice of last month' },
    callerHash: 'caller',
    unlisted: { caller: { id: `user_${index % 50}`, roles: ['dev'] } },
    definitionHash: 'd'.repeat(64),
    argumentsHash: index.toString(16).padStart(64, '0'),
    conversation: `conversation ${index % 500}`,
    door: 'mcp',
    reason: 'it is destructive',
    ground: 'it is destructive',
    approvers: ['operator'],
    isParked: true,
    lifetimeMs: 3_600_000,
  };
}

async function timed(rounds: number, work: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now();
    await work();
    times.push(performance.now() - begin);
  }
  return median(times);
}
