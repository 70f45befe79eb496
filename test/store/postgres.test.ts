import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { openStore, type StoreOptions } from '../../src/store/open-store.ts';
import { engineContract } from './engine-contract.ts';
import { ratesContract } from './limits-contract.ts';
import { otherClocksContract } from './other-clocks-contract.ts';
import { missingPackage, PASSWORD, sharedPostgres } from './postgres-server.ts';
import { startProcess } from './start-process.ts';
import { startWire } from './start-wire.ts';
import { storeContract } from './store-contract.ts';

const PUT_SPECS = new URL('./processes/put-specs.ts', import.meta.url);
const PARK_CALLS = new URL('./processes/park-calls.ts', import.meta.url);
const missing = missingPackage();
const title = missing === undefined ? 'PostgreSQL' : `PostgreSQL (skipped: ${missing} is not installed)`;

describe.skipIf(missing !== undefined)(title, { timeout: 30_000 }, () => {
  const server = sharedPostgres();

  const place = () => server.createStore();
  const emptyPlace = async () => server.urlOf(await server.createDatabase());
  const opened = async (url: string, options: Partial<StoreOptions> = {}): Promise<Store> => {
    const store = await openStore({ url, env: {}, ...options });
    onTestFinished(() => store.close());
    return store;
  };

  describe('the store', () => storeContract(place, emptyPlace));
  describe('the engine', () => engineContract(emptyPlace));
  describe('machines with different clocks', () => otherClocksContract(opened, place));
  describe('shared rates', () => ratesContract(async () => opened(await place())));

  it('is shared by processes: four that start and write at once lose nothing', async () => {
    const url = await emptyPlace();
    const writers = ['a', 'b', 'c', 'd'].map((prefix) => startProcess(PUT_SPECS, [url, prefix, '50']));
    expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
    const store = await opened(url);
    expect((await store.specs.list()).map(({ name }) => name)).toEqual(
      writers.flatMap(({ lines }) => lines).toSorted(),
    );
    expect(await store.specs.version()).toBe('200');
  });

  it('is shared by processes: four that park calls of one caller at once do not exceed its limit', async () => {
    const url = await place();
    const parkers = ['a', 'b', 'c', 'd'].map((name) => startProcess(PARK_CALLS, [url, name, '20', '30']));
    expect(await Promise.all(parkers.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
    const counts = parkers.map(({ lines }) => (lines[0] ?? '').split(' ').map(Number));
    expect(counts.reduce((sum, [parked = 0]) => sum + parked, 0)).toBe(30);
    expect(counts.reduce((sum, [, taken = 0]) => sum + taken, 0)).toBe(30);
  });

  it('migrates under a lock that all processes share', async () => {
    const database = await server.createDatabase();
    const other = await server.connect(database);
    onTestFinished(() => other.end());
    await other.query('SELECT pg_advisory_lock($1)', [2_742_001]);
    const opening = opened(server.urlOf(database));
    const waiting = `SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
      WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`;
    while ((await other.query(waiting)).rowCount === 0);
    await other.query('SELECT pg_advisory_unlock_all()');
    expect(await (await opening).status()).toMatchObject({ reachable: true });
  });

  it('one store sees the changes of another', async () => {
    const url = await place();
    const [one, other] = [await opened(url), await opened(url)];
    const before = await one.specs.version();
    await other.specs.put({ name: 'shared' }, 'bob');
    expect(await one.specs.version()).not.toBe(before);
    expect(await one.specs.list()).toMatchObject([{ name: 'shared', by: 'bob' }]);
  });

  it('waits for the lock of another up to a limit, then says so', async () => {
    const database = await server.createDatabase();
    const store = await opened(server.urlOf(database), { lockTimeoutMs: 100 });
    const holder = await server.connect(database);
    onTestFinished(() => holder.end());
    await holder.query('BEGIN; LOCK TABLE toolcrib_specs IN ACCESS EXCLUSIVE MODE');
    await expect(store.specs.put({ name: 'late' }, 'alice')).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(new RegExp(`${database} is locked .* try again`)),
    });
    await holder.query('COMMIT');
    expect(await store.specs.put({ name: 'late' }, 'alice')).toBe('added');
  });

  it('rejects pending writes when the connection breaks, and continues', async () => {
    const database = await server.createDatabase();
    const wire = await startWire(server.port);
    onTestFinished(() => wire.close());
    const url = server.urlOf(database).replace(`:${server.port}`, `:${wire.port}`);
    const store = await opened(url, { lockTimeoutMs: 30_000 });
    const other = await server.connect(database);
    onTestFinished(() => other.end());
    await other.query('BEGIN; LOCK TABLE toolcrib_specs IN ACCESS EXCLUSIVE MODE');
    const hit = expect(store.specs.put({ name: 'hit' }, 'alice')).rejects.toMatchObject({ code: 'store_unavailable' });
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'`;
    while ((await other.query(waiting, [database])).rowCount === 0);
    wire.cut();
    await hit;
    await other.query('COMMIT');
    expect(await store.specs.put({ name: 'after' }, 'alice')).toBe('added');
  });

  it('continues after the server closed its idle connections', async () => {
    const database = await server.createDatabase();
    const store = await opened(server.urlOf(database));
    const other = await server.connect(database);
    onTestFinished(() => other.end());
    const breakAll = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE application_name = 'toolcrib' AND datname = $1`;
    expect((await other.query(breakAll, [database])).rowCount).toBeGreaterThan(0);
    await store.status();
    expect(await store.specs.put({ name: 'after' }, 'alice')).toBe('added');
  });

  it('shows its address without the password', async () => {
    const database = await server.createDatabase();
    const store = await opened(server.urlOf(database));
    expect(await store.status()).toMatchObject({
      engine: 'postgres',
      location: `postgres://127.0.0.1:${server.port}/${database}`,
    });
  });

  it('never reveals the password, whatever goes wrong', async () => {
    const right = server.urlOf('crib_unknown');
    const urls = {
      unknownDatabase: right,
      wrongUser: right.replace('//postgres:', '//nobody:'),
      wrongPort: right.replace(`:${server.port}`, ':1'),
      unknownHost: right.replace('127.0.0.1', 'host.invalid'),
      notEncoded: `postgres://postgres:${PASSWORD}@127.0.0.1/db`,
      halfEncoded: `postgres://postgres:12/${PASSWORD}@127.0.0.1/db`,
      inQuery: `postgres://postgres@127.0.0.1:1/db?password=${encodeURIComponent(PASSWORD)}`,
    };
    for (const [name, url] of Object.entries(urls)) {
      const error = await openStore({ url, env: {} }).catch((refused: unknown) => refused);
      expect(error, name).toMatchObject({ name: 'ToolcribError', message: expect.stringMatching(/store\.url/) });
      const told = inspect(error, { depth: 10, showHidden: true });
      for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), 'p@ss', 'w#rd'])
        expect(told, name).not.toContain(secret);
    }
  });
});
