import { expect, it } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { MOST_DEFINITIONS } from '../../src/core/ports/stored-definitions.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';

/** What every store keeps to about definitions of tools and labels. */
export function definitionsContract(opened: (options?: Partial<StoreOptions>) => Promise<Store>): void {
  const one = (hash: string, tool = 'pay') => ({ tool, hash, source: 's', definition: { description: hash } });

  it('keeps each definition once, with the times of its first and last sight', async () => {
    let now = 10;
    const { definitions } = await opened({ now: () => now });
    await definitions.add([one('a'), one('a'), one('x', 'other')]);
    now = 20;
    await definitions.add([one('b')]);
    now = 30;
    await definitions.touch([{ tool: 'pay', hash: 'a' }]);
    expect(await definitions.of('pay')).toEqual([
      { ...one('a'), firstSeen: 10, lastSeen: 30 },
      { ...one('b'), firstSeen: 20, lastSeen: 20 },
    ]);
    expect(await definitions.seen()).toHaveLength(3);
    expect(await definitions.of('nothing')).toEqual([]);
  });

  it('keeps a bounded number of definitions for a tool, and none that was not seen for a year', async () => {
    let now = 1000;
    const { definitions } = await opened({ now: () => now });
    await definitions.add([one('old', 'gone')]);
    now += 366 * 86_400_000;
    for (let index = 0; index <= MOST_DEFINITIONS; index++, now++) await definitions.add([one(`h${index}`)]);
    const kept = await definitions.of('pay');
    expect(kept).toHaveLength(MOST_DEFINITIONS);
    expect(kept.map(({ hash }) => hash)).not.toContain('h0');
    expect(await definitions.of('gone')).toEqual([]);
  });

  it('keeps one label for a request', async () => {
    const { labels } = await opened({ now: () => 7 });
    const first = await labels.put({ query: 'send money', relevant: ['pay'], by: 'ann' });
    const second = await labels.put({ query: 'send money', relevant: [], by: 'bob' });
    expect(second).toEqual({ ...first, relevant: [], by: 'bob' });
    expect(await labels.list()).toEqual([second]);
    expect(await labels.remove(first?.id ?? '')).toBe(true);
    expect(await labels.remove(first?.id ?? '')).toBe(false);
    expect(await labels.list()).toEqual([]);
  });
}
