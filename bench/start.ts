import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { entry } from './cli.ts';
import { median, printTable } from './measure.ts';
import { createProcesses, type Started } from './processes.ts';

const ROOT = join(import.meta.dirname, '..');
const ROUNDS = 11;
const PATIENCE_MS = 20_000;

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

/** What the library and `serve` take to start: CPU time of the library, time and memory of the server. */
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
      rows.push([name, `${middle('readyMs')} ms`, `${middle('rssMb')} MB resident`]);
    }
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

/** The time until a server listens, and its memory then or, of a gateway, once a call has reached the MCP server. */
async function figuresOf({ child, pid, said }: Started, isGateway: boolean): Promise<Figures> {
  const begin = performance.now();
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const address = await until(said, () => /http:\/\/127\.0\.0\.1:\d+/.exec(printed + said())?.[0]);
  const readyMs = performance.now() - begin;
  if (isGateway) await until(said, () => findNote(address));
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return { readyMs, rssMb: Number(/VmRSS:\s*(\d+)/.exec(status)?.[1]) / 1000 };
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
