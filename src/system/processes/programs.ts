import type { ChildProcess } from 'node:child_process';
import { createBytePieces } from '../byte-pieces.ts';
import { createOutputTail } from './child-output.ts';
import {
  createGuardedSpawn,
  type Guarded,
  type GuardedSpawn,
  NO_GROUP,
  reasonOf,
  signalGroup,
} from './guarded-spawn.ts';
import type { ProcessSweep } from './process-tree.ts';

/** A program that is run for its output, without a shell. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Its complete environment; see `childEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  /** Input for stdin; none if absent. */
  readonly stdin?: string | undefined;
  /** Output limit for each of stdout and stderr. */
  readonly maxBytes: number;
  /** True if everything it starts ends with it and with this process, as in a PID namespace. */
  readonly isContained: boolean;
}

/** The result of a program, or the reason why it could not be started. */
export type ProgramEnd =
  | (ProgramOutput & {
      readonly kind: 'ended';
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
    })
  | { readonly kind: 'failed'; readonly reason: string };

/** A running program. */
export interface RunningProgram {
  /** Never rejects. After `stop` it resolves when nothing of the program is left. */
  readonly ended: Promise<ProgramEnd>;
  /** Sends SIGTERM to the program and everything it started, and SIGKILL after `graceMs`. */
  stop(graceMs?: number): void;
}

/** The programs of this process: short ones, many at a time. */
export interface Programs {
  run(program: Program): RunningProgram;
  /** Ends running programs, and whatever others left behind. */
  close(): Promise<void>;
}

const GRACE_MS = 1000;
/** After the program ended, its outputs may stay open this long; then the processes that hold them are killed. */
const LINGER_MS = 100;

/** Creates a runner for short programs. */
export function createPrograms(): Programs {
  const guarded = createGuardedSpawn();
  const running = new Set<RunningProgram>();
  return {
    run(program) {
      const begun = start(program, guarded);
      if ('reason' in begun) return { ended: Promise.resolve({ kind: 'failed', reason: begun.reason }), stop() {} };
      const started = attend(begun, program, guarded.sweep);
      running.add(started);
      started.ended.then(() => {
        running.delete(started);
        guarded.ended(begun);
      });
      return started;
    },
    async close() {
      const last = [...running];
      for (const { stop } of last) stop(0);
      await Promise.all(last.map(({ ended }) => ended));
      await guarded.close();
    },
  };
}

function start({ stdin, maxBytes: _, ...program }: Program, guarded: GuardedSpawn): ReturnType<GuardedSpawn['start']> {
  const input = stdin === undefined ? 'ignore' : 'pipe';
  // Detached: it leads its own process group, which can be ended as a whole.
  const begun = guarded.start({ ...program, stdio: [input, 'pipe', 'pipe'], detached: true });
  if ('reason' in begun) return begun;
  begun.child.stdin?.on('error', () => {}); // the program need not read its input
  begun.child.stdin?.end(stdin);
  return begun;
}

/** Follows a program to its end. */
function attend({ child, family }: Guarded, { isContained, maxBytes }: Program, sweep: ProcessSweep): RunningProgram {
  const { promise: ended, resolve } = Promise.withResolvers<ProgramEnd>();
  let isStopped = child.pid === undefined;
  let linger: NodeJS.Timeout | undefined;

  const stop = (graceMs: number = GRACE_MS): void => {
    if (isStopped) return;
    isStopped = true;
    // A contained program cannot be signalled through its group; it ends with its leader.
    if (graceMs === 0) signalGroup(child, 'SIGKILL');
    else if (!isContained) signalGroup(child, 'SIGTERM');
    sweep.end(family, { graceMs, spared: isContained ? child.pid : undefined }).then(finish);
  };
  const output = collectOutput(child, maxBytes, () => stop(0));
  const settle = (): void => {
    const { exitCode: code, signalCode: signal } = child;
    resolve({ kind: 'ended', code, signal, ...output() });
  };
  const finish = (): void => {
    clearTimeout(linger);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    if (child.exitCode === null && child.signalCode === null) child.once('exit', settle);
    else settle();
  };
  child.on('error', (cause) => {
    if (child.pid === undefined) resolve({ kind: 'failed', reason: reasonOf(cause) });
  });
  child.on('exit', () => {
    if (isStopped) return;
    if (!isContained) signalGroup(child, 'SIGKILL'); // processes it left behind
    // A delayed event loop runs timers before it reads pending output, so it reads once more before stopping.
    linger = setTimeout(() => setImmediate(stop, 0), LINGER_MS);
  });
  child.on('close', () => {
    if (isStopped) return;
    isStopped = true;
    if (!isContained) sweep.later({ ...family, groupId: NO_GROUP }); // by now, the group id may belong to another process
    finish();
  });
  return { ended, stop };
}

/** The output of a program. */
interface ProgramOutput {
  readonly stdout: Buffer;
  /** The end of stderr. */
  readonly stderr: string;
  /** True if stdout or stderr exceeded the limit. */
  readonly saidTooMuch: boolean;
}

/** Reads both outputs up to the limit. Returns a function that gives the output so far. */
function collectOutput(child: ChildProcess, maxBytes: number, onTooMuch: () => void): () => ProgramOutput {
  const pieces = createBytePieces();
  const tail = createOutputTail();
  let saidTooMuch = false;
  const bounded = (keep: (chunk: Buffer) => void) => {
    let bytes = 0;
    return (chunk: Buffer): void => {
      bytes += chunk.length;
      if (saidTooMuch) return;
      if (bytes <= maxBytes) {
        keep(chunk);
        return;
      }
      saidTooMuch = true;
      pieces.take(); // it will not be used
      onTooMuch();
    };
  };
  const { stdout, stderr } = child;
  stdout?.on('data', bounded(pieces.add));
  stderr?.on('data', bounded(tail.add));
  for (const stream of [stdout, stderr]) stream?.on('error', () => {}); // the program has ended
  return () => ({ stdout: pieces.take(), stderr: tail.text(), saidTooMuch });
}
