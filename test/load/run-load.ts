import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { createWorkshop, type Workshop } from '../doors/cli/workshop.ts';
import { type Sent, sendUntil } from './clients.ts';
import { commandOf, descendantsOf, figuresAtRest, figuresOf, type ProcessFigures, peakOf } from './process-figures.ts';

const SERVER = join(import.meta.dirname, 'ledger-server.ts');
const OPERATOR_TOKEN = randomUUID();

export interface LoadOptions {
  readonly durationMs: number;
  readonly clients: number;
  /** Interval between two kills; the two upstreams take turns. */
  readonly killEveryMs: number;
  /** How long the server must not have given anything back before its figures are read, before and after the load. */
  readonly stillMs: number;
}

/** What happened, as the callers, the upstreams and the audit saw it. */
export interface LoadReport {
  readonly sent: readonly Sent[];
  /** How often each id was written by an upstream. */
  readonly written: ReadonlyMap<string, number>;
  /** Rows of the audit, in the order in which they were written. */
  readonly rows: readonly AuditRow[];
  readonly kills: number;
  readonly before: ProcessFigures;
  readonly peak: ProcessFigures;
  readonly after: ProcessFigures;
  readonly verifyCode: number | null;
}

export interface AuditRow {
  readonly kind: string;
  readonly outcome: string;
  readonly argumentsHash?: string;
  readonly count?: number;
}

/** Enough calls to compile the code and to fill the pools: neither is a leak. */
const WARM_UP_MS = 3000;
const SAMPLE_MS = 250;

/** Runs `toolcrib serve` with a stdio and an HTTP upstream that are killed all along, and many clients. */
export async function runLoad({ durationMs, clients, killEveryMs, stillMs }: LoadOptions): Promise<LoadReport> {
  const port = await freePort();
  const shop = createWorkshop({ 'toolcrib.yaml': configOf(port) });
  onTestFinished(shop.remove);
  const ledger = join(shop.folder, 'ledger.txt');
  const upstream = await startUpstream(ledger, port);
  onTestFinished(upstream.stop);
  const { child, pid, url } = await serve(shop);
  await sendUntil(url, clients, AbortSignal.timeout(WARM_UP_MS));
  const before = await restOf(pid, url, stillMs);
  let peak = before;
  const sampling = setInterval(() => {
    peak = peakOf(peak, figuresOf(pid));
  }, SAMPLE_MS);
  onTestFinished(() => clearInterval(sampling));
  const stop = new AbortController();
  const sending = sendUntil(url, clients, stop.signal);
  const kills = await killInTurn(durationMs, killEveryMs, [() => killStdioUpstream(pid), upstream.restart]);
  stop.abort();
  const sent = await sending;
  clearInterval(sampling);
  const after = await restOf(pid, url, stillMs);
  child.kill('SIGTERM');
  await once(child, 'close');
  const rows = await rowsOf(shop);
  const { code: verifyCode } = await shop.run(['audit', 'verify']);
  return { sent, written: writtenIn(ledger), rows, kills, before, peak, after, verifyCode };
}

/** Kills one upstream after the other, with a pause before each kill; resolves to how many were killed. */
async function killInTurn(
  durationMs: number,
  killEveryMs: number,
  ways: readonly (() => number | Promise<number>)[],
): Promise<number> {
  let kills = 0;
  const end = performance.now() + durationMs;
  for (let turn = 0; performance.now() < end; turn++) {
    await setTimeout(killEveryMs);
    kills += (await ways[turn % ways.length]?.()) ?? 0;
  }
  return kills;
}

/** What the server holds when all calls are answered, the upstreams are back, the audit is written and idle memory is given back. */
async function restOf(pid: number, url: string, stillMs: number): Promise<ProcessFigures> {
  while (!(await isReady(url)) || (await countWaitingRows(url)) > 0) await setTimeout(SAMPLE_MS);
  return figuresAtRest(pid, stillMs);
}

async function isReady(url: string): Promise<boolean> {
  const { ok } = await fetch(`${url}/readyz`);
  return ok;
}

async function countWaitingRows(url: string): Promise<number> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const metrics = await (await fetch(`${url}/metrics`, { headers })).text();
  const [, rows] = /^toolcrib_audit_waiting_rows (\d+)$/m.exec(metrics) ?? [];
  if (rows === undefined) throw new Error(`the server does not count the rows that wait: ${metrics}`);
  return Number(rows);
}

function configOf(port: number): string {
  const args = ['--no-warnings', SERVER, './ledger.txt'];
  return JSON.stringify({
    sources: {
      st: { mcp: { command: process.execPath, args, cwd: '.' }, trust: true },
      ht: { mcp: { url: `http://127.0.0.1:${port}/mcp` }, trust: true },
    },
    store: { url: 'sqlite:.toolcrib/crib.db' },
  });
}

interface Served {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly url: string;
}

async function serve(shop: Workshop): Promise<Served> {
  const child = shop.start(['serve', '--port', '0'], { env: { TOOLCRIB_OPERATOR_TOKEN: OPERATOR_TOKEN } });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdout.resume();
  let stderr = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.on('close', () => reject(new Error(`the server ended: ${stderr}`)));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr = (stderr + chunk).slice(-10_000);
      const [, found] = /listens on (\S+)/.exec(stderr) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  while (!(await isReady(url))) await setTimeout(SAMPLE_MS);
  return { child, pid: child.pid ?? 0, url };
}

interface Upstream {
  /** Kills the server and starts it again; resolves to the number of kills, which is 1. */
  restart(): Promise<number>;
  stop(): void;
}

async function startUpstream(ledger: string, port: number): Promise<Upstream> {
  let child = await start();
  return {
    async restart() {
      child.kill('SIGKILL');
      await once(child, 'exit');
      child = await start();
      return 1;
    },
    stop: () => void child.kill('SIGKILL'),
  };

  async function start() {
    const started = spawn(process.execPath, ['--no-warnings', SERVER, ledger, String(port)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await once(started.stderr, 'data');
    started.stderr.resume();
    return started;
  }
}

/** Kills the server that the crib started; answers how many it killed. */
function killStdioUpstream(pid: number): number {
  const found = descendantsOf(pid).filter((child) => / \S*ledger-server\.ts /.test(commandOf(child)));
  // The newest one is the server itself; what supervises it stands before it.
  const victim = found.at(-1);
  if (victim === undefined) return 0; // between two lives
  process.kill(victim, 'SIGKILL');
  return 1;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number }; // it listens on TCP
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function writtenIn(ledger: string): ReadonlyMap<string, number> {
  const written = new Map<string, number>();
  const lines = existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').filter(Boolean) : [];
  for (const id of lines) written.set(id, (written.get(id) ?? 0) + 1);
  return written;
}

async function rowsOf(shop: Workshop): Promise<readonly AuditRow[]> {
  const child = shop.start(['audit', 'export']);
  child.stdin.end();
  const closed = once(child, 'close');
  const rows: AuditRow[] = [];
  for await (const line of createInterface(child.stdout)) {
    const { kind, outcome, argumentsHash, count } = JSON.parse(line);
    rows.push({ kind, outcome, argumentsHash, count }); // a row has more, and there may be hundreds of thousands
  }
  const [code] = await closed;
  if (code !== 0) throw new Error(`audit export ended with ${code}`);
  return rows;
}
