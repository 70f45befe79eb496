import { expect, it } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import type { NewApproval } from '../../src/core/ports/stored-approvals.ts';
import { done } from '../../src/index.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';
import { addTo, payment } from './approvals-contract.ts';

const DAY = 86_400_000;
const NOON = 1_700_000_000_000;
const yes = { decision: 'approve', by: 'bob' } as const;
const odd = `? 'a' \\ \u0000 \ud800 \u{1f527}\n`;

/** A request of a call that a server runs. */
const served = (changes: Partial<NewApproval> = {}) => payment({ parked: { callId: 'call-1' }, turn: odd, ...changes });

/** What every store keeps to about calls that are parked for a server. */
export function parkedContract(opened: (options?: Partial<StoreOptions>) => Promise<Store>): void {
  const claimed = async (options?: Partial<StoreOptions>) => {
    const { approvals } = await opened(options);
    const { approval } = await addTo(approvals, served());
    await approvals.answer(approval.id, yes);
    await approvals.claim(approval.id, served(), 'call-1');
    return { approvals, id: approval.id };
  };
  const result = done(`paid ${odd}`, { amount: 3 });

  it('a request keeps the input of its call, and is found by its call', async () => {
    const { approvals } = await opened();
    const { approval } = await addTo(approvals, served());
    expect(await approvals.get(approval.id)).toMatchObject({ parked: served().parked });
    expect(await approvals.ofCall('call-1')).toEqual({ approval: await approvals.get(approval.id) });
    for (const callId of ['call-2', '', '\u0000', odd]) expect(await approvals.ofCall(callId)).toBeUndefined();
    const [listed] = await approvals.list({ limit: 1 });
    expect(listed).not.toHaveProperty('parked');
    expect(listed).not.toHaveProperty('result');
  });

  it('a call is found under each of its ids', async () => {
    const { approvals } = await opened();
    await addTo(approvals, served({ parked: { callId: odd } }));
    expect(await approvals.ofCall(odd)).toMatchObject({ approval: { parked: { callId: odd } } });
  });

  it('its result is stored, and returned once to a caller that does not name it', async () => {
    const { approvals, id } = await claimed();
    expect(await approvals.takeResult(id, 'any')).toBeUndefined();
    expect(await approvals.find(served())).toMatchObject({ id, state: 'claimed' });
    await approvals.finish(id, 'done', { result, isHandedOver: false });
    await approvals.finish(id, 'tool_error', { result: done('other'), isHandedOver: true });
    expect(await approvals.find(served())).toMatchObject({ id, state: 'done', outcome: 'done' });
    expect(await approvals.ofCall('call-1')).toMatchObject({ result });
    expect(await approvals.takeResult(id, 'first')).toEqual(result);
    expect(await approvals.takeResult(id, 'first')).toBeUndefined();
    expect(await approvals.takeResult(id, 'any')).toEqual(result);
    expect(await approvals.find(served())).toBeUndefined();
    expect(await addTo(approvals, served())).toMatchObject({ isNew: true });
  });

  it('of all concurrent readers, one gets it', async () => {
    const { approvals, id } = await claimed();
    await approvals.finish(id, 'done', { result, isHandedOver: false });
    const taken = await Promise.all(Array.from({ length: 10 }, () => approvals.takeResult(id, 'first')));
    expect(taken.filter((one) => one !== undefined)).toHaveLength(1);
  });

  it('a result that its caller already has is not new', async () => {
    const { approvals, id } = await claimed();
    await approvals.finish(id, 'done', { result, isHandedOver: true });
    expect(await approvals.find(served())).toBeUndefined();
    expect(await approvals.ofCall('call-1')).toMatchObject({ result });
  });

  it('listeners are told about the end', async () => {
    const { approvals, id } = await claimed();
    const told: string[] = [];
    const stop = approvals.onAnswer((one) => told.push(one));
    await approvals.finish(id, 'done', { result, isHandedOver: false });
    expect(told).toEqual([id]);
    stop();
  });

  it('a result is removed after a day, and the request stays', async () => {
    let now = NOON;
    const { approvals, id } = await claimed({ now: () => now });
    await approvals.finish(id, 'done', { result, isHandedOver: false });
    now += 2 * DAY;
    for (let count = 0; count < 101; count++) await addTo(approvals, payment({ argumentsHash: String(count) })); // now and then what is over is removed
    expect(await approvals.get(id)).toMatchObject({ state: 'done', outcome: 'done' });
    expect(await approvals.ofCall('call-1')).not.toHaveProperty('result');
    expect(await approvals.takeResult(id, 'any')).toBeUndefined();
  });

  it('a request that no server runs is unchanged: once claimed, it is no longer found', async () => {
    const { approvals } = await opened();
    const { approval } = await addTo(approvals, payment());
    await approvals.answer(approval.id, yes);
    await approvals.claim(approval.id, payment(), 'one');
    expect(await approvals.find(payment())).toBeUndefined();
    await approvals.finish(approval.id, 'done');
    expect(await approvals.takeResult(approval.id, 'any')).toBeUndefined();
  });
}
