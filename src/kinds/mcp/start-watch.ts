import type { Clock } from '../../core/ports/crib-context.ts';
import type { SourceStatus } from '../../core/source.ts';
import type { ProgressWatch } from '../../system/processes/process-progress.ts';
import type { Family } from '../../system/processes/process-tree.ts';
import type { StartQueue } from '../../system/processes/start-queue.ts';
import { describeQuestion, lastLines, questionIn } from './last-words.ts';

/** What the first starts of all servers of a crib share. */
export interface SharedStarts {
  readonly queue: StartQueue;
  readonly progress: ProgressWatch;
}

/** What can be seen of a program from outside while it starts. */
export interface StartingProgram {
  readonly command: string;
  /** The program and what it started; undefined until it runs. */
  family(): Family | undefined;
  /** Calls the listener whenever it prints something; returns how to stop listening. */
  onOutput(listener: () => void): () => void;
  /** The end of what it printed besides messages, a line that has not ended included. */
  said(): string;
  /** What may help one that cannot reach the network, to be put behind other words. */
  networkHint(): string;
}

/** How far a start has come. */
export type StartPhase = 'waiting' | 'working' | 'silent';

/** How far a start has come, and what its program has printed. */
export interface StartReport {
  readonly phase: StartPhase;
  said(): string;
}

/** No start takes longer, whatever progress it shows. */
export const LONGEST_START_MS = 600_000;
/** A program that does nothing for so long gives its place to the next one. */
const SILENT_MS = 10_000;
/** A program that has asked something and does nothing for so long waits for the answer. */
const ASKING_MS = 2000;
const LOOK_MS = 1000;
/** A timer may end so much before the time that the clock then tells. */
const TIMER_MS = 1;

/** Options for watching a start. */
export interface StartWatchOptions {
  /** How long it may take; longer as long as it shows progress. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly progress: ProgressWatch;
  /** Called when it has shown no progress for a while, and when it does again. */
  onPhase(phase: StartPhase): void;
  /** Called once, when it has taken too long or cannot go on. */
  onOver(reason: string): void;
}

/** Watches one start, of one program or of several after each other. */
export interface StartWatch {
  follow(program: StartingProgram): void;
  stop(): void;
}

/** Begins to count at once. */
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

/** The first starts of a server, as its source shows them. */
export interface FirstStarts {
  onStart(report: StartReport): void;
  /** Told of each attempt. */
  attempt(opening: Promise<unknown>): void;
  status(): SourceStatus;
  /** Resolves when no attempt is under way that does something, and what it was made for is done. */
  installed(purpose: Promise<unknown> | undefined): Promise<unknown>;
}

/** Nothing is under way yet. */
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
      attempt = opening.catch(() => {}); // its failure is told elsewhere
    },
    status() {
      const reason = report === undefined ? undefined : describeStart(report);
      return { state: 'starting', ...(reason !== undefined && { reason }) };
    },
    installed: (purpose) => Promise.race([Promise.all([attempt, purpose]), quiet.promise]),
  };
}

/** What the owner should know about a start that is under way; undefined where there is nothing to say. */
export function describeStart({ phase, ...report }: StartReport): string | undefined {
  if (phase === 'waiting') return 'it waits for its turn, since other servers are being started';
  const lines = lastLines(report.said());
  const said = lines === '' ? undefined : `the last that it said: ${lines}`;
  if (phase === 'working') return said;
  return [`it is being started, and has done nothing for ${SILENT_MS / 1000} s`, said].filter(Boolean).join('; ');
}
