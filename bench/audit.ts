import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Chest, type Crib, createCrib, defineTool } from 'toolcrib';
import { median, microsecondsOf, printTable, spreadOf } from './measure.ts';

const CALLS = 100_000;
const WARM_UP = 20_000;
const CALLS_PER_TURN = 1000;
const ROUNDS = 5;

/** What a call costs with everything on, and how fast rows are written and verified. */
export async function benchAudit(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-audit-'));
  process.env.XDG_STATE_HOME = join(folder, 'state'); // nothing is written into the home of the person who runs the bench
  try {
    const off: Cost[] = [];
    const on: Cost[] = [];
    // Rounds take turns, so that a noisy moment hits both alike.
    for (let round = 0; round < ROUNDS; round++) {
      off.push(await costOf(folder, `off-${round}`, 'extensions: { audit: false }'));
      on.push(await costOf(folder, `on-${round}`, ''));
    }
    const { rowsPerSecond, verifyMs } = await recordAndVerify(folder);
    printTable('One call of an asynchronous tool: all guards, metrics, a store; us', [
      ['', 'CPU, this thread (mean / median)', 'CPU, all threads (mean / median)', 'wall (mean / median)'],
      ['without audit', ...shown(off)],
      ['with audit', ...shown(on)],
    ]);
    printTable('The audit', [
      ['rows recorded, hashed and committed', `${Math.round(rowsPerSecond).toLocaleString('en')} rows/s`],
      [`verified, ${CALLS.toLocaleString('en')} rows`, `${Math.round(verifyMs)} ms`],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Microseconds of one call in one round. */
interface Cost {
  /** Of single calls: what is written in between does not show. */
  readonly medianUs: number;
  readonly wallUs: number;
  readonly threadUs: number;
  /** Of all threads, until the last row is written. */
  readonly processUs: number;
}

function shown(costs: readonly Cost[]): readonly string[] {
  const spreads = (['threadUs', 'processUs'] as const).map((key) => spreadOf(costs.map((cost) => cost[key])));
  const wall = spreadOf(costs.map(({ wallUs }) => wallUs)).mean;
  const single = median(costs.map(({ medianUs }) => medianUs));
  return [...spreads, { mean: wall, median: single }].map(
    ({ mean, median: middle }) => `${mean.toFixed(2)} / ${middle.toFixed(2)}`,
  );
}

async function open(folder: string, name: string, extensions: string): Promise<{ crib: Crib; chest: Chest }> {
  // Each in a folder of its own: the checkpoints of one store are findings in another.
  const configFile = join(folder, name, 'toolcrib.yaml');
  mkdirSync(join(folder, name));
  writeFileSync(configFile, `store: { url: "sqlite:crib.db" }\n${extensions}\n`);
  const number = { type: 'number' } as const;
  const add = defineTool({
    name: 'add',
    description: 'Add two numbers',
    input: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'], additionalProperties: false },
    effects: { readOnly: true },
    policy: {
      access: { roles: ['dev'] },
      rates: [{ scope: 'caller', amount: 1e12, perMs: 1000 }],
      concurrency: [{ scope: 'tool', amount: 100 }],
      timeoutMs: 5000,
      retries: 2,
    },
    run: async ({ a, b }) => a + b,
  });
  const policy = { rates: [{ scope: 'profile' as const, amount: 1e12, perMs: 1000 }] };
  const crib = await createCrib({ configFile, tools: [add], profiles: { assistant: { policy } }, watch: false });
  return { crib, chest: await crib.open('assistant', { id: 'alice', roles: ['dev'] }) };
}

async function costOf(folder: string, name: string, extensions: string): Promise<Cost> {
  const { crib, chest } = await open(folder, name, extensions);
  await call(chest, WARM_UP);
  const times = new Float64Array(CALLS);
  const [thread, all] = [process.threadCpuUsage(), process.cpuUsage()];
  const begin = performance.now();
  await call(chest, CALLS, times);
  const elapsedMs = performance.now() - begin;
  await crib.calls.list({ limit: 1 }); // waits for what was recorded
  const threadUs = microsecondsOf(process.threadCpuUsage(thread)) / CALLS;
  const processUs = microsecondsOf(process.cpuUsage(all)) / CALLS;
  await crib.close();
  const middle = times.sort()[CALLS / 2] ?? Number.NaN;
  return { medianUs: middle * 1000, wallUs: (elapsedMs * 1000) / CALLS, threadUs, processUs };
}

/** As a server would: the event loop has its turn now and then. */
async function call(chest: Chest, count: number, times?: Float64Array): Promise<void> {
  for (let index = 0; index < count; index++) {
    const begin = performance.now();
    await chest.call('add', { a: index, b: 2 });
    if (times !== undefined) times[index] = performance.now() - begin;
    if (index % CALLS_PER_TURN === 0) await setImmediate();
  }
}

async function recordAndVerify(folder: string): Promise<{ rowsPerSecond: number; verifyMs: number }> {
  const { crib, chest } = await open(folder, 'verified', '');
  const begin = performance.now();
  await call(chest, CALLS);
  await crib.calls.list({ limit: 1 }); // waits for what was recorded
  const recordedMs = performance.now() - begin;
  const verifying = performance.now();
  const report = await crib.audit.verify();
  const verifyMs = performance.now() - verifying;
  if (!report.ok || report.rows !== CALLS) throw new Error(`${report.rows} rows: ${JSON.stringify(report.findings)}`);
  await crib.close();
  return { rowsPerSecond: (CALLS * 1000) / recordedMs, verifyMs };
}
