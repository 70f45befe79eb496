import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { createWorkshop, type Workshop } from '../cli/workshop.ts';
import { type Sent, sendUntil } from './clients.ts';
import { commandOf, descendantsOf, figuresOf, type ProcessFigures } from './process-figures.ts';

const SERVER = join(import.meta.dirname, 'ledger-server.ts');

export interface LoadOptions {
  readonly durationMs: number;
  readonly clients: number;
  /** Interval between two kills; the two upstreams take turns. */
  readonly killEveryMs: number;
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

/** Runs `toolcrib serve` with a stdio and an HTTP upstream that are killed all along, and many clients. */
export async function runLoad({ durationMs, clients, killEveryMs }: LoadOptions): Promise<LoadReport> {
  const port = await freePort();
  const shop = createWorkshop({ 'toolcrib.yaml': configOf(port) });
  onTestFinished(shop.remove);
  const ledger = join(shop.folder, 'ledger.txt');
  let upstream = await startUpstream(ledger, port);
  onTestFinished(() => void upstream.kill('SIGKILL'));
  const { child, url } = await serve(shop);
  const pid = child.pid ?? 0;
  await sendUntil(url, clients, AbortSignal.timeout(2000)); // code is compiled, pools are full
  const before = figuresOf(pid);
  let peak = before;
  let kills = 0;
  let turn = 0;
  const stop = new AbortController();
  const sending = sendUntil(url, clients, stop.signal);
  for (let end = performance.now() + durationMs; performance.now() < end; ) {
    await setTimeout(killEveryMs);
    const { rssMb, descriptors, children } = figuresOf(pid);
    peak = {
      rssMb: Math.max(peak.rssMb, rssMb),
      descriptors: Math.max(peak.descriptors, descriptors),
      children: Math.max(peak.children, children),
    };
    if (turn++ % 2 === 0) kills += killStdioUpstream(pid);
    else {
      kills++;
      upstream.kill('SIGKILL');
      await once(upstream, 'exit');
      upstream = await startUpstream(ledger, port);
    }
  }
  stop.abort();
  const sent = await sending;
  await setTimeout(3000); // idle connections are let go, memory is collected
  const after = figuresOf(pid);
  child.kill('SIGTERM');
  await once(child, 'close');
  const exported = await shop.run(['audit', 'export']);
  const { code: verifyCode } = await shop.run(['audit', 'verify']);
  return { sent, written: writtenIn(ledger), rows: rowsOf(exported.stdout), kills, before, peak, after, verifyCode };
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

async function serve(shop: Workshop): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = shop.start(['serve', '--port', '0']);
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
  while (!(await fetch(`${url}/readyz`)).ok) await setTimeout(50);
  return { child, url };
}

async function startUpstream(ledger: string, port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--no-warnings', SERVER, ledger, String(port)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await once(child.stderr, 'data');
  child.stderr.resume();
  return child;
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

function rowsOf(exported: string): readonly AuditRow[] {
  return exported
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
