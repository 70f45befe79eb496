import type { Clock } from '../../core/ports/crib-context.ts';
import type { SourceStatus } from '../../core/source.ts';
import type { ProgressWatch } from '../../system/processes/process-progress.ts';
import type { Family } from '../../system/processes/process-tree.ts';
import type { StartQueue } from '../../system/processes/start-queue.ts';
import { describeQuestion, lastLines, questionIn } from './last-words.ts';

/** State shared by the first starts of all servers of a crib. */
export interface SharedStarts {
  readonly queue: StartQueue;
  readonly progress: ProgressWatch;
}

/** The visible state of a starting program. */
export interface StartingProgram {
  readonly command: string;
  /** The process and its descendants; undefined until it runs. */
  family(): Family | undefined;
  /** Calls the listener on each output; returns a function that stops listening. */
  onOutput(listener: () => void): () => void;
  /** The end of its output besides messages, including an unfinished line. */
  said(): string;
  /** A hint for a program that cannot reach the network, to append to a message. */
  networkHint(): string;
}

/** Progress of a start. */
export type StartPhase = 'waiting' | 'working' | 'silent';

/** Progress of a start, with the program's output. */
export interface StartReport {
  readonly phase: StartPhase;
  said(): string;
}

/** Upper limit of every start, whatever progress it shows. */
export const LONGEST_START_MS = 600_000;
/** A program that is idle for this long gives its place in the queue to the next one. */
const SILENT_MS = 10_000;
/** A program that printed a question and is idle for this long waits for the answer. */
const ASKING_MS = 2000;
const LOOK_MS = 1000;
/** Tolerance: a timer may fire this much before the clock shows its time. */
const TIMER_MS = 1;

/** Options for watching a start. */
export interface StartWatchOptions {
  /** Timeout; extended while the start shows progress. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly progress: ProgressWatch;
  /** Called when progress stops, and when it resumes. */
  onPhase(phase: StartPhase): void;
  /** Called once, when the start timed out or cannot continue. */
  onOver(reason: string): void;
}

/** Watches one start, of one program or of several in sequence. */
export interface StartWatch {
  follow(program: StartingProgram): void;
  stop(): void;
}

/** The timeout starts at once. */
export function watchStart({ timeoutMs, clock, progress, onPhase, onOver }: StartWatchOptions): StartWatch {
  const begunAt = clock.now();
  const latest = begunAt + Math.max(timeoutMs, LONGEST_START_MS);
  let movedAt = begunAt;
  let program: StartingProgram | undefined;
  let unwatch: (() => void) | undefined;
  let stopListening = () => {};
  let isSilent = false;
  let isStopped = false;
  let stopTimer = () => {};
  const stop = (): void => {
    isStopped = true;
    stopTimer();
    stopListening();
    unwatch?.();
  };
  const onProgress = (): void => {
    movedAt = clock.now();
    if (isSilent) onPhase('working');
    isSilent = false;
  };
  const deadline = (): number =>
    Math.min(latest, Math.max(begunAt + timeoutMs, movedAt + Math.min(SILENT_MS, timeoutMs)));

  const whyOver = (now: number): string | undefined => {
    const question = program !== undefined && now - movedAt >= ASKING_MS ? questionIn(program.said()) : undefined;
    if (program !== undefined && question !== undefined) return describeQuestion(question, program.command);
    if (now < deadline() - TIMER_MS) return undefined;
    const limitMs = now >= latest ? latest - begunAt : timeoutMs;
    return `it did not answer within ${limitMs} ms${program?.networkHint() ?? ''}`;
  };
  const look = (): void => {
    const now = clock.now();
    const family = unwatch === undefined ? program?.family() : undefined;
    if (family !== undefined) unwatch = progress.watch(family, onProgress);
    const reason = whyOver(now);
    if (reason !== undefined) {
      stop();
      onOver(reason);
      return;
    }
    if (!isSilent && now - movedAt >= SILENT_MS) {
      isSilent = true;
      onPhase('silent');
    }
    if (!isStopped) stopTimer = clock.setTimer(Math.max(1, Math.min(LOOK_MS, deadline() - now)), look);
  };
  stopTimer = clock.setTimer(Math.min(LOOK_MS, timeoutMs), look);
  return {
    follow(next) {
      unwatch?.();
      unwatch = undefined;
      stopListening();
      program = next;
      stopListening = next.onOutput(onProgress);
    },
    stop,
  };
}

/** The first starts of a server, as its source reports them. */
export interface FirstStarts {
  onStart(report: StartReport): void;
  /** Registers an attempt. */
  attempt(opening: Promise<unknown>): void;
  status(): SourceStatus;
  /** Resolves when the attempt and its purpose are done, or the attempt has gone silent. */
  installed(purpose: Promise<unknown> | undefined): Promise<unknown>;
}

export function createFirstStarts(): FirstStarts {
  let report: StartReport | undefined;
  let quiet = Promise.withResolvers<void>();
  let attempt: Promise<unknown> = Promise.resolve();
  return {
    onStart(next) {
      report = next;
      if (next.phase === 'waiting') quiet = Promise.withResolvers();
      if (next.phase === 'silent') quiet.resolve();
    },
    attempt(opening) {
      attempt = opening.catch(() => {}); // reported elsewhere
    },
    status() {
      const reason = report === undefined ? undefined : describeStart(report);
      return { state: 'starting', ...(reason !== undefined && { reason }) };
    },
    installed: (purpose) => Promise.race([Promise.all([attempt, purpose]), quiet.promise]),
  };
}

/** Describes a start in progress for the operator; undefined if a working start has printed nothing. */
export function describeStart({ phase, ...report }: StartReport): string | undefined {
  if (phase === 'waiting') return 'queued: other servers are starting';
  const lines = lastLines(report.said());
  const said = lines === '' ? undefined : `its last output: ${lines}`;
  if (phase === 'working') return said;
  return [`it is starting, but was idle for ${SILENT_MS / 1000} s`, said].filter(Boolean).join('; ');
}
