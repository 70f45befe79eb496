import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Clock } from '../../core/ports/crib-context.ts';
import { type Family, livingByFamily } from './process-tree.ts';

/** The work done by a family of processes, including their ended children. */
interface WorkDone {
  /** The living processes: a process that began or ended counts as work. */
  readonly pids: string;
  readonly cpuMs: number;
  /** Bytes read and written; 0 if the system does not report them. */
  readonly ioBytes: number;
}

/** Reports activity of process families: computing, reading, writing, starting or ending a process. */
export interface ProgressWatch {
  /** Calls `onProgress` after each check that finds new work. Returns a function that stops it. */
  watch(family: Family, onProgress: () => void): () => void;
}

/** Pause between two checks. */
const LOOK_MS = 1000;
/** Idle programs do less than this. */
const LEAST_CPU_MS = 50;
const LEAST_IO_BYTES = 4096;

interface Watched {
  readonly family: Family;
  /** The work at the last report; undefined before the first check. */
  done: WorkDone | undefined;
  onProgress(): void;
}

/** Creates a watch. One scan of all processes serves all families; without families it does not scan. */
export function createProgressWatch(clock: Clock): ProgressWatch {
  const watched = new Set<Watched>();
  let stopTimer: (() => void) | undefined;
  const look = (): void => {
    const all = [...watched];
    const living = livingByFamily(all.map(({ family }) => family));
    for (const one of all) {
      const done = workOf(living.get(one.family) ?? []);
      if (one.done !== undefined && !hasWorked(one.done, done)) continue;
      one.done = done;
      if (watched.has(one)) one.onProgress();
    }
    stopTimer = watched.size === 0 ? undefined : clock.setTimer(LOOK_MS, look);
  };
  return {
    watch(family, onProgress) {
      const one: Watched = { family, done: undefined, onProgress };
      watched.add(one);
      stopTimer ??= clock.setTimer(LOOK_MS, look);
      return () => {
        watched.delete(one);
        if (watched.size > 0) return;
        stopTimer?.();
        stopTimer = undefined;
      };
    },
  };
}

function hasWorked(before: WorkDone, now: WorkDone): boolean {
  // The difference may be negative: an ended process takes along work that no parent has counted.
  return (
    now.pids !== before.pids ||
    Math.abs(now.cpuMs - before.cpuMs) >= LEAST_CPU_MS ||
    Math.abs(now.ioBytes - before.ioBytes) >= LEAST_IO_BYTES
  );
}

function workOf(pids: readonly number[]): WorkDone {
  const sorted = [...pids].sort((a, b) => a - b);
  const key = sorted.join(' ');
  if (process.platform !== 'linux') return { pids: key, cpuMs: askPs(sorted), ioBytes: 0 };
  const cpuMs = sorted.reduce((sum, pid) => sum + readCpuMs(pid), 0);
  const ioBytes = sorted.reduce((sum, pid) => sum + readIoBytes(pid), 0);
  return { pids: key, cpuMs, ioBytes };
}

/** The clock tick on every Linux that Node supports. */
const TICK_MS = 10;

function readCpuMs(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // from the third field on, see man 5 proc
  const ticks = fields.slice(11, 15).map(Number); // user and system time, of the process and its ended children
  return ticks.reduce((sum, ticks) => sum + (Number.isFinite(ticks) ? ticks : 0), 0) * TICK_MS;
}

function readIoBytes(pid: number): number {
  const counts = read(`/proc/${pid}/io`).matchAll(/^[rw]char: (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** CPU time of all processes, without /proc. */
function askPs(pids: readonly number[]): number {
  if (pids.length === 0 || process.platform === 'win32') return 0;
  const { stdout = '' } = spawnSync('/bin/ps', ['-o', 'time=', '-p', pids.join(',')], { encoding: 'utf8' });
  return stdout.split('\n').reduce((sum, time) => sum + toMs(time), 0);
}

/** `[[days-]hours:]minutes:seconds`. */
function toMs(time: string): number {
  const [seconds = 0, minutes = 0, hours = 0, days = 0] = time.trim().split(/[-:]/).reverse().map(Number);
  const ms = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
  return Number.isFinite(ms) ? ms : 0;
}

/** Empty for a process that is gone or belongs to another user. */
function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
