import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { type Chest, createCrib } from 'toolcrib';
import { median, printTable } from './measure.ts';
import { openTaskPlace, startTaskProcess, type TaskProcess } from './task-place.ts';

const PICKUPS = 200;
const CALLS = 3000;
const ROUNDS = 3;
const IN_FLIGHT = 64;
const CONCURRENCY = 8;
const QUEUED = 10_000;
const PAUSE_MS = 5;
/** The statement that counts what has ended. */
const ENDED = "SELECT count(*) AS count FROM toolcrib_tasks WHERE state = 'done'";

const place = await openTaskPlace();
const { urlOf, configure } = place;

/** Time from the submission of a call to the begin of its tool, with nothing else to do. */
async function benchPickup(): Promise<void> {
  const rows = [['', 'p50', 'p95', 'max']];
  const sqlite = await createCrib({ configFile: configure('sqlite', 'sqlite:crib.db') });
  const times = new Map<number, bigint>();
  Object.assign(globalThis, { noteBegun: (number: number, began: bigint) => times.set(number, began) });
  sqlite.server.runTasks();
  rows.push(['SQLite, the same process', ...(await pickups(await sqlite.open(), times))]);
  await sqlite.close();
  const configFile = configure('pickup', urlOf('ours'));
  const runner = await startTaskProcess('task-worker.ts', [configFile, String(CONCURRENCY)]);
  const crib = await createCrib({ configFile });
  rows.push(['PostgreSQL, another process', ...(await pickups(await crib.open(), runner.times))]);
  await crib.close();
  await runner.end();
  const boss = await openBoss('pickup');
  const theirs = await startTaskProcess('pg-boss-worker.ts', [urlOf('theirs'), 'pickup', String(CONCURRENCY)]);
  const send = (number: number) => boss.send('pickup', { number });
  rows.push(['pg-boss on PostgreSQL, another process', ...(await timesOf(send, theirs.times))]);
  await boss.stop({ graceful: false });
  await theirs.end();
  printTable(`Pickup: from the submission to the begin of the tool, ${PICKUPS} calls one after the other`, rows);
}

const pickups = (chest: Chest, times: ReadonlyMap<number, bigint>) => timesOf((number) => submit(chest, number), times);

async function timesOf(send: (number: number) => Promise<unknown>, times: ReadonlyMap<number, bigint>) {
  const found: number[] = [];
  for (let number = 0; number < PICKUPS + 20; number++) {
    const begin = process.hrtime.bigint();
    await send(number);
    while (!times.has(number)) await setTimeout(1);
    if (number >= 20) found.push(Number((times.get(number) ?? begin) - begin) / 1e6);
    await setTimeout(PAUSE_MS); // its end is stored
  }
  const sorted = found.toSorted((a, b) => a - b);
  return [0.5, 0.95, 1].map((part) => `${(sorted[Math.ceil(part * sorted.length) - 1] ?? 0).toFixed(1)} ms`);
}

async function submit(chest: Chest, number: number): Promise<void> {
  const result = await chest.submit('note', { number }, { door: 'rest' }); // the door of a server: this process runs none
  if (result.status !== 'waiting') throw new Error(JSON.stringify(result));
}

async function openBoss(queue: string): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: urlOf('theirs'), useListenNotify: true });
  boss.on('error', (error) => console.error(error.message));
  await boss.start();
  await boss.createQueue(queue, { notify: true });
  return boss;
}

/** Calls that are stored and run in a second. */
interface Rates {
  readonly stored: number;
  readonly ended: number;
}

/** Background calls per second, from the first submission to the last stored end. Rounds take turns. */
async function benchThroughput(): Promise<void> {
  const contenders: Readonly<Record<string, (round: number) => Promise<Rates>>> = {
    'Toolcrib: access, rates, audit, result': ours,
    'pg-boss, send one by one, a worker with batches of 8': (round) => theirs(`each${round}`, sendEach),
    'pg-boss, insert by 100, a worker with batches of 8': (round) => theirs(`many${round}`, insertMany),
  };
  const rates = new Map<string, Rates[]>(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, run] of Object.entries(contenders)) rates.get(name)?.push(await run(round));
  const figures = [...rates].map(([name, all]) => ({
    name,
    stored: median(all.map(({ stored }) => stored)),
    ended: median(all.map(({ ended }) => ended)),
  }));
  const [own] = figures;
  printTable(`${CALLS.toLocaleString('en')} background calls on PostgreSQL, one process submits, one runs 8 at once`, [
    ['', 'stored/s', 'ended/s', 'Toolcrib in % of it'],
    ...figures.map(({ name, stored, ended }) => [
      name,
      rate(stored),
      rate(ended),
      String(Math.round((100 * (own?.ended ?? 0)) / ended)),
    ]),
  ]);
}

