import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** A process that was started for the bench, and all that it started. */
export interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly pid: number;
  /** The end of what it said on stderr. */
  said(): string;
}

/** Starts processes, and ends them: all of them, whatever becomes of the bench. */
export interface Processes {
  start(args: readonly string[], options?: { readonly cwd?: string }): Started;
  end(): Promise<void>;
}

const GRACE_MS = 8000;

/** Nothing runs yet. */
export function createProcesses(): Processes {
  const all: Started[] = [];
  const killAll = () => signal(familyOf(all.map(({ pid }) => pid)), 'SIGKILL');
  const onSignal = () => process.exit(130);
  process.once('exit', killAll).once('SIGINT', onSignal).once('SIGTERM', onSignal);
  return {
    start(args, options = {}) {
      const child = spawn(process.execPath, args, { ...options, stdio: 'pipe' });
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-2000);
      });
      child.stdin.on('error', () => {}); // it has ended, and whoever waits for it will say so
      const started = { child, pid: child.pid ?? 0, said: () => said };
      all.push(started);
      return started;
    },
    async end() {
      const family = familyOf(all.map(({ pid }) => pid)); // those whose parent ends first are not found later
      const living = all.filter(({ child }) => child.exitCode === null && child.signalCode === null);
      for (const { child } of living) child.kill('SIGTERM');
      const ended = Promise.all(living.map(({ child }) => once(child, 'exit')));
      await Promise.race([ended, setTimeout(GRACE_MS, undefined, { ref: false })]);
      signal(family, 'SIGKILL');
      process.off('exit', killAll).off('SIGINT', onSignal).off('SIGTERM', onSignal);
    },
  };
}

function signal(family: readonly Member[], name: NodeJS.Signals): void {
  for (const { pid, startedAt } of family) {
    // The number of a process that has ended may be another's by now.
    if (statOf(pid)?.startedAt === startedAt) process.kill(pid, name);
  }
}

/** One process as the system sees it. */
export interface Member {
  readonly pid: number;
  readonly parent: number;
  readonly startedAt: string;
  /** Processor time of its own and of children that have ended. */
  readonly cpuUs: number;
}

/** Clock ticks of Linux, a hundred a second. */
const TICK_US = 10_000;

/** These processes and all below them. */
export function familyOf(roots: readonly number[]): readonly Member[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : []));
  const family = all.filter(({ pid }) => roots.includes(pid));
  for (const member of family) family.push(...all.filter(({ parent }) => parent === member.pid)); // also of those just added
  return family;
}

function statOf(pid: number): Member | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' '); // from the third on, see man 5 proc
    return {
      pid,
      parent: Number(fields[1]),
      startedAt: fields[19] ?? '',
      cpuUs: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_US,
    };
  } catch {
    return undefined; // it ended while we looked
  }
}

/** The script that a process of Node runs. */
export function scriptOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[1] ?? '';
  } catch {
    return ''; // likewise
  }
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Resident memory of a process in bytes: now, and the most it has had. */
export function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytesOf = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
  return { now: bytesOf('VmRSS'), peak: bytesOf('VmHWM') };
}
