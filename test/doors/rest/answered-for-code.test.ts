import { describe, expect, it, vi } from 'vitest';
import { serve } from './served.ts';

describe('a call that code parked', () => {
  it('is approved over REST, run once, and code gets its result even after an operator has read it', async () => {
    const { ask, crib, deeds, token } = await serve();
    const chest = await crib.open(undefined, { id: 'ann' });
    const waiting = await chest.call('wipe', { what: 'all' }, { park: true });
    if (waiting.status !== 'waiting') throw new Error('it does not wait');
    const { id, callId = '' } = waiting.waiting;
    expect(await ask(`/api/approvals/${id}`, { token, body: { decision: 'approve' } })).toMatchObject({ status: 200 });
    await vi.waitFor(async () =>
      expect((await ask(`/api/calls/${callId}`, { token })).json).toMatchObject({
        state: 'ended',
        result: { ok: true },
      }),
    );
    expect((await ask(`/api/calls/${callId}`, { token })).json.call).not.toHaveProperty('result');
    expect(await chest.call('wipe', { what: 'all' }, { park: true })).toMatchObject({ ok: true }); // it was not handed over
    expect(await crib.calls.get(callId)).toMatchObject({ result: { ok: true } });
    expect(deeds.wiped).toHaveLength(1);
  });
});
