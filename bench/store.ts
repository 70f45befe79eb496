import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { openEngine } from '../src/store/engines/open-engine.ts';
import { type SqlEngine, type Statement, sql } from '../src/store/engines/sql-engine.ts';
import { openStore } from '../src/store/open-store.ts';
import { median, printTable } from './measure.ts';

const ROUNDS = 7;
const BATCHES = 200;
const ROWS = 100;
const CREATE = `CREATE TABLE calls (id TEXT, at BIGINT, caller TEXT, profile TEXT, tool TEXT, outcome TEXT,
  input_hash TEXT, result_hash TEXT, previous TEXT, hash TEXT, duration BIGINT)`;

/** How fast rows of the size of an audit row are written, and whether somebody else's lock is felt. */
export async function benchStore(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-'));
  try {
    const { raw, ours } = await compareInserts(folder);
    const stallMs = await worstDelayUnderLock(join(folder, 'locked.db'));
    const opening = await openingTimes(folder);
    printTable('The store on SQLite', [
      ['node:sqlite, batches of 100 audit-sized rows', `${rate(raw)} rows/s`],
      ['the same through the writer thread', `${rate(ours)} rows/s`, `${(ours / raw).toFixed(2)} of it`],
      ['worst delay of the event loop while another process holds the lock for 300 ms', `${stallMs.toFixed(1)} ms`],
      ['a new store opened', `${opening.newMs.toFixed(1)} ms`],
      ['a store that is there opened and read', `${opening.existingMs.toFixed(1)} ms`],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const rate = (rowsPerSecond: number) => Math.round(rowsPerSecond).toLocaleString('en');

/** Rounds take turns, so that a noisy moment hits both alike. */
async function compareInserts(folder: string): Promise<{ raw: number; ours: number }> {
  const batches = Array.from({ length: BATCHES }, (_, batch) =>
    Array.from({ length: ROWS }, (_, row) => insert(batch * ROWS + row)),
  );
  const raw: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    raw.push(insertRaw(join(folder, `raw-${round}.db`), batches));
    const { engine } = await openEngine({ url: `sqlite:${join(folder, `ours-${round}.db`)}`, env: {} });
    await engine.write([{ sql: CREATE, params: [] }]);
    ours.push(await insertOurs(engine, batches));
    await engine.close();
  }
  return { raw: median(raw), ours: median(ours) };
}

type Batches = readonly (readonly Statement[])[];

function insertRaw(file: string, batches: Batches): number {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${CREATE}`);
  const statement = database.prepare(batches[0]?.[0]?.sql ?? '');
  const begin = performance.now();
  for (const batch of batches) {
    database.exec('BEGIN IMMEDIATE');
    for (const { params } of batch) statement.run(...params);
    database.exec('COMMIT');
  }
  const elapsedMs = performance.now() - begin;
  database.close();
  return (BATCHES * ROWS * 1000) / elapsedMs;
}

async function insertOurs(engine: SqlEngine, batches: Batches): Promise<number> {
  const begin = performance.now();
  await Promise.all(batches.map((batch) => engine.write(batch)));
  return (BATCHES * ROWS * 1000) / (performance.now() - begin);
}

function insert(index: number): Statement {
  const hash = (index * 2_654_435_761).toString(16).padStart(64, '0');
  return sql`
    INSERT INTO calls VALUES (${`call_${index}`}, ${1_700_000_000_000 + index}, ${`user_${index % 7}`}, 'assistant',
      ${`tool_${index % 100}`}, 'done', ${hash}, ${hash}, ${hash}, ${hash}, ${index % 50})`;
}

/** Writes and reads go on all the time while a process of its own holds the lock. */
async function worstDelayUnderLock(file: string): Promise<number> {
  const store = await openStore({ url: `sqlite:${file}`, env: {} });
  await store.specs.put({ name: 'first' }, 'bench');
  const holder = spawn(process.execPath, ['-e', HOLD_LOCK, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(holder, 'exit');
  await once(holder.stdout, 'data');
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  let isHeld = true;
  const writes: Promise<unknown>[] = [];
  const untilReleased = once(holder.stdout, 'data').then(() => {
    isHeld = false;
  });
  for (let index = 0; isHeld; index++) {
    writes.push(store.specs.put({ name: `tool_${index}` }, 'bench'));
    await store.specs.list();
    await delay(2);
  }
  await Promise.all([untilReleased, ...writes]);
  loop.disable();
  await Promise.all([ended, store.close()]);
  return loop.max / 1e6;
}

const HOLD_LOCK = `
  const database = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
  database.exec('BEGIN EXCLUSIVE');
  console.log('held');
  setTimeout(() => { database.exec('COMMIT'); console.log('released'); }, 300);`;

async function openingTimes(folder: string): Promise<{ newMs: number; existingMs: number }> {
  const fresh: number[] = [];
  const existing: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const url = `sqlite:${join(folder, `open-${round}.db`)}`;
    fresh.push(await openAndRead(url));
    existing.push(await openAndRead(url));
  }
  return { newMs: median(fresh), existingMs: median(existing) };
}

async function openAndRead(url: string): Promise<number> {
  const begin = performance.now();
  const store = await openStore({ url, env: {} });
  await store.specs.list();
  const elapsedMs = performance.now() - begin;
  await store.close();
  return elapsedMs;
}
