import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { extname } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { codeOf } from '../../core/tool-error.ts';
import type { GroupNews, GuardOrder } from './child-supervisor.ts';
import { createProcessSweep, type Family, MARK_NAME, type ProcessSweep } from './process-tree.ts';

/** A started process, and how to recognize everything it starts. */
export interface Guarded {
  readonly child: ChildProcess;
  readonly family: Family;
}

/** A program to start, without a shell. */
interface GuardedCommand extends Pick<SpawnOptions, 'stdio' | 'detached'> {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** True if everything it starts ends with it and with this process, as in a PID namespace. */
  readonly isContained?: boolean;
}

/** Starts processes directly. One guard process ensures that none of them outlives this process. */
export interface GuardedSpawn {
  readonly sweep: ProcessSweep;
  start(command: GuardedCommand): Guarded | { readonly reason: string };
  /** Reports that the process and everything it started has ended. */
  ended(guarded: Guarded): void;
  /** Call this after all processes have ended. */
  close(): Promise<void>;
}

/** A group id without processes. */
export const NO_GROUP = -1;

export function createGuardedSpawn(): GuardedSpawn {
  const owner = randomUUID();
  const guard = createProcessGuard(`${MARK_NAME}=${owner}:`);
  const sweep = createProcessSweep();
  let count = 0;
  return {
    sweep,
    start({ command, args, env, isContained = false, ...options }) {
      if (!isContained) guard.start();
      const value = `${owner}:${++count}`;
      try {
        const child = spawn(command, args, { ...options, env: { ...env, [MARK_NAME]: value }, windowsHide: true });
        const family = { groupId: child.pid ?? NO_GROUP, mark: `${MARK_NAME}=${value}` };
        guard.tell({ began: family.groupId });
        return { child, family };
      } catch (cause) {
        return { reason: reasonOf(cause) };
      }
    },
    ended: ({ family }) => guard.tell({ ended: family.groupId }),
    async close() {
      await sweep.settle();
      await guard.close();
    },
  };
}

/** The error code of a failed start. */
export function reasonOf(cause: unknown): string {
  return String(codeOf(cause) ?? 'unknown');
}

/** Sends a signal to a process group; a group that is gone is ignored. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    child.kill(signal); // without process groups
  }
}

/** A placeholder for a missing stream. */
export function closedStream(): PassThrough {
  return new PassThrough().destroy();
}

/** Sets whether these parts of a child keep this process alive. */
export function holdAll(parts: readonly object[], isNeeded: boolean): void {
  for (const part of parts) {
    const { ref, unref } = part as { ref?(): void; unref?(): void }; // processes and sockets have both
    (isNeeded ? ref : unref)?.call(part);
  }
}

/** A guard process that ends our children if this process is killed. */
interface ProcessGuard {
  /** Starts the guard, unless it runs already. */
  start(): void;
  tell(news: GroupNews): void;
  /** Call this when no guarded process is left. */
  close(): Promise<void>;
}

const GRACE_MS = 1000;

/** Creates a guard for all processes whose mark has this prefix. It starts with the first process. */
function createProcessGuard(markPrefix: string): ProcessGuard {
  let guard: ChildProcess | undefined;
  const say = (what: GuardOrder | GroupNews) => {
    const pipe = guard?.stdio?.[3] as Socket | undefined; // stdio[3] is a pipe
    if (pipe?.writable) pipe.write(`${JSON.stringify(what)}\n`);
  };
  const leave = (who: ChildProcess) => {
    if (guard === who) guard = undefined; // the next program gets a new guard
  };
  return {
    start() {
      if (guard !== undefined) return;
      const started = startSupervisor('ignore');
      guard = started;
      started.on('error', () => leave(started));
      started.on('exit', () => leave(started));
      const pipe = started.stdio?.[3] as Socket | undefined; // as above; missing if nothing could be started
      pipe?.on('error', () => {}); // `exit` follows
      say({ guard: markPrefix, graceMs: GRACE_MS });
      // The guard must not keep this process alive.
      started.unref();
      pipe?.unref();
    },
    tell(news) {
      // On Linux the guard reads the marks.
      if (process.platform !== 'linux') say(news);
    },
    async close() {
      const last = guard;
      if (last?.pid === undefined || last.exitCode !== null || last.signalCode !== null) return;
      last.ref();
      const gone = once(last, 'exit');
      last.kill('SIGKILL');
      await gone;
    },
  };
}

const SCRIPT = `./child-supervisor${extname(import.meta.url)}`; // .ts here, .js when built
/** Small heap limits: a supervisor does very little. */
const FRUGAL = ['--no-warnings', '--max-semi-space-size=1', '--max-old-space-size=32'];

/** Starts a supervisor, which waits for its order on its fourth stream; `io` applies to the first three. */
export function startSupervisor(io: 'pipe' | 'ignore'): ChildProcess {
  const script = fileURLToPath(new URL(SCRIPT, import.meta.url));
  // Detached: a signal to our process group must not reach it, because we end our children ourselves.
  return spawn(process.execPath, [...FRUGAL, script], {
    env: compiledCode(),
    stdio: [io, io, io, 'pipe'],
    detached: true,
  });
}

/** The environment of a supervisor: only Node's compile cache. */
function compiledCode(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}
