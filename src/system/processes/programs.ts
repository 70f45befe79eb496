import type { ChildProcess } from 'node:child_process';
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

/** A program that is run for its output. No shell reads any of it. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** All of its environment; see `childEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  /** What it can read; without it there is nothing to read. */
  readonly stdin?: string | undefined;
  /** How much it may say, on each of its outputs. */
  readonly maxBytes: number;
  /** True if all it starts ends with it and with this process by itself, as in a namespace of their own. */
  readonly isContained: boolean;
}

/** How it ended, or why it could not be started. */
export type ProgramEnd =
  | (ProgramOutput & {
      readonly kind: 'ended';
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
    })
  | { readonly kind: 'failed'; readonly reason: string };

/** A program that runs. */
export interface RunningProgram {
  /** Never rejects. After `stop` it resolves when nothing of the program is left. */
  readonly ended: Promise<ProgramEnd>;
  /** Asks it and all it started to end, and forces them after `graceMs`. */
  stop(graceMs?: number): void;
}

/** Programs of this process: short ones, many at a time. */
export interface Programs {
  run(program: Program): RunningProgram;
  /** Ends those that run, and whatever others left behind. */
  close(): Promise<void>;
}

const GRACE_MS = 1000;
/** How long the outputs of a program that has ended may stay open before it is looked who holds them. */
const LINGER_MS = 100;

/** Short programs that run for their output. */
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
  // Detached: it leads a group of its own, which can be ended as one.
  const begun = guarded.start({ ...program, stdio: [input, 'pipe', 'pipe'], detached: true });
  if ('reason' in begun) return begun;
  begun.child.stdin?.on('error', () => {}); // it need not read what it is given
  begun.child.stdin?.end(stdin);
  return begun;
}

/** Stays with a program to its end. */
function attend({ child, family }: Guarded, { isContained, maxBytes }: Program, sweep: ProcessSweep): RunningProgram {
  const { promise: ended, resolve } = Promise.withResolvers<ProgramEnd>();
  let isStopped = child.pid === undefined;
  let linger: NodeJS.Timeout | undefined;

  const stop = (graceMs: number = GRACE_MS): void => {
    if (isStopped) return;
    isStopped = true;
    // What is contained cannot be asked through its group; it ends with whoever leads it.
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
    if (!isContained) signalGroup(child, 'SIGKILL'); // whoever it left behind
    // A loop that was held up comes to its timers before it has read what is waiting: it reads once more, then it is late.
    linger = setTimeout(() => setImmediate(stop, 0), LINGER_MS);
  });
  child.on('close', () => {
    if (isStopped) return;
    isStopped = true;
    if (!isContained) sweep.later({ ...family, groupId: NO_GROUP }); // by now the group may be somebody else's
    finish();
  });
  return { ended, stop };
}

/** What a program said. */
interface ProgramOutput {
  readonly stdout: Buffer;
  /** The end of it. */
  readonly stderr: string;
  /** More than it may, on one of the two. */
  readonly saidTooMuch: boolean;
}

/** Reads both outputs up to the bound; what it returns tells what was read so far. */
function collectOutput(child: ChildProcess, maxBytes: number, onTooMuch: () => void): () => ProgramOutput {
  const chunks: Buffer[] = [];
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
      chunks.length = 0; // nobody will get it
      onTooMuch();
    };
  };
  const { stdout, stderr } = child;
  stdout?.on(
    'data',
    bounded((chunk) => void chunks.push(chunk)),
  );
  stderr?.on('data', bounded(tail.add));
  for (const stream of [stdout, stderr]) stream?.on('error', () => {}); // whoever said it is gone
  return () => ({ stdout: Buffer.concat(chunks), stderr: tail.text(), saidTooMuch });
}
