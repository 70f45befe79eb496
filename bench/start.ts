import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { entry } from './cli.ts';
import { median, printTable } from './measure.ts';
import { createProcesses, type Processes, type Started } from './processes.ts';
import { httpWire, openClient } from './wire-client.ts';

const ROOT = join(import.meta.dirname, '..');
const ROUNDS = 11;
const PATIENCE_MS = 20_000;
const CALLS = 20_000;
const IN_FLIGHT = 64;
const LETTERS = 1000;
/** The garbage collector returns memory some time after the last call. */
const IDLE_MS = 25_000;

const IMPORT = `
  const took = (begin) => { const { user, system } = process.cpuUsage(begin); return (user + system) / 1000; };
  const begin = process.cpuUsage();
  const { createCrib } = await import('toolcrib');
  const imported = took(begin);
  const crib = await createCrib({ tools: [{ name: 'one', description: 'One', input: { type: 'object' }, run: () => 1 }] });
  const created = took(begin);
  await (await crib.open()).call('one', {});
  console.log(JSON.stringify([imported, created - imported, took(begin) - created]));
  process.exit();`;

/** What the library and `serve` take to start: CPU time of the library, time and memory of the server, also after load. */
export async function benchStart(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'toolcrib-bench-'));
  const processes = createProcesses();
  try {
    mkdirSync(join(home, 'node_modules'));
    symlinkSync(ROOT, join(home, 'node_modules/toolcrib'));
    for (const name of ['@modelcontextprotocol', 'zod'])
      symlinkSync(join(ROOT, 'node_modules', name), join(home, 'node_modules', name));
    cpSync(join(ROOT, 'examples/starter/notes-server.js'), join(home, 'notes-server.js'));
    writeFileSync(join(home, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(home, 'none.yaml'), 'sources: {}\n');
    writeFileSync(join(home, 'mcp.yaml'), 'sources:\n  notes: { mcp: { command: node, args: [./notes-server.js] } }\n');
    const runs = Array.from({ length: ROUNDS }, () => {
      const printed = execFileSync(process.execPath, ['--input-type=module', '-e', IMPORT], { cwd: home });
      return JSON.parse(printed.toString()) as readonly number[]; // printed just now
    });
    const cpu = (part: number) => `${median(runs.map((run) => run[part] ?? 0)).toFixed(0)} ms`;
    const rows = [
      ["import 'toolcrib'", cpu(0), 'CPU'],
      ['the first createCrib', cpu(1), 'CPU'],
      ['its first call', cpu(2), 'CPU'],
    ];
    for (const [name, config] of [
      ['toolcrib serve, no source', 'none.yaml'],
      ['toolcrib serve, connected to an MCP server', 'mcp.yaml'],
    ] as const) {
      const figures: Figures[] = [];
      for (let round = 0; round < 5; round++) {
        const started = processes.start([entry(), 'serve', '--port', '0', '--config', config], { cwd: home });
        figures.push(await figuresOf(started, config === 'mcp.yaml'));
        started.child.kill('SIGTERM');
      }
      const middle = (key: keyof Figures) => median(figures.map((figure) => figure[key])).toFixed(0);
      const until = config === 'mcp.yaml' ? ', a call made and recorded' : '';
      rows.push([`${name}${until}`, `${middle('readyMs')} ms`, `${middle('rssMb')} MB resident`]);
    }
    rows.push(await afterLoad(processes, home));
    printTable('Start and memory', rows);
  } finally {
    await processes.end();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
}

interface Figures {
  readonly readyMs: number;
  readonly rssMb: number;
}

/** The time until a server listens, and its memory then or, of a gateway, once a call through the MCP server is recorded. */
async function figuresOf(started: Started, isGateway: boolean): Promise<Figures> {
  const begin = performance.now();
  const address = await addressOf(started);
  const readyMs = performance.now() - begin;
  if (isGateway) {
    await until(started.said, () => findNote(address));
    await until(started.said, () => hasWriter(started.pid) || undefined);
    await setTimeout(500); // the thread has written
  }
  return { readyMs, rssMb: memoryOf(started.pid, 'VmRSS') };
}

/** Memory of a gateway, with its audit, after many calls through an MCP server on stdio. */
async function afterLoad(processes: Processes, cwd: string): Promise<string[]> {
  const args = [join(import.meta.dirname, 'peers/echo-stdio.ts')];
  const config = { sources: { bench: { mcp: { command: process.execPath, args }, trust: true } } };
  writeFileSync(join(cwd, 'load.yaml'), JSON.stringify(config));
  const started = processes.start([entry(), 'serve', '--port', '0', '--config', 'load.yaml'], { cwd });
  const wire = httpWire(`${await addressOf(started)}/mcp`);
  const client = await openClient(wire, '2025-11-25');
  const text = 'x'.repeat(LETTERS);
  let left = CALLS;
  const callAll = async (): Promise<void> => {
    while (left-- > 0) await client.echo(text);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, callAll));
  await setTimeout(IDLE_MS);
  const [then, most] = [memoryOf(started.pid, 'VmRSS'), memoryOf(started.pid, 'VmHWM')].map((mb) => mb.toFixed(0));
  client.close();
  started.child.kill('SIGTERM');
  const name = `the same, ${CALLS} calls, ${IN_FLIGHT} at once`;
  return [name, '', `${most} MB resident at most, ${then} when idle for ${IDLE_MS / 1000} s`];
}

async function addressOf({ child, said }: Started): Promise<string> {
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  return until(said, () => /http:\/\/127\.0\.0\.1:\d+/.exec(printed + said())?.[0]);
}

/** In MB of 1000 kB. */
function memoryOf(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${what}:\\s*(\\d+)`).exec(status)?.[1]) / 1000;
}

/** True once the thread that writes the audit has started. */
function hasWriter(pid: number): boolean {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).some((task) => readFileSync(join(tasks, task, 'comm'), 'utf8').trim() === 'toolcrib-store');
}

async function findNote(address: string): Promise<true | undefined> {
  const body = JSON.stringify({ arguments: { word: 'none' } });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${address}/api/tools/execute/notes_find`, { method: 'POST', headers, body });
  return answer.ok ? true : undefined;
}

async function until<Found>(
  said: () => string,
  look: () => Found | undefined | Promise<Found | undefined>,
): Promise<Found> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await setTimeout(5)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`the server did not become ready: ${said()}`);
}

if (import.meta.main) await benchStart();
