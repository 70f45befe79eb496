import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { createProcessGuard } from '../../system/processes/orphan-guard.ts';
import { type Family, MARK_NAME } from '../../system/processes/process-tree.ts';
import { createProcessSweep, type ProcessSweep } from '../../system/processes/reap.ts';
import type { Child, ChildCommand, ChildEnd } from '../../system/processes/start-child.ts';

/** Processes of workers. None outlives this one, however it ends, nor does what they start. */
export interface WorkerProcesses {
  start(command: ChildCommand): WorkerProcess;
  /** For when all of them have ended. */
  close(): Promise<void>;
}

/** A worker's process. */
export type WorkerProcess = Pick<Child, 'stdin' | 'stdout' | 'stderr' | 'ended' | 'end' | 'keepAlive'>;

const GRACE_MS = 1000;
const NO_GROUP = -1;

/**
 * Starts workers directly and in our own session: under load Linux lets a process of another session wait for its turn,
 * which would cost several times what the call does. The worker makes a group of its own; a guard stands by for all.
 */
export function createWorkerProcesses(): WorkerProcesses {
  const owner = randomUUID();
  const guard = createProcessGuard(`${MARK_NAME}=${owner}:`);
  const sweep = createProcessSweep();
  let count = 0;
  return {
    start(command) {
      guard.start();
      const value = `${owner}:${++count}`;
      const child = spawnWorker({ ...command, env: { ...command.env, [MARK_NAME]: value } });
      if ('reason' in child) return stillborn(child.reason);
      const groupId = child.pid ?? NO_GROUP;
      guard.tell({ began: groupId });
      const attended = attend(child, { groupId, mark: `${MARK_NAME}=${value}` }, sweep);
      void attended.ended.then(() => guard.tell({ ended: groupId }));
      return attended;
    },
    async close() {
      await sweep.settle();
      await guard.close();
    },
  };
}

function spawnWorker({ command, args = [], cwd, env }: ChildCommand): ChildProcess | { readonly reason: string } {
  try {
    return spawn(command, args, { cwd, env, stdio: 'pipe', windowsHide: true });
  } catch (cause) {
    return { reason: reasonOf(cause) };
  }
}

/** Stays with a worker to its end, and to that of all it started. */
function attend(child: ChildProcess, family: Family, sweep: ProcessSweep): WorkerProcess {
  const { promise: ended, resolve } = Promise.withResolvers<ChildEnd>();
  const stdin = child.stdin ?? closed();
  const stdout = child.stdout ?? closed();
  const stderr = child.stderr ?? closed();
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {}); // it is gone, and `ended` says so
  let isOver = false;
  child.on('error', (cause) => {
    if (child.pid === undefined) resolve({ kind: 'failed', reason: reasonOf(cause) });
  });
  child.on('exit', (code, signal) => {
    isOver = true;
    signalGroup(family.groupId, 'SIGKILL'); // whoever it left behind
    sweep.later({ ...family, groupId: NO_GROUP }); // by then the group may be somebody else's
    resolve({ kind: 'ended', code, signal });
  });
  return {
    stdin,
    stdout,
    stderr,
    ended,
    async end(graceMs = GRACE_MS) {
      if (child.pid === undefined) return;
      const left = isOver ? { ...family, groupId: NO_GROUP } : family;
      if (!isOver) child.kill('SIGTERM');
      await sweep.end(left, { graceMs });
      await ended;
      for (const stream of [stdin, stdout, stderr]) stream.destroy();
    },
    keepAlive(isNeeded) {
      for (const part of [child, stdin, stdout, stderr]) hold(part, isNeeded);
    },
  };
}

function stillborn(reason: string): WorkerProcess {
  return {
    stdin: closed(),
    stdout: closed(),
    stderr: closed(),
    ended: Promise.resolve({ kind: 'failed', reason }),
    end: async () => {},
    keepAlive() {},
  };
}

function closed(): PassThrough {
  return new PassThrough().destroy();
}

function signalGroup(groupId: number, signal: NodeJS.Signals): void {
  if (groupId <= 1) return;
  try {
    process.kill(-groupId, signal);
  } catch {
    // Nobody is left in it.
  }
}

function hold(part: object, isNeeded: boolean): void {
  const { ref, unref } = part as { ref?(): void; unref?(): void }; // processes and sockets have both
  (isNeeded ? ref : unref)?.call(part);
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
}
