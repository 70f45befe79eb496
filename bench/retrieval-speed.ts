import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printTable } from './measure.ts';
import { createProcesses, type Processes } from './processes.ts';
import type { Figures } from './retrieval-contender.ts';
import { SPEED_CONTENDERS } from './retrieval-contenders.ts';

/** Other sizes may be named behind `speed`, and behind them contenders. */
const SIZES = (process.argv[3] ?? '1000,10000,100000').split(',').map(Number);
const NAMES = (process.argv[4]?.split(',') ?? SPEED_CONTENDERS.map(({ name }) => name)).map((name) => name.trim());
const SCRIPT = join(import.meta.dirname, 'retrieval-contender.ts');

/** How long 25-word requests take beside other libraries, and what the index costs. Each figure is of a process of its own. */
export async function benchRetrievalSpeed(): Promise<void> {
  const processes = createProcesses();
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-'));
  const asked: string[][] = [['tools', 'library', 'p50 ms', 'p95 ms', 'CPU ms', 'requests']];
  const kept: string[][] = [
    [
      'tools',
      'library',
      'build s',
      'build CPU s',
      'heap MB',
      'RSS MB',
      'one added ms',
      'kept MB',
      'start ms',
      'again ms',
      'of a file ms',
    ],
  ];
  try {
    for (const size of SIZES) {
      for (const name of NAMES) {
        const file = join(folder, 'kept');
        const figures = {
          ...(await measure(processes, [name, String(size), 'build', file])),
          ...(await measureStart(processes, [name, String(size), 'restart', file])),
          ...(await measureFileStart(processes, name, size)),
        };
        asked.push([String(size), name, ...askedCells(figures)]);
        kept.push([String(size), name, ...keptCells(figures)]);
      }
    }
  } finally {
    await processes.end();
    rmSync(folder, { recursive: true, force: true });
  }
  printTable('Speed, requests of 20 to 30 words', asked);
  printTable(
    'What the index costs; start: from the store, which is open, to the first answer, in a new process whose catalog and code are loaded, median of seven; of a file: the same, where the tools stand in a file that was listed by its index',
    kept,
  );
}

/** Ours over the tools of a large file, of which a process before has listed all: they are not parsed again. */
async function measureFileStart(processes: Processes, name: string, size: number): Promise<Figures> {
  if (name !== 'ours' || size < INDEXED) return {};
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-bench-'));
  try {
    await measure(processes, [name, String(size), 'file', folder]);
    const { startMs } = await measureStart(processes, [name, String(size), 'restart-file', folder]);
    return startMs === undefined ? {} : { fileStartMs: startMs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Smaller files have no index. */
const INDEXED = 10_000;

/** A start is short, and what else the machine does shows in one: the median of several processes, unless each takes long. */
async function measureStart(processes: Processes, args: readonly string[]): Promise<Figures> {
  const all = [await measure(processes, args)];
  while (all.length < STARTS && (all[0]?.startMs ?? LONG_START_MS) < LONG_START_MS)
    all.push(await measure(processes, args));
  all.sort((a, b) => (a.startMs ?? 0) - (b.startMs ?? 0));
  return all[all.length >> 1] ?? {};
}

const STARTS = 7;
const LONG_START_MS = 300;

async function measure(processes: Processes, args: readonly string[]): Promise<Figures> {
  const { child, said } = processes.start(['--expose-gc', '--max-old-space-size=8192', SCRIPT, ...args]);
  let text = '';
  for await (const part of child.stdout.setEncoding('utf8')) text += part;
  try {
    return JSON.parse(text) as Figures; // as the script prints them
  } catch {
    console.error(`${args.slice(0, 3).join(' ')} ended without figures: ${said()}`);
    return {};
  }
}

function askedCells(figures: Figures): readonly string[] {
  const { p50Ms, p95Ms, askCpuMs, requests } = figures;
  return [...[p50Ms, p95Ms, askCpuMs].map((value) => cell(value, 3)), cell(requests, 0)];
}

function keptCells(figures: Figures): readonly string[] {
  const { buildMs, buildCpuMs, heapBytes, rssBytes, addMs, keptBytes, startMs, warmStartMs, fileStartMs } = figures;
  return [
    ...[buildMs, buildCpuMs].map((value) => cell(value, 2, 1000)),
    ...[heapBytes, rssBytes].map((value) => cell(value, 0, 1e6)),
    cell(addMs, 3),
    cell(keptBytes, 1, 1e6),
    ...[startMs, warmStartMs, fileStartMs].map((value) => cell(value, 1)),
  ];
}

function cell(value: number | undefined, digits: number, unit = 1): string {
  return value === undefined ? '-' : (value / unit).toFixed(digits);
}
