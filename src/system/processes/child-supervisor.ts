import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { createLineSplitter, MAX_ORDER_BYTES } from './child-output.ts';
import { livingGuarded, livingMembers, signalAll } from './process-tree.ts';

/** What a supervisor is told first: what to run. It comes over the pipe, so that nothing of it stands in the process table twice. */
export interface SupervisorOrder {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** An entry of `env` that no other process has. */
  readonly mark: string;
  /** Between asking to end and ending by force, when whoever gave the order is gone. */
  readonly graceMs: number;
}

/** Or whom to guard: processes that others started, which are ended when the pipe is. */
export interface GuardOrder {
  /** What their marks begin with. */
  readonly guard: string;
  readonly graceMs: number;
}

/** What a guard is told where marks cannot be read: a group that began, or that has ended. */
export type GroupNews = { readonly began: number } | { readonly ended: number };

/** What it may be told later: to end everything, with this much time to do so. */
export interface EndOrder {
  readonly endWithinMs: number;
}

/** What it says. */
export type SupervisorReport =
  | { readonly kind: 'started'; readonly pid: number }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'ended'; readonly code: number | null; readonly signal: string | null };

const LOOK_AGAIN_MS = 25;
/** Whoever was about to be started when a guard was left alone bears no mark yet: for so long it is waited for. */
const LATE_MS = 2000;

/**
 * Runs one program in a group of its own and stays until everything that it started has ended. It ends all of it when
 * told to, when the program ends, and when the pipe does: the pipe ends with whoever holds the other end, however
 * that one ends. The program has the supervisor's own stdin, stdout and stderr; nothing is passed on by hand.
 */
function supervise(pipe: Socket): void {
  // What was said last must arrive, unless nobody is there to hear it.
  const leave = () => (pipe.writable ? void pipe.end(() => process.exit(0)) : process.exit(0));
  let end: (withinMs: number) => void = leave; // nobody has ordered anything yet
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
  // Not by readline, for which U+2028 ends a line, too: it may stand in a variable.
  pipe.on('data', createLineSplitter(MAX_ORDER_BYTES, { onLine, onTooLong() {} }));
}

/** Starts the program; returns how to end it. */
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
    fail(cause); // a name that no program can have
    leave();
    return leave;
  }
  const end = endAll(() => (child.pid === undefined ? [] : livingMembers({ groupId: child.pid, mark })), leave);
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

/** How to end all of them: each is asked, then forced; `leave` when nobody is left, not before `stayMs`. */
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
    // Each is asked once; those who were being started just now are found by the next look.
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

// Ctrl+C is for whoever gave the order, and so is a hangup: only the pipe ends anything here.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
supervise(new Socket({ fd: 3 }));
