import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Duplex, Readable, Writable } from 'node:stream';
import { createLineSplitter, MAX_ORDER_BYTES } from './child-output.ts';
import type { EndOrder, SupervisorOrder, SupervisorReport } from './child-supervisor.ts';
import { closedStream, holdAll, NO_GROUP, startSupervisor } from './guarded-spawn.ts';
import { type Family, livingMembers, MARK_NAME, signalAll } from './process-tree.ts';

/** A program to run, without a shell. */
export interface ChildCommand {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string | undefined;
  /** Its complete environment; see `childEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
}

/** The result of a child, or the reason why it could not be started. */
export type ChildEnd =
  | { readonly kind: 'ended'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'failed'; readonly reason: string };

/** A running program with everything that it starts. */
export interface Child {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The process id of the program, once it runs. */
  pid(): number | undefined;
  /** The program and everything it started; undefined until it runs. */
  family(): Family | undefined;
  /** Resolves when the program has ended or could not be started; never rejects. */
  readonly ended: Promise<ChildEnd>;
  /** Resolves when nothing of it is left; never rejects. */
  readonly gone: Promise<void>;
  /** Sends SIGTERM, and SIGKILL after `graceMs`. Resolves when nothing of it is left. */
  end(graceMs?: number): Promise<void>;
  /** Sets whether it keeps this process alive; by default it does. */
  keepAlive(isNeeded: boolean): void;
}

/** Default time between SIGTERM and SIGKILL. */
const GRACE_MS = 2000;

/**
 * Starts a program that ends with this process, even after kill -9, together with everything it has started. Each program
 * has its own supervisor process, because only a living process can end others.
 */
export function startChild({ command, args = [], cwd, env }: ChildCommand): Child {
  const value = randomUUID();
  const mark = `${MARK_NAME}=${value}`;
  const order: SupervisorOrder = { command, args, cwd, env: { ...env, [MARK_NAME]: value }, mark, graceMs: GRACE_MS };
  const supervisor = startSupervisor('pipe');
  // With too many open files, the start fails and the streams are missing.
  const stdin = supervisor.stdin ?? closedStream();
  const stdout = supervisor.stdout ?? closedStream();
  const stderr = supervisor.stderr ?? closedStream();
  const pipe = (supervisor.stdio?.[3] ?? closedStream()) as Duplex; // stdio[3] is a pipe, and Node uses sockets for pipes
  const { ended, gone, pid } = watchOver(supervisor, pipe, mark);
  for (const stream of [stdin, stdout, stderr, pipe]) stream.on('error', () => {}); // `ended` reports it
  tell(pipe, order);
  return {
    stdin,
    stdout,
    stderr,
    pid,
    family() {
      const groupId = pid();
      return groupId === undefined ? undefined : { groupId, mark };
    },
    ended,
    gone,
    end(graceMs = GRACE_MS) {
      tell(pipe, { endWithinMs: graceMs });
      return gone;
    },
    keepAlive(isNeeded) {
      holdAll([supervisor, stdin, stdout, stderr, pipe], isNeeded);
    },
  };
}

function watchOver(supervisor: ChildProcess, pipe: Duplex, mark: string): Pick<Child, 'ended' | 'gone' | 'pid'> {
  const ended = Promise.withResolvers<ChildEnd>();
  const gone = Promise.withResolvers<void>();
  let pid: number | undefined;
  const onLine = (line: string): void => {
    const report: SupervisorReport = JSON.parse(line);
    if (report.kind === 'started') pid = report.pid;
    else ended.resolve(report);
  };
  pipe.on('data', createLineSplitter(MAX_ORDER_BYTES, { onLine, onTooLong() {} }));
  supervisor.on('error', (cause) => {
    ended.resolve({ kind: 'failed', reason: `its supervisor cannot be started: ${cause.message}` });
    gone.resolve();
  });
  supervisor.on('exit', (code) => {
    // The supervisor was killed or crashed: kill everything it supervised, also what had just started.
    if (code !== 0) signalAll(livingMembers({ groupId: pid ?? NO_GROUP, mark }), 'SIGKILL');
  });
  // `close`, not `exit`: the last message may arrive after the exit.
  supervisor.on('close', () => {
    ended.resolve({ kind: 'failed', reason: 'its supervisor ended' });
    gone.resolve();
  });
  return { ended: ended.promise, gone: gone.promise, pid: () => pid };
}

function tell(pipe: Duplex, order: SupervisorOrder | EndOrder): void {
  if (pipe.writable) pipe.write(`${JSON.stringify(order)}\n`);
}
