import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { done } from '../../src/core/tool-result.ts';
import { openStore } from '../../src/store/open-store.ts';
import { type ManualClock, manualClock } from '../crib/manual-clock.ts';
import { AMPLE, addTo, payment } from './approvals-contract.ts';
import { missingPackage, sharedPostgres } from './postgres-server.ts';
import { startWire, type Wire } from './start-wire.ts';
import { ENDED, HERE, transfer } from './tasks-contract.ts';

const missing = missingPackage();
const title = missing === undefined ? 'PostgreSQL' : `PostgreSQL (skipped: ${missing} is not installed)`;
/** Between two signs of life. */
const BEAT_MS = 2000;
const WITHIN = { timeout: 20_000, interval: 20 };
const yes = { decision: 'approve', by: 'bob' } as const;
const served = payment({ parked: { callId: 'call-1' } });
const keeping = { owner: 'ann', bounds: AMPLE };
const calling = (id: string) => ({ id, argumentsHash: 'h', keepMs: 60_000, keeping });

describe.skipIf(missing !== undefined)(`${title}: a claim whose answer is lost`, { timeout: 60_000 }, () => {
  const server = sharedPostgres();

  /** A store behind a wire, which has another claim, so that its process says that it lives. */
  const behindWire = async (): Promise<{ readonly store: Store; readonly wire: Wire; readonly clock: ManualClock }> => {
    const clock = manualClock();
    const wire = await startWire(server.port);
    const url = new URL(await server.createStore());
    url.port = String(wire.port);
    const store = await openStore({ url: url.href, env: {}, clock });
    onTestFinished(async () => {
      await store.close();
      wire.close();
    });
    await store.repeats.begin('another', calling('call-0'));
    return { store, wire, clock };
  };

  it('is released: the approval was not used', async () => {
    const { store, wire, clock } = await behindWire();
    const { approval } = await addTo(store.approvals, served);
    await store.approvals.answer(approval.id, yes);
    wire.cutAtCommit("SET state = 'claimed'");
    await expect(store.approvals.claim(approval.id, served, 'call-1')).rejects.toThrow();
    expect(await store.approvals.stateOf(approval.id)).toBe('claimed');
    clock.advance(BEAT_MS);
    await vi.waitFor(async () => expect(await store.approvals.stateOf(approval.id)).toBe('approved'), WITHIN);
    expect(await store.approvals.claim(approval.id, served, 'call-1')).toMatchObject({ state: 'claimed' });
    await store.approvals.finish(approval.id, 'done', { result: done('paid'), isHandedOver: false });
    expect(await store.approvals.takeResult(approval.id, 'first')).toEqual(done('paid'));
  });

  it('is released if it was made together with the answer', async () => {
    const { store, wire, clock } = await behindWire();
    const { approval } = await addTo(store.approvals, payment({ isParked: false }));
    wire.cutAtCommit('lifetime_ms');
    await expect(store.approvals.answer(approval.id, yes, 'call-1')).rejects.toThrow();
    expect(await store.approvals.stateOf(approval.id)).toBe('claimed');
    clock.advance(BEAT_MS);
    await vi.waitFor(
      async () => expect(await store.approvals.find(payment())).toMatchObject({ state: 'approved' }),
      WITHIN,
    );
  });

  it('lets all tasks go that were claimed together', async () => {
    const { store, wire, clock } = await behindWire();
    for (const id of ['t1', 't2']) await store.tasks.add(transfer(id), AMPLE);
    wire.cutAtCommit('WITH next');
    await expect(store.tasks.claim(HERE)).rejects.toThrow();
    expect(await store.tasks.counts()).toMatchObject({ queued: 0, running: 2 });
    expect(await store.tasks.finish('t1', ENDED)).toBe(false);
    clock.advance(BEAT_MS);
    await vi.waitFor(async () => expect(await store.tasks.counts()).toMatchObject({ queued: 2, running: 0 }), WITHIN);
    expect(await store.tasks.claim(HERE)).toMatchObject([{ attempts: 1 }, { attempts: 1 }]);
    expect(await store.tasks.finish('t1', ENDED)).toBe(true);
  });

  it('of a task that has ended is written once more, without effect', async () => {
    const { store, wire, clock } = await behindWire();
    for (const id of ['t1', 't2']) await store.tasks.add(transfer(id), AMPLE);
    await store.tasks.claim(HERE);
    wire.cutAtCommit('ending.column1');
    await expect(store.tasks.finish('t1', ENDED)).rejects.toThrow();
    const endedAt = (await store.tasks.get('t1'))?.endedAt;
    expect(endedAt).toBeDefined();
    clock.advance(BEAT_MS);
    expect(await store.tasks.finish('t2', ENDED)).toBe(true);
    await store.close();
  });

  it('releases its idempotency key', async () => {
    const { store, wire, clock } = await behindWire();
    wire.cutAtCommit('INSERT INTO toolcrib_repeats');
    await expect(store.repeats.begin('k', calling('call-1'))).rejects.toThrow();
    expect(await store.repeats.begin('k', calling('call-2'))).toMatchObject({ state: 'running' });
    clock.advance(BEAT_MS);
    await vi.waitFor(
      async () => expect(await store.repeats.begin('k', calling('call-2'))).toEqual({ state: 'new' }),
      WITHIN,
    );
  });
});
