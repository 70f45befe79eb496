import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { createLineSplitter, MAX_ORDER_BYTES } from './child-output.ts';
import { livingGuarded, livingMembers, signalAll } from './process-tree.ts';

/** The first message to a supervisor: the program to run. It is sent over the pipe, so that it is not visible in the process table twice. */
export interface SupervisorOrder {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** An entry of `env` that no other process has. */
  readonly mark: string;
  /** Time between SIGTERM and SIGKILL if the parent process is gone. */
  readonly graceMs: number;
}

/** Alternative first message: the processes to guard. They are ended when the pipe closes. */
export interface GuardOrder {
  /** The prefix of their marks. */
  readonly guard: string;
  readonly graceMs: number;
}

/** Tells a guard that a process group began or ended, on systems where marks cannot be read. */
export type GroupNews = { readonly began: number } | { readonly ended: number };

/** Tells the supervisor to end everything within this time. */
export interface EndOrder {
  readonly endWithinMs: number;
}

/** Messages from the supervisor. */
export type SupervisorReport =
  | { readonly kind: 'started'; readonly pid: number }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'ended'; readonly code: number | null; readonly signal: string | null };

const LOOK_AGAIN_MS = 25;
/** A guard waits this long for processes that were just being started and have no mark yet. */
const LATE_MS = 2000;

/**
 * Runs one program in its own process group and stays until everything that it started has ended. It ends all of them on
 * request, when the program ends, and when the pipe closes. The pipe closes when the parent process ends for any reason.
 * The program inherits the supervisor's stdin, stdout and stderr.
 */
function supervise(pipe: Socket): void {
  // Flush the last message, unless the pipe is closed.
  const leave = () => (pipe.writable ? void pipe.end(() => process.exit(0)) : process.exit(0));
  let end: (withinMs: number) => void = leave; // before the first order
  let graceMs = 0;
  const groupIds = new Set<number>();
  const report = (what: SupervisorReport) => void (pipe.writable && pipe.write(`${JSON.stringify(what)}\n`));
  pipe.on('error', () => {}); // `close` follows
  pipe.on('close', () => end(graceMs));
  const onLine = (line: string) => {
    const order: SupervisorOrder | GuardOrder | GroupNews | EndOrder = JSON.parse(line); // from our own parent
    if ('endWithinMs' in order) return end(order.endWithinMs);
    if ('began' in order) return void groupIds.add(order.began);
    if ('ended' in order) return void groupIds.delete(order.ended);
    graceMs = order.graceMs;
    end =
      'guard' in order ? endAll(() => livingGuarded(order.guard, groupIds), leave, LATE_MS) : run(order, report, leave);
  };
  // Not readline, which also splits at U+2028; a variable may contain it.
  pipe.on('data', createLineSplitter(MAX_ORDER_BYTES, { onLine, onTooLong() {} }));
}

/** Starts the program; returns a function that ends it. */
function run(
  { command, args, cwd, env, mark, graceMs }: SupervisorOrder,
  report: (report: SupervisorReport) => void,
  leave: () => void,
): (withinMs: number) => void {
  const fail = (cause: unknown) =>
    report({ kind: 'failed', reason: cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown' });
  let child: ChildProcess;
  try {
    child = spawn(command, args, { cwd, env, stdio: 'inherit', detached: true });
  } catch (cause) {
    fail(cause); // an invalid program name
    leave();
    return leave;
  }
  // All processes may be gone before Node tells how the program ended.
  const leaveOnceReported = () => {
    const isReported = child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
    if (isReported) leave();
    else child.on('exit', leave);
  };
  const members = () => (child.pid === undefined ? [] : livingMembers({ groupId: child.pid, mark }));
  const end = endAll(members, leaveOnceReported);
  child.on('spawn', () => report({ kind: 'started', pid: child.pid ?? 0 }));
  child.on('error', (cause) => {
    fail(cause);
    if (child.pid === undefined) end(0);
  });
  child.on('exit', (code, signal) => {
    report({ kind: 'ended', code, signal });
    end(graceMs);
  });
  return end;
}

/** Returns a function that ends all processes with SIGTERM, then SIGKILL. Calls `leave` when none is left, at the earliest after `stayMs`. */
function endAll(living: () => readonly number[], leave: () => void, stayMs = 0): (withinMs: number) => void {
  const asked = new Set<number>();
  let deadline = Number.POSITIVE_INFINITY;
  let stayUntil = 0;
  const look = (): void => {
    const members = living();
    if (members.length === 0 && performance.now() >= stayUntil) {
      leave();
      return;
    }
    // Each process gets SIGTERM once; those just being started are found next time.
    if (performance.now() >= deadline) signalAll(members, 'SIGKILL');
    else
      signalAll(
        members.filter((pid) => !asked.has(pid)),
        'SIGTERM',
      );
    for (const pid of members) asked.add(pid);
    setTimeout(look, LOOK_AGAIN_MS);
  };
  return (withinMs) => {
    const isFirst = deadline === Number.POSITIVE_INFINITY;
    deadline = Math.min(deadline, performance.now() + withinMs);
    if (!isFirst) return;
    stayUntil = performance.now() + stayMs;
    look();
  };
}

// Ctrl+C and hangups are for the parent process; only the pipe ends anything here.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
supervise(new Socket({ fd: 3 }));