const rate = (perSecond: number) => Math.round(perSecond).toLocaleString('en');

async function ours(round: number): Promise<Rates> {
  const database = `ours_${round}`;
  await place.createDatabase(database);
  const configFile = configure(database, urlOf(database));
  const crib = await createCrib({ configFile });
  const chest = await crib.open();
  const runner = await startTaskProcess('task-worker.ts', [configFile, String(CONCURRENCY)]);
  const send = () => inFlight((number) => submit(chest, number));
  const rates = await measure(send, { runner, database, ended: ENDED });
  await crib.close();
  await runner.end();
  return rates;
}

type Send = (boss: PgBoss, queue: string) => Promise<void>;

const sendEach: Send = (boss, queue) => inFlight((number) => boss.send(queue, { number }));

const insertMany: Send = async (boss, queue) => {
  for (let first = 0; first < CALLS; first += 100)
    await boss.insert(
      queue,
      Array.from({ length: 100 }, (_, index) => ({ data: { number: first + index } })),
    );
};

async function theirs(queue: string, send: Send): Promise<Rates> {
  const boss = await openBoss(queue);
  const runner = await startTaskProcess('pg-boss-worker.ts', [urlOf('theirs'), queue, String(CONCURRENCY)]);
  const ended = `SELECT count(*) AS count FROM pgboss.job WHERE name = '${queue}' AND state = 'completed'`;
  const rates = await measure(() => send(boss, queue), { runner, database: 'theirs', ended });
  await boss.stop({ graceful: false });
  await runner.end();
  return rates;
}

/** Sends all calls, some of them at once. */
async function inFlight(send: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const client = async () => {
    while (next < CALLS) await send(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
}

interface Measured {
  readonly runner: TaskProcess;
  readonly database: string;
  readonly ended: string;
}

async function measure(send: () => Promise<void>, { runner, database, ended }: Measured): Promise<Rates> {
  const client = new pg.Client(urlOf(database));
  await client.connect();
  const begin = performance.now();
  await send();
  const storedMs = performance.now() - begin;
  await runner.begun(CALLS);
  const count = async () => Number((await client.query(ended)).rows[0]?.count);
  while ((await count()) < CALLS) await setTimeout(1);
  const endedMs = performance.now() - begin;
  await client.end();
  return { stored: (CALLS * 1000) / storedMs, ended: (CALLS * 1000) / endedMs };
}

/** What tasks cost that are stored and not due yet. */
async function benchMemory(): Promise<void> {
  const rows = [['', 'heap and buffers', 'RSS']];
  for (const [name, url] of [
    ['SQLite', 'sqlite:memory-bench.db'],
    ['PostgreSQL', urlOf('ours')],
  ] as const) {
    const crib = await createCrib({ configFile: configure(`memory-${name}`, url) });
    const chest = await crib.open();
    crib.server.runTasks();
    await chest.submit('note', { number: 0 }, { door: 'rest', delayMs: 3_600_000 });
    const before = await memory();
    let next = 0;
    const client = async () => {
      while (next < QUEUED) await chest.submit('note', { number: next++ }, { door: 'rest', delayMs: 3_600_000 });
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, client));
    const after = await memory();
    rows.push([name, megabytes(after.held - before.held), megabytes(after.rss - before.rss)]);
    await crib.close();
  }
  printTable(
    `Memory of a process that has submitted ${QUEUED.toLocaleString('en')} tasks and waits for their time`,
    rows,
  );
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

async function memory(): Promise<{ held: number; rss: number }> {
  for (let count = 0; count < 3; count++) {
    globalThis.gc?.();
    await setTimeout(200); // rows of the audit are written meanwhile
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { held: heapUsed + external, rss };
}

for (const name of ['ours', 'theirs']) await place.createDatabase(name);
try {
  const wanted = process.argv[2];
  for (const [name, bench] of Object.entries({ pickup: benchPickup, calls: benchThroughput, memory: benchMemory }))
    if (wanted === undefined || wanted === name) await bench();
} finally {
  await place.close();
}
process.exit(0);
