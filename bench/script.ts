import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Chest, createCrib, defineTool } from 'toolcrib';
import { median, printTable } from './measure.ts';
import { benchJob } from './script-job.ts';

const ROUNDS = 40;
/** Compiling takes its time while other programs run. */
const WARM_UP_MS = 800;
const MANY = 20;
const WAITING = 50;
const NO_INPUT = { type: 'object' as const, properties: {} };

/** Scripts: a fresh machine, what a call in a script costs beside the same call without one, and scripts that wait. */
export async function benchScript(): Promise<void> {
  const tools = [
    defineTool({ name: 'instant', description: 'Answer at once', input: NO_INPUT, run: () => 1 }),
    defineTool({ name: 'slow', description: 'Answer after 20 ms', input: NO_INPUT, run: () => setTimeout(20, 1) }),
  ];
  // With a store, so that each script may wait and keeps a journal.
  const crib = await createCrib({ tools, store: 'memory', profiles: { agent: { expose: 'script' } } });
  const chest = await crib.open('agent', { id: 'alice' });
  const script = (code: string) => run(chest, 'execute_script', { code });
  const cold = await timed(() => script('return 1'));
  const rest = () => setTimeout(30); // the thread makes its next machine meanwhile
  const rested = await timesOf(() => script('return 1'), rest);
  const fresh = await timesOf(() => script('return 1'));
  const rows = [
    ['the first script of a process', ms(cold), '', 'with its thread'],
    ['a script that returns at once', ...both(rested), 'on a warm thread, its machine was made meanwhile'],
    ['the same, one after another', ...both(fresh), 'with the time to make its machine; limit 20 ms'],
  ];
  for (const [name, limit] of [
    ['instant', 'limit 60 us more a call'],
    ['slow', 'limit 1.5 times, and one machine'],
  ] as const) {
    const direct = await timesOf(() => Promise.all(Array.from({ length: MANY }, () => run(chest, name))));
    const code = `await Promise.all(Array.from({ length: ${MANY} }, () => tools.${name}()))`;
    const inside = await timesOf(() => script(code), rest);
    rows.push([
      `${MANY} calls in parallel, ${name}`,
      ...both(inside),
      `${beside(inside, { direct, rested }, MANY)}; ${limit}`,
    ]);
  }
  const direct = await timesOf(async () => {
    for (let count = 0; count < 100; count++) await run(chest, 'instant');
  });
  const inside = await timesOf(() => script('for (let i = 0; i < 100; i++) await tools.instant()'), rest);
  rows.push(['100 calls one after another, instant', ...both(inside), beside(inside, { direct, rested }, 100)]);
  await crib.close();
  rows.push(await benchWaiting());
  printTable('Scripts: lower quartile and median of 40 rounds', rows);
  await benchJob();
}

/** The memory of scripts that have made five calls and wait for the approval of a sixth. */
async function benchWaiting(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-'));
  const tools = [
    defineTool({ name: 'read', description: 'Read', input: NO_INPUT, run: () => ({ text: 'x'.repeat(10_000) }) }),
    defineTool({ name: 'write', description: 'x', input: NO_INPUT, effects: { destructive: true }, run: () => 1 }),
  ];
  const store = `sqlite:${join(folder, 'crib.db')}`;
  const crib = await createCrib({ tools, store, profiles: { agent: { expose: 'script' } } });
  const chest = await crib.open('agent', { id: 'alice' });
  const wait = async (n: number): Promise<void> => {
    const code = `const all = await Promise.all([1, 2, 3, 4, 5].map(() => tools.read())); await tools.write(); return ${n}`;
    const result = await chest.call('execute_script', { code }, { park: true });
    if (result.status !== 'waiting') throw new Error(JSON.stringify(result));
  };
  for (let n = 0; n < 4; n++) await wait(-n - 1); // its threads and caches stay
  const before = memory();
  for (let n = 0; n < WAITING; n++) await wait(n);
  const after = memory();
  await crib.close();
  rmSync(folder, { recursive: true, force: true });
  const heap = ((after.heap - before.heap) / 1e6).toFixed(1);
  return [
    `${WAITING} scripts that wait`,
    `${((after.all - before.all) / 1e6).toFixed(1)} MB`,
    '',
    `${heap} MB of it in the heap; limit 50 MB`,
  ];
}

function memory(): { readonly heap: number; readonly all: number } {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc');
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed, all: rss };
}

async function run(chest: Chest, name: string, input: object = {}): Promise<void> {
  const result = await chest.call(name, input, { park: true });
  if (!result.ok) throw new Error(`${name}: ${JSON.stringify(result)}`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

interface Times {
  /** A quarter of the rounds is quicker: other programs share the machine, and a script waits for its thread. */
  readonly quick: number;
  readonly median: number;
}

async function timesOf(work: () => Promise<unknown>, before?: () => Promise<unknown>): Promise<Times> {
  const times: number[] = [];
  for (const end = performance.now() + WARM_UP_MS; performance.now() < end; ) await work();
  for (let round = 0; round < ROUNDS; round++) {
    await before?.();
    times.push(await timed(work));
  }
  return { quick: times.toSorted((a, b) => a - b)[ROUNDS / 4] ?? 0, median: median(times) };
}

function both({ quick, median: middle }: Times): [string, string] {
  return [ms(quick), ms(middle)];
}

/** A script beside the same calls without one; the time of an empty script does not count. */
function beside(inside: Times, { direct, rested }: { readonly direct: Times; readonly rested: Times }, count: number) {
  const more = ((inside.quick - rested.quick - direct.quick) * 1000) / count;
  return `${ms(direct.quick)} without a script; ${more.toFixed(0)} us more a call`;
}

function ms(time: number): string {
  return `${time.toFixed(2)} ms`;
}

if (import.meta.main) await benchScript();
