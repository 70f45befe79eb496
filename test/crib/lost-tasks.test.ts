import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { AuditTrail, LostCall } from '../../src/core/ports/audit-trail.ts';
import { createFindLost } from '../../src/crib/background/lost-claims.ts';
import { openStore } from '../../src/store/open-store.ts';
import { AMPLE } from '../store/approvals-contract.ts';
import { HERE, transfer } from '../store/tasks-contract.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';

it('a task of a dead process is recorded once with an unknown outcome, unless it is queued again', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const url = `sqlite:${join(temporaryFolder(), 'crib.db')}`;
  const [dead, left] = [await openStore({ url, env: {} }), await openStore({ url, env: {} })];
  onTestFinished(() => left.close());
  await dead.tasks.add(transfer('once'), AMPLE);
  await dead.tasks.add(transfer('again', { isRepeatable: true }), AMPLE);
  await dead.tasks.claim(HERE);
  await dead.close(); // its claims are left

  const recorded: LostCall[] = [];
  const trail = { recordLost: (call: LostCall) => void recorded.push(call) } as unknown as AuditTrail; // the part that is used
  const told: unknown[] = [];
  const findLost = createFindLost(left, {
    onLostTask: ({ id, state, outcome }, result) => void told.push([id, state, outcome, result.status]),
    trail: () => trail,
    sourceOf: () => 'bank',
    keepLooking: () => () => undefined,
    warn: (message) => expect(message).toBe(''),
  });
  expect(await findLost()).toBe(false);
  vi.advanceTimersByTime(3000);
  expect(await findLost()).toBe(true);
  expect(await findLost()).toBe(false);
  expect(recorded).toEqual([
    {
      callId: 'once',
      at: expect.any(Number),
      tool: 'pay',
      source: 'bank',
      profile: 'default',
      door: 'rest',
      conversation: 'c1',
      caller: 'ann',
      roles: ['clerk'],
      intents: 0,
    },
  ]);
  expect(told).toEqual([['once', 'done', 'unknown_outcome', 'failed']]);
  expect(await left.tasks.get('again')).toMatchObject({ state: 'queued' });
  expect(await left.tasks.result('once')).toMatchObject({
    error: { code: 'unknown_outcome', message: expect.stringMatching(/task "once".* must not run twice/) },
  });
});
