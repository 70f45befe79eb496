import { expect, it } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';

type Opened = (options?: Partial<StoreOptions>) => Promise<Store>;

/** What every store keeps to about snapshots. */
export function snapshotsContract(opened: Opened): void {
  it('keeps the last snapshot of each name, byte for byte', async () => {
    const { snapshots } = await opened();
    const every = Uint8Array.from({ length: 1024 }, (_, place) => place % 256);
    await snapshots.put('a', new Uint8Array());
    await snapshots.put('b', Uint8Array.of(1, 2, 3));
    await snapshots.put('a', every.subarray(1)); // a view that begins anywhere
    expect(Array.from((await snapshots.get('a')) ?? [])).toEqual(Array.from(every.subarray(1)));
    expect(Array.from((await snapshots.get('b')) ?? [])).toEqual([1, 2, 3]);
    expect(await snapshots.get('c')).toBeUndefined();
  });

  it('stores megabytes, and the last of two concurrent writes is complete', async () => {
    const { snapshots } = await opened();
    const both = [7, 8].map((byte) => new Uint8Array(3_000_000).fill(byte));
    await Promise.all(both.map((bytes) => snapshots.put('a', bytes)));
    const kept = (await snapshots.get('a')) ?? new Uint8Array();
    expect(kept).toHaveLength(3_000_000);
    expect(kept.every((byte) => byte === kept[0])).toBe(true);
  });
}
