import {
  closedStream,
  createGuardedSpawn,
  type Guarded,
  holdAll,
  NO_GROUP,
  reasonOf,
  signalGroup,
} from '../../system/processes/guarded-spawn.ts';
import type { ProcessSweep } from '../../system/processes/process-tree.ts';
import type { Child, ChildCommand, ChildEnd } from '../../system/processes/start-child.ts';

/** Worker processes. Neither they nor their children outlive this process, however it ends. */
export interface WorkerProcesses {
  start(command: ChildCommand): WorkerProcess;
  /** Called when all of them have ended. */
  close(): Promise<void>;
}

export type WorkerProcess = Pick<Child, 'stdin' | 'stdout' | 'stderr' | 'ended' | 'end' | 'keepAlive'>;

const GRACE_MS = 1000;

/**
 * Starts workers directly and in our own session: under load, Linux delays processes of other sessions, which would
 * cost several times the call itself. Each worker leads a process group; one guard watches all of them.
 */
export function createWorkerProcesses(): WorkerProcesses {
  const guarded = createGuardedSpawn();
  return {
    start({ command, args = [], cwd, env }) {
      const begun = guarded.start({ command, args, cwd, env, stdio: 'pipe' });
      if ('reason' in begun) return stillborn(begun.reason);
      const worker = attend(begun, guarded.sweep);
      void worker.ended.then(() => guarded.ended(begun));
      return worker;
    },
    close: guarded.close,
  };
}

/** Watches a worker until it and all its children have ended. */
function attend({ child, family }: Guarded, sweep: ProcessSweep): WorkerProcess {
  const { promise: ended, resolve } = Promise.withResolvers<ChildEnd>();
  const stdin = child.stdin ?? closedStream();
  const stdout = child.stdout ?? closedStream();
  const stderr = child.stderr ?? closedStream();
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {}); // the process is gone; `ended` reports it
  let isOver = false;
  child.on('error', (cause) => {
    if (child.pid === undefined) resolve({ kind: 'failed', reason: reasonOf(cause) });
  });
  child.on('exit', (code, signal) => {
    isOver = true;
    signalGroup(child, 'SIGKILL'); // children left behind
    sweep.later({ ...family, groupId: NO_GROUP }); // by then the group id may belong to another process
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
      holdAll([child, stdin, stdout, stderr], isNeeded);
    },
  };
}

function stillborn(reason: string): WorkerProcess {
  return {
    stdin: closedStream(),
    stdout: closedStream(),
    stderr: closedStream(),
    ended: Promise.resolve({ kind: 'failed', reason }),
    end: async () => {},
    keepAlive() {},
  };
}
