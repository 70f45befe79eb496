import { expect, it } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import type { KeepBounds } from '../../src/core/ports/stored-results.ts';
import { done, type ToolResult } from '../../src/core/tool-result.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';
import { AMPLE } from './approvals-contract.ts';

type Opened = (options?: Partial<StoreOptions>) => Promise<Store>;

const QUOTA = 1_000_000;
const result = (id: string, text = 'a text', expiresAt = 2000) => ({ id, owner: 'ann', tool: 'look', text, expiresAt });

/** What every store keeps to about large results. */
export function resultsContract(opened: Opened): void {
  it('stores a result unchanged, text and data, until it expires', async () => {
    let now = 1000;
    const { results } = await opened({ now: () => now });
    const kept = { ...result('r1', 'line\n\u{1F600} "quoted" \\'), data: { list: [1, null, 'x'] } };
    expect(await results.put(kept, { quotaBytes: QUOTA })).toBe(true);
    expect(await results.get('r1')).toEqual(kept);
    expect(await results.get('r2')).toBeUndefined();
    now = 2000;
    expect(await results.get('r1')).toBeUndefined();
  });

  it('stores no more than the quota, and frees expired results', async () => {
    let now = 1000;
    const { results } = await opened({ now: () => now });
    const large = 'x'.repeat(600);
    expect(await results.put(result('r1', large), { quotaBytes: 1000 })).toBe(true);
    expect(await results.put(result('r2', large, 3000), { quotaBytes: 1000 })).toBe(false);
    expect(await results.get('r2')).toBeUndefined();
    now = 2000;
    expect(await results.put(result('r2', large, 3000), { quotaBytes: 1000 })).toBe(true);
  });

  it('stores no more of one owner than the quota of an owner', async () => {
    const { results } = await opened({ now: () => 1000 });
    const quotas = { quotaBytes: QUOTA, quotaBytesPerCaller: 1000 };
    const large = 'x'.repeat(600);
    expect(await results.put(result('r1', large), quotas)).toBe(true);
    expect(await results.put(result('r2', large), quotas)).toBe(false);
    expect(await results.put({ ...result('r3', large), owner: 'bob' }, quotas)).toBe(true);
  });

  it('stores megabytes', async () => {
    const { results } = await opened({ now: () => 1000 });
    const text = 'word '.repeat(2_000_000);
    expect(await results.put(result('r1', text), { quotaBytes: 100_000_000 })).toBe(true);
    expect((await results.get('r1'))?.text).toHaveLength(text.length);
  });
}

/** What every store keeps to about idempotency keys. */
export function repeatsContract(opened: Opened): void {
  const keeping = (owner = 'ann', bounds: Partial<KeepBounds> = {}) => ({ owner, bounds: { ...AMPLE, ...bounds } });
  const call = (id: string, argumentsHash = 'h1') => ({ id, argumentsHash, keepMs: 1000, keeping: keeping() });
  const ending = (result: ToolResult) => ({ ...keeping(), result, instead: done('too long') });

  it('accepts the first call with a key, and tells others how it ended', async () => {
    const { repeats } = await opened({ now: () => 5000 });
    expect(await repeats.begin('k', call('c1'))).toEqual({ state: 'new' });
    expect(await repeats.begin('k', call('c2', 'h2'))).toEqual({ state: 'running', argumentsHash: 'h1' });
    await repeats.end('k', 'c1', ending(done('paid', { receipt: 1 })));
    expect(await repeats.begin('k', call('c3'))).toEqual({
      state: 'ended',
      argumentsHash: 'h1',
      result: done('paid', { receipt: 1 }),
    });
  });

  it('accepts one of many concurrent ones', async () => {
    const { repeats } = await opened({ now: () => 5000 });
    const firsts = await Promise.all(Array.from({ length: 20 }, (_, index) => repeats.begin('k', call(`c${index}`))));
    expect(firsts.filter(({ state }) => state === 'new')).toHaveLength(1);
  });

  it('a released or expired key is new again; only its own call may release or end it', async () => {
    let now = 5000;
    const { repeats } = await opened({ now: () => now });
    await repeats.begin('k', call('c1'));
    await repeats.forget('k', 'somebody else');
    await repeats.end('k', 'somebody else', ending(done('forged')));
    expect(await repeats.begin('k', call('c2'))).toMatchObject({ state: 'running' });
    await repeats.forget('k', 'c1');
    expect(await repeats.begin('k', call('c3'))).toEqual({ state: 'new' });
    now = 6000;
    expect(await repeats.begin('k', call('c4'))).toEqual({ state: 'new' });
    await repeats.end('k', 'c3', ending(done('late')));
    expect(await repeats.begin('k', call('c5'))).toMatchObject({ state: 'running' });
  });
}
