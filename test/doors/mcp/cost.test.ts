import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { freePort } from '../../../bench/processes.ts';
import { type EchoClient, httpWire, openClient } from '../../../bench/wire-client.ts';
import { folderWith } from '../../crib/workshop.ts';

const ROOT = join(import.meta.dirname, '../../..');
const ECHO = join(ROOT, 'bench/peers/echo-stdio.ts');
const TEXT = 'x'.repeat(1000);
const IN_FLIGHT = 32;
const WARM_UP_CALLS = 3000;
const CALLS = 2000;
const ROUNDS = 3;

/** What a process has used up to now. */
interface Used {
  readonly cpuUs: number;
  /** What the garbage collector of young objects took for living, and left to the one of the whole heap. */
  readonly agedBytes: number;
}

/** Answers each message with what the process has used. */
const REPORT = `
  import { PerformanceObserver } from 'node:perf_hooks';
  import { getHeapSpaceStatistics } from 'node:v8';
  import { isMainThread } from 'node:worker_threads';
  const oldBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size;
  let [last, agedBytes] = [oldBytes(), 0];
  const look = () => {
    const now = oldBytes();
    agedBytes += Math.max(0, now - last);
    last = now;
  };
  if (isMainThread) {
    new PerformanceObserver(look).observe({ entryTypes: ['gc'] });
    process.on('message', () => {
      look();
      const { user, system } = process.cpuUsage();
      process.send({ cpuUs: user + system, agedBytes });
    });
  }`;

/** A gateway in a process of its own. */
interface Measured {
  readonly child: ChildProcess;
  readonly client: EchoClient;
  readonly sum: { cpuUs: number; agedBytes: number };
}

async function start(file: string, argsFor: (port: string) => readonly string[], cwd = ROOT): Promise<Measured> {
  const port = await freePort();
  const execArgv = ['--import', `data:text/javascript,${encodeURIComponent(REPORT)}`];
  const child = fork(join(ROOT, file), argsFor(`${port}`), { cwd, execArgv, silent: true });
  const wire = httpWire(`http://127.0.0.1:${port}/mcp`);
  onTestFinished(async () => {
    wire.close();
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const client = await vi.waitFor(() => openClient(wire, '2025-11-25'));
  return { child, client, sum: { cpuUs: 0, agedBytes: 0 } };
}

async function usedBy(child: ChildProcess): Promise<Used> {
  const answered = once(child, 'message');
  child.send('how much?');
  return (await answered)[0] as Used; // of REPORT
}

async function call(client: EchoClient, calls: number): Promise<void> {
  let left = calls;
  const callAgain = async () => {
    while (left-- > 0) await client.echo(TEXT);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, callAgain));
}

async function measure({ child, client, sum }: Measured): Promise<void> {
  const before = await usedBy(child);
  await call(client, CALLS);
  const after = await usedBy(child);
  sum.cpuUs += after.cpuUs - before.cpuUs;
  sum.agedBytes += after.agedBytes - before.agedBytes;
}

// `npm run bench:gateway` has the figures. The bounds are generous, so that no busy machine fails them.
it('a call through the gateway costs a bounded multiple of copying its bytes, and leaves little behind', async () => {
  const raw = await start('bench/peers/raw-gateway.ts', (port) => [port, process.execPath, ECHO]);
  const server = { command: process.execPath, args: [ECHO] };
  const config = { sources: { bench: { mcp: server, trust: true } } };
  const folder = folderWith({ 'toolcrib.yaml': JSON.stringify(config) });
  const ours = await start('src/doors/cli/main.ts', (port) => ['serve', '--port', port], folder);
  for (const { client } of [raw, ours]) await call(client, WARM_UP_CALLS);
  for (let round = 0; round < ROUNDS; round++) for (const each of [raw, ours]) await measure(each);
  expect(ours.sum.cpuUs / raw.sum.cpuUs).toBeLessThan(9);
  // A row of the audit waits to be written; what else a call had is dead soon after its answer.
  expect(ours.sum.agedBytes / (CALLS * ROUNDS)).toBeLessThan(6000);
});
