import { expect, it } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';

type Opened = (options?: Partial<StoreOptions>) => Promise<Store>;

const DAY_MS = 24 * 60 * 60 * 1000;

/** What every store keeps to about indexes of files. */
export function indexesContract(opened: Opened): void {
  it('keeps the last index of each file', async () => {
    const { indexes } = await opened();
    await indexes.put('/a.ndjson', { hash: 'one', text: '{}' });
    await indexes.put('/b.ndjson', { hash: 'two', text: '[]' });
    await indexes.put('/a.ndjson', { hash: 'three', text: 'is opaque: \u{1f527} "\\' });
    expect(await indexes.get('/a.ndjson')).toEqual({ hash: 'three', text: 'is opaque: \u{1f527} "\\' });
    expect(await indexes.get('/b.ndjson')).toEqual({ hash: 'two', text: '[]' });
    expect(await indexes.get('/c.ndjson')).toBeUndefined();
  });

  it('stores megabytes, and the last of two concurrent writes is complete', async () => {
    const { indexes } = await opened();
    const texts = ['tool_a ', 'tool_b '].map((name) => name.repeat(300_000));
    await Promise.all(texts.map((text, index) => indexes.put('/a.ndjson', { hash: String(index), text })));
    const kept = await indexes.get('/a.ndjson');
    expect(kept?.text === texts[Number(kept?.hash)]).toBe(true);
  });

  it('drops indexes that were not written for three months, at the next write', async () => {
    let now = 1_700_000_000_000;
    const { indexes } = await opened({ now: () => now });
    await indexes.put('/gone.ndjson', { hash: 'one', text: '' });
    now += 60 * DAY_MS;
    await indexes.put('/kept.ndjson', { hash: 'two', text: '' });
    expect(await indexes.get('/gone.ndjson')).toBeDefined();
    now += 40 * DAY_MS;
    await indexes.put('/new.ndjson', { hash: 'three', text: '' });
    expect(await indexes.get('/gone.ndjson')).toBeUndefined();
    expect(await indexes.get('/kept.ndjson')).toBeDefined();
  });
}
