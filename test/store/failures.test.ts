import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openEngine } from '../../src/store/engines/open-engine.ts';
import { sql } from '../../src/store/engines/sql-engine.ts';
import { openStore, type StoreOptions } from '../../src/store/open-store.ts';
import { startProcess } from './start-process.ts';
import { temporaryFolder } from './temporary-folder.ts';

const HOLD_LOCK = new URL('./processes/hold-lock.ts', import.meta.url);

async function openedStore(file: string, options: Partial<StoreOptions> = {}) {
  const store = await openStore({ url: `sqlite:${file}`, env: {}, ...options });
  onTestFinished(() => store.close());
  return store;
}

const refusal = (...words: readonly string[]) => ({
  name: 'ToolcribError',
  code: 'store_unavailable',
  message: expect.stringMatching(new RegExp(words.join('.*'))),
});

describe('a store that is not available', () => {
  it('says that a folder, a device or a text file is not a store', async () => {
    const folder = temporaryFolder();
    await expect(openedStore(folder)).rejects.toMatchObject(refusal(folder, 'is a folder', 'store.url'));
    await expect(openedStore('/dev/null')).rejects.toMatchObject(refusal('/dev/null', 'is not a file'));
    const text = join(folder, 'notes.txt');
    writeFileSync(text, 'This is a text that has nothing to do with it.\n'.repeat(50));
    await expect(openedStore(text)).rejects.toMatchObject(refusal(text, 'is not a SQLite database'));
    await expect(openedStore(join(text, 'crib.db'))).rejects.toMatchObject(
      refusal('notes.txt/crib.db', 'not a folder'),
    );
  });

  it('says that the file or its folder is gone instead of writing to a deleted file, and continues when it is back', async () => {
    const folder = join(temporaryFolder(), 'state');
    const file = join(folder, 'crib.db');
    const store = await openedStore(file);
    await store.specs.put({ name: 'before' }, 'alice');
    renameSync(folder, `${folder}-away`);
    await expect(store.specs.put({ name: 'lost' }, 'alice')).rejects.toMatchObject(
      refusal(file, 'was removed', 'restore'),
    );
    await expect(store.specs.list()).rejects.toMatchObject(refusal(file, 'was removed'));
    expect(await store.status()).toMatchObject({ reachable: false, problem: expect.stringContaining('was removed') });
    renameSync(`${folder}-away`, folder);
    expect(await store.specs.put({ name: 'after' }, 'alice')).toBe('added');
    expect((await store.specs.list()).map(({ name }) => name)).toEqual(['after', 'before']);
  });

  it('says that the file was replaced by another', async () => {
    const file = join(temporaryFolder(), 'crib.db');
    const store = await openedStore(file);
    renameSync(file, `${file}.old`);
    writeFileSync(file, '');
    await expect(store.specs.put({ name: 'lost' }, 'alice')).rejects.toMatchObject(
      refusal(file, 'was replaced', 'restart'),
    );
    await expect(store.specs.list()).rejects.toMatchObject(refusal(file, 'was replaced'));
  });

  it('says that it is damaged', async () => {
    const file = join(temporaryFolder(), 'crib.db');
    const store = await openedStore(file);
    await store.specs.put({ name: 'big', description: 'x'.repeat(100_000) }, 'alice');
    await store.close();
    damage(file);
    const broken = openedStore(file).then((again) => again.specs.list());
    await expect(broken).rejects.toMatchObject(refusal(file, 'is damaged', 'backup'));
  });
});

/** Overwrites everything but the header and the list of tables. */
function damage(file: string): void {
  const descriptor = openSync(file, 'r+');
  for (let page = 1; page < 20; page++) writeSync(descriptor, Buffer.alloc(4096, 0xff), 0, 4096, page * 4096);
  closeSync(descriptor);
}

