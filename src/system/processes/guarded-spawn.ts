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

/** A process that was started, and what tells all it starts from others. */
export interface Guarded {
  readonly child: ChildProcess;
  readonly family: Family;
}

/** A program to start. No shell reads any of it. */
interface GuardedCommand extends Pick<SpawnOptions, 'stdio' | 'detached'> {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** True if all it starts ends with it and with this process by itself, as in a namespace of their own. */
  readonly isContained?: boolean;
}

/** Starts processes directly; one guard for all of them sees to it that none outlives this process. */
export interface GuardedSpawn {
  readonly sweep: ProcessSweep;
  start(command: GuardedCommand): Guarded | { readonly reason: string };
  /** Nothing of it is left. */
  ended(guarded: Guarded): void;
  /** For when all of them have ended. */
  close(): Promise<void>;
}

/** No process is in it. */
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

/** Why a process could not be started, in one word. */
export function reasonOf(cause: unknown): string {
  return String(codeOf(cause) ?? 'unknown');
}

/** To all of a group; one that is gone already is what was wanted. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    child.kill(signal); // where there are no groups
  }
}

/** A stream for where there is none. */
export function closedStream(): PassThrough {
  return new PassThrough().destroy();
}

/** Whether these parts of a child keep this process alive. */
export function holdAll(parts: readonly object[], isNeeded: boolean): void {
  for (const part of parts) {
    const { ref, unref } = part as { ref?(): void; unref?(): void }; // processes and sockets have both
    (isNeeded ? ref : unref)?.call(part);
  }
}

/** One process beside this one that ends what we started, should this one be ended before it could. */
interface ProcessGuard {
  /** Makes sure that somebody is on guard; costs nothing where somebody is. */
  start(): void;
  tell(news: GroupNews): void;
  /** For when nothing is left to be guarded. */
  close(): Promise<void>;
}

const GRACE_MS = 1000;

/** Guards all processes whose mark begins so. It is not there before the first of them. */
function createProcessGuard(markPrefix: string): ProcessGuard {
  let guard: ChildProcess | undefined;
  const say = (what: GuardOrder | GroupNews) => {
    const pipe = guard?.stdio?.[3] as Socket | undefined; // a pipe was asked for
    if (pipe?.writable) pipe.write(`${JSON.stringify(what)}\n`);
  };
  const leave = (who: ChildProcess) => {
    if (guard === who) guard = undefined; // the next program gets another one
  };
  return {
    start() {
      if (guard !== undefined) return;
      const started = startSupervisor('ignore');
      guard = started;
      started.on('error', () => leave(started));
      started.on('exit', () => leave(started));
      const pipe = started.stdio?.[3] as Socket | undefined; // likewise; not there where nothing could be started
      pipe?.on('error', () => {}); // it has ended, and `exit` says so
      say({ guard: markPrefix, graceMs: GRACE_MS });
      // It is there for us, not we for it.
      started.unref();
      pipe?.unref();
    },
    tell(news) {
      // Elsewhere everybody shows its mark.
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
/** A supervisor does next to nothing, so it gets next to nothing. */
const FRUGAL = ['--no-warnings', '--max-semi-space-size=1', '--max-old-space-size=32'];

/** Starts a supervisor, which waits for its order on the pipe that is its fourth stream; `io` is for the first three. */
export function startSupervisor(io: 'pipe' | 'ignore'): ChildProcess {
  const script = fileURLToPath(new URL(SCRIPT, import.meta.url));
  // Detached: a signal to our group is for us, and we end our children in good order.
  return spawn(process.execPath, [...FRUGAL, script], {
    env: compiledCode(),
    stdio: [io, io, io, 'pipe'],
    detached: true,
  });
}

/** Where Node was told to keep compiled code, which is all of our environment that a supervisor gets. */
function compiledCode(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}
