import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { openEngine } from '../../src/store/engines/open-engine.ts';
import { type SqlEngine, sql } from '../../src/store/engines/sql-engine.ts';
import { openStore } from '../../src/store/open-store.ts';
import { startProcess } from './start-process.ts';
import { temporaryFolder } from './temporary-folder.ts';

const PUT_SPECS = new URL('./processes/put-specs.ts', import.meta.url);
const PARK_CALLS = new URL('./processes/park-calls.ts', import.meta.url);
const HOLD_LOCK = new URL('./processes/hold-lock.ts', import.meta.url);
const WRITE_AND_LEAVE = new URL('./processes/write-and-leave.ts', import.meta.url);

async function opened(url: string): Promise<Store> {
  const store = await openStore({ url, env: {} });
  onTestFinished(() => store.close());
  return store;
}

async function openedEngine(url: string): Promise<SqlEngine> {
  const { engine } = await openEngine({ url, env: {} });
  onTestFinished(() => engine.close());
  return engine;
}

const temporaryUrl = () => `sqlite:${join(temporaryFolder(), 'crib.db')}`;

describe('several processes on one SQLite file', () => {
  it('four that start and write at once lose nothing and migrate once', { timeout: 60_000 }, async () => {
    const url = temporaryUrl();
    const writers = ['a', 'b', 'c', 'd'].map((prefix) => startProcess(PUT_SPECS, [url, prefix, '250']));
    expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
    const store = await opened(url);
    const names = (await store.specs.list()).map(({ name }) => name);
    expect(names).toEqual(writers.flatMap(({ lines }) => lines).toSorted());
    expect(names).toHaveLength(1000);
    expect(await store.specs.version()).toBe('1000');
  });

  it('four that park calls of one caller at once do not exceed its limit', { timeout: 60_000 }, async () => {
    const url = temporaryUrl();
    const parkers = ['a', 'b', 'c', 'd'].map((name) => startProcess(PARK_CALLS, [url, name, '20', '30']));
    expect(await Promise.all(parkers.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
    const counts = parkers.map(({ lines }) => (lines[0] ?? '').split(' ').map(Number));
    expect(counts.reduce((sum, [parked = 0]) => sum + parked, 0)).toBe(30);
    expect(counts.reduce((sum, [, taken = 0]) => sum + taken, 0)).toBe(30);
  });

  it('a killed writer leaves an intact file with all confirmed writes', { timeout: 60_000 }, async () => {
    const url = temporaryUrl();
    const writer = startProcess(PUT_SPECS, [url, 'a', '100000']);
    await writer.said(50);
    writer.child.kill('SIGKILL');
    expect(await writer.ended).toBe('SIGKILL');
    const store = await opened(url);
    const names = new Set((await store.specs.list()).map(({ name }) => name));
    expect(writer.lines.filter((name) => !names.has(name))).toEqual([]);
    expect(await store.specs.put({ name: 'next' }, 'alice')).toBe('added');
    const database = new DatabaseSync(url.slice('sqlite:'.length));
    onTestFinished(() => database.close());
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  });

  it('the event loop turns, and reads answer, while a write waits for a lock', async () => {
    const url = temporaryUrl();
    const store = await opened(url);
    await store.specs.put({ name: 'before' }, 'alice');
    const holder = startProcess(HOLD_LOCK, [url.slice('sqlite:'.length)]);
    await holder.said(1);
    let isWritten = false;
    const write = store.specs.put({ name: 'waiting' }, 'alice').finally(() => {
      isWritten = true;
    });
    for (let turn = 0; turn < 1000; turn++) {
      await nextTurn();
      if (turn % 100 === 0) expect(await store.specs.list()).toHaveLength(1);
    }
    expect(isWritten).toBe(false);
    holder.child.stdin?.end();
    expect(await write).toBe('added');
    expect(await holder.ended).toBe(0);
  });

  it.each(['BEGIN EXCLUSIVE', 'BEGIN; SELECT * FROM sqlite_master'])(
    'opening waits for another that said %s, and the event loop turns',
    async (begin) => {
      const url = temporaryUrl();
      const holder = startProcess(HOLD_LOCK, [url.slice('sqlite:'.length), begin]);
      await holder.said(1);
      const opening = opened(url);
      for (let turn = 0; turn < 1000; turn++) await nextTurn();
      holder.child.stdin?.end();
      expect(await (await opening).status()).toMatchObject({ reachable: true });
    },
  );

  it('a group that reads before it writes does not lose against other writers', async () => {
    const url = temporaryUrl();
    const engines = [await openedEngine(url), await openedEngine(url)];
    await engines[0]?.write([sql`CREATE TABLE counts (count BIGINT)`, sql`INSERT INTO counts VALUES (0)`]);
    const readForLong = sql`
      WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 20000)
      SELECT sum(number) FROM counts, numbers`;
    const readThenWrite = [readForLong, sql`UPDATE counts SET count = count + 1`];
    const countUp = async (engine: SqlEngine) => {
      for (let turn = 0; turn < 20; turn++) await engine.write(readThenWrite);
    };
    await Promise.all(engines.map(countUp));
    expect(await engines[1]?.read(sql`SELECT count FROM counts`)).toMatchObject([{ count: 40 }]);
  });

  it('another process sees the writes, and their version', async () => {
    const url = temporaryUrl();
    const store = await opened(url);
    const before = await store.specs.version();
    expect(await startProcess(PUT_SPECS, [url, 'other', '1']).ended).toBe(0);
    expect(await store.specs.version()).not.toBe(before);
    expect(await store.specs.list()).toMatchObject([{ name: 'other_0', by: 'other' }]);
  });
});

describe('a process that ends', () => {
  it('is not kept alive by an idle store, and not before its writes are done', async () => {
    const url = temporaryUrl();
    expect(await startProcess(WRITE_AND_LEAVE, [url]).ended).toBe(0);
    const store = await opened(url);
    expect((await store.specs.list()).map(({ name }) => name)).toEqual(['not_waited_for', 'waited_for']);
  });
});