describe('a damaged index', () => {
  it('is ignored, and the next one replaces it', async () => {
    const file = join(temporaryFolder(), 'crib.db');
    const { indexes } = await openedStore(file);
    await indexes.put('/a.ndjson', { hash: 'one', text: '{}' });
    const { engine } = await openEngine({ url: `sqlite:${file}`, env: {} });
    onTestFinished(() => engine.close());
    await engine.write([sql`UPDATE toolcrib_indexes SET content = ${Uint8Array.of(0xff, 0)}`]);
    expect(await indexes.get('/a.ndjson')).toBeUndefined();
    await indexes.put('/a.ndjson', { hash: 'two', text: '{}' });
    expect(await indexes.get('/a.ndjson')).toEqual({ hash: 'two', text: '{}' });
  });
});

describe('a store without room', () => {
  it('says that it is full, keeps its data, and continues when there is room', async () => {
    const file = join(temporaryFolder(), 'crib.db');
    const { engine } = await openEngine({ url: `sqlite:${file}`, env: {} });
    onTestFinished(() => engine.close());
    await engine.write([sql`CREATE TABLE texts (text TEXT)`, sql`INSERT INTO texts VALUES ('kept')`]);
    await engine.write([sql`PRAGMA max_page_count = 10`]);
    const tooMuch = sql`INSERT INTO texts VALUES (${'x'.repeat(100_000)})`;
    const small = sql`INSERT INTO texts VALUES ('small')`;
    const [big] = await Promise.allSettled([engine.write([small, tooMuch]), engine.write([small])]);
    expect(big).toMatchObject({ reason: refusal(file, 'is on a full disk', 'free some space') });
    await engine.write([sql`PRAGMA max_page_count = 10000`]);
    await engine.write([tooMuch]);
    expect(await engine.read(sql`SELECT text FROM texts WHERE text = 'kept'`)).toHaveLength(1);
  });

  it('waits for the lock of another process up to a limit, then names the locked file', async () => {
    const file = join(temporaryFolder(), 'crib.db');
    const store = await openedStore(file, { lockTimeoutMs: 100 });
    const holder = startProcess(HOLD_LOCK, [file]);
    await holder.said(1);
    await expect(store.specs.put({ name: 'late' }, 'alice')).rejects.toMatchObject(
      refusal(file, 'is locked', 'try again'),
    );
    holder.child.stdin?.end();
    await holder.ended;
    expect(await store.specs.put({ name: 'late' }, 'alice')).toBe('added');
  });

  it('rejects pending writes when the writer thread dies, and the next write starts another', async () => {
    const workers: Worker[] = [];
    const remember = (worker: Worker) => void workers.push(worker);
    process.on('worker', remember);
    onTestFinished(() => void process.off('worker', remember));
    const store = await openedStore(join(temporaryFolder(), 'crib.db'));
    await store.specs.put({ name: 'before' }, 'alice');
    const hit = store.specs.put({ name: 'hit' }, 'alice');
    await Promise.all([
      expect(hit).rejects.toMatchObject(refusal('writer thread', 'try again')),
      workers[0]?.terminate(),
    ]);
    expect(await store.specs.put({ name: 'after' }, 'alice')).toBe('added');
    expect(workers).toHaveLength(2);
  });

  it('rejects only a value that no column can hold', async () => {
    const { engine } = await openEngine({ url: `sqlite:${join(temporaryFolder(), 'crib.db')}`, env: {} });
    onTestFinished(() => engine.close());
    await engine.write([sql`CREATE TABLE texts (text TEXT)`]);
    const wrong = (() => 'text') as unknown as string; // what the types forbid
    await expect(engine.write([sql`INSERT INTO texts VALUES (${wrong})`])).rejects.toMatchObject(
      refusal('could not be cloned'),
    );
    await engine.write([sql`INSERT INTO texts VALUES ('right')`]);
    expect(await engine.read(sql`SELECT text FROM texts`)).toHaveLength(1);
  });
});

it('closes although its file is gone', async () => {
  const folder = join(temporaryFolder(), 'state');
  mkdirSync(folder);
  const store = await openStore({ url: `sqlite:${folder}/crib.db`, env: {} });
  rmSync(folder, { recursive: true });
  await expect(store.close()).resolves.toBeUndefined();
  await expect(store.specs.list()).rejects.toThrow(/closed/);
});
