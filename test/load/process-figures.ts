import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/** What a process holds, as Linux counts it. */
export interface ProcessFigures {
  readonly rssMb: number;
  readonly descriptors: number;
  readonly children: number;
}

export function figuresOf(pid: number): ProcessFigures {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return {
    rssMb: Math.round(Number(kilobytes) / 1024),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    children: childrenOf(pid).length,
  };
}

/** The highest of each figure. */
export function peakOf(a: ProcessFigures, b: ProcessFigures): ProcessFigures {
  return combine(Math.max, a, b);
}

const POLL_MS = 250;
/** Memory that comes and goes in an idle process. */
const NOISE_MB = 10;

/** What a process holds once it has given nothing back for `stillMs`. */
export async function figuresAtRest(pid: number, stillMs: number): Promise<ProcessFigures> {
  let lowest = figuresOf(pid);
  for (let since = performance.now(); performance.now() - since < stillMs; ) {
    await setTimeout(POLL_MS);
    const now = figuresOf(pid);
    if (!isLower(now, lowest)) continue;
    since = performance.now();
    lowest = combine(Math.min, now, lowest);
  }
  return figuresOf(pid);
}

function isLower(now: ProcessFigures, lowest: ProcessFigures): boolean {
  return now.rssMb < lowest.rssMb - NOISE_MB || now.descriptors < lowest.descriptors || now.children < lowest.children;
}

function combine(choose: (a: number, b: number) => number, a: ProcessFigures, b: ProcessFigures): ProcessFigures {
  return {
    rssMb: choose(a.rssMb, b.rssMb),
    descriptors: choose(a.descriptors, b.descriptors),
    children: choose(a.children, b.children),
  };
}

/** All descendants: a server started by npx is a grandchild. */
export function descendantsOf(pid: number): readonly number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return []; // it ended meanwhile
  }
}

export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
