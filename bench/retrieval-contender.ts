import { readFileSync, writeFileSync } from 'node:fs';
import { SPEED_CONTENDERS } from './retrieval-contenders.ts';
import { longRequests, readCorpus, toolsOf } from './retrieval-corpus.ts';
import { putDownFile, startOverFile } from './retrieval-file.ts';

/** What one process measures of one contender; times in milliseconds. */
export type Figures = Readonly<Record<string, number>>;

/** A slow library answers fewer requests, so that the whole takes minutes. */
const ASKING_MS = 8000;
const WARMING_MS = 3000;
const FEWEST_REQUESTS = 5;
const MOST_REQUESTS = 1000;
const ADDED = 20;

// Run by `retrieval-speed.ts`, each in a process of its own: node retrieval-contender.ts NAME SIZE build|restart FILE,
// or with file|restart-file FOLDER
const [name, size = '1000', step = 'build', file = ''] = process.argv.slice(2);
const contender = SPEED_CONTENDERS.find((one) => one.name === name);
if (contender === undefined) throw new Error(`There is no contender "${name}".`);
// Copied, so that they lie in memory as in a process that has loaded these and no others.
const rows = structuredClone(toolsOf(readCorpus(), Number(size) + ADDED));
const prepared = contender.prepare(rows.slice(0, Number(size)));
const steps: Readonly<Record<string, () => Promise<Figures>>> = {
  build: measureBuild,
  restart: measureRestart,
  file: () => putDownFile(file, rows.slice(0, Number(size))).then(() => ({})),
  'restart-file': async () => ({ startMs: await startOverFile(file, 'send a message to a channel') }),
};
console.log(JSON.stringify(await steps[step]?.()));

async function measureRestart(): Promise<Figures> {
  const { restart } = await prepared.putDown(readFileSync(file));
  collectGarbage();
  const from = performance.now();
  const cpuFrom = cpuMs();
  await restart('send a message to a channel');
  const [startMs, startCpuMs] = [performance.now() - from, cpuMs() - cpuFrom];
  const again = performance.now();
  await restart('send a message to a channel');
  return { startMs, startCpuMs, warmStartMs: performance.now() - again };
}

async function measureBuild(): Promise<Figures> {
  const requests = longRequests();
  collectGarbage();
  const before = process.memoryUsage();
  const from = performance.now();
  const cpuFrom = cpuMs();
  const built = await prepared.build('send a message to a channel');
  const [buildMs, buildCpuMs] = [performance.now() - from, cpuMs() - cpuFrom];
  collectGarbage();
  const after = process.memoryUsage();
  const asked = await ask(built.ask, requests);
  const kept = built.keep();
  writeFileSync(file, kept);
  const addFrom = performance.now();
  for (const row of rows.slice(Number(size))) await built.add(row);
  const addMs = (performance.now() - addFrom) / ADDED;
  return {
    ...{ buildMs, buildCpuMs, ...asked, addMs, keptBytes: kept.length },
    heapBytes: after.heapUsed + after.external - before.heapUsed - before.external,
    rssBytes: after.rss - before.rss,
  };
}

async function ask(one: (query: string) => unknown, requests: readonly string[]): Promise<Figures> {
  await timesOf(one, requests, WARMING_MS);
  const cpuFrom = cpuMs();
  const times = await timesOf(one, requests, ASKING_MS);
  const askCpuMs = (cpuMs() - cpuFrom) / times.length;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return { p50Ms: at(0.5), p95Ms: at(0.95), askCpuMs, requests: times.length };
}

async function timesOf(one: (query: string) => unknown, requests: readonly string[], maxMs: number): Promise<number[]> {
  const until = performance.now() + maxMs;
  const times: number[] = [];
  while (times.length < MOST_REQUESTS && (times.length < FEWEST_REQUESTS || performance.now() < until)) {
    const from = performance.now();
    await one(requests[times.length % requests.length] ?? '');
    times.push(performance.now() - from);
  }
  return times;
}

function collectGarbage(): void {
  globalThis.gc?.();
  globalThis.gc?.();
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
