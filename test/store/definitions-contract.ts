import { expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { MOST_DEFINITIONS, MOST_DEFINITIONS_IN_ALL, MOST_OF_SOURCE } from '../../src/core/ports/stored-definitions.ts';
import { openEngine } from '../../src/store/engines/open-engine.ts';
import { sql } from '../../src/store/engines/sql-engine.ts';
import type { StoreOptions } from '../../src/store/open-store.ts';

/** What every store keeps to about definitions of tools and labels. */
export function definitionsContract(
  opened: (options?: Partial<StoreOptions>) => Promise<Store>,
  place: () => Promise<string>,
): void {
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

  it('keeps a bounded number of definitions in all, the newest', async () => {
    const url = await place();
    if (url === 'memory:') return; // no other connection can write to it
    const { definitions } = await opened({ url, now: () => 1_000_000 });
    const { engine } = await openEngine({ url, env: {} });
    onTestFinished(() => engine.close());
    const rows = sql`
      INSERT INTO toolcrib_definitions (tool, hash, source, first_seen, last_seen, definition)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MOST_DEFINITIONS_IN_ALL})
      SELECT 'tool ' || n, 'hash', 'source ' || (n % 5), n, n, '{}' FROM numbers`;
    await engine.write([rows]);
    await definitions.add([one('a'), one('b')]);
    const kept = (await definitions.seen()).map(({ tool }) => tool);
    expect(kept).toHaveLength(MOST_DEFINITIONS_IN_ALL);
    expect(kept).toEqual(expect.arrayContaining(['pay', 'tool 3', `tool ${MOST_DEFINITIONS_IN_ALL}`]));
    expect(kept).not.toContain('tool 2');
  });

  it('keeps a bounded size of definitions for a source, the newest, and those of other sources', async () => {
    const url = await place();
    if (url === 'memory:') return; // no other connection can write to it
    const { definitions } = await opened({ url, now: () => 1_000_000 });
    const { engine } = await openEngine({ url, env: {} });
    onTestFinished(() => engine.close());
    const large = 'x'.repeat(MOST_OF_SOURCE.bytes / 8);
    const rows = sql`
      INSERT INTO toolcrib_definitions (tool, hash, source, first_seen, last_seen, definition)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 9)
      SELECT 'tool ' || n, 'hash', CASE WHEN n = 1 THEN 'honest' ELSE 's' END, n, n, CAST(${large} AS TEXT) FROM numbers`;
    await engine.write([rows]);
    await definitions.add([one('a')]);
    const kept = (await definitions.seen()).map(({ tool }) => tool).toSorted();
    expect(kept).toEqual(['pay', 'tool 1', ...[3, 4, 5, 6, 7, 8, 9].map((n) => `tool ${n}`)]);
  });

  it('keeps a bounded number of definitions for a source', async () => {
    const url = await place();
    if (url === 'memory:') return; // no other connection can write to it
    const { definitions } = await opened({ url, now: () => 1_000_000 });
    const { engine } = await openEngine({ url, env: {} });
    onTestFinished(() => engine.close());
    const rows = sql`
      INSERT INTO toolcrib_definitions (tool, hash, source, first_seen, last_seen, definition)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MOST_OF_SOURCE.definitions})
      SELECT 'tool ' || n, 'hash', 's', n, n, '{}' FROM numbers`;
    await engine.write([rows]);
    await definitions.add([one('a')]);
    expect((await definitions.seen()).map(({ tool }) => tool)).not.toContain('tool 1');
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
