import type { Clock } from './ports/crib-context.ts';
import { type CallFacts, FACTS, type ToolCall } from './tool-call.ts';
import type { ToolSpec } from './tool-spec.ts';

/** A run whose executor knows better than the pipeline when it begins. */
export interface DeferredRun {
  /** Called right before something is handed to the transport. False: the call is over or has had its run, and nothing may be handed over. */
  begin(): boolean;
  /** Called where it is certain that nothing of what was begun last has been handed over. */
  takeBack(): void;
}

let begin: (runs: BegunRuns) => boolean;
let takeBack: (runs: BegunRuns) => void;
let countOf: (runs: BegunRuns) => number;
let end: (runs: BegunRuns) => void;
let limit: (runs: BegunRuns) => void;
let approve: (runs: BegunRuns) => void;
let isApproved: (runs: BegunRuns) => boolean;
let isFull: (runs: BegunRuns) => boolean;

/**
 * How many runs of a call have begun. A class with private members: the call is handed to tools, and what a tool answers
 * or does must not make a run look as if it had not begun. Only the functions of this file reach them.
 */
export class BegunRuns {
  /** When the call came in, in milliseconds since 1970. */
  readonly startedAt: number;
  #count = 0;
  #isOver = false;
  #most = Number.POSITIVE_INFINITY;
  #isApproved = false;
  constructor(startedAt: number) {
    this.startedAt = startedAt;
  }
  static {
    begin = (runs) => {
      if (runs.#isOver || runs.#count >= runs.#most) return false;
      runs.#count++;
      return true;
    };
    limit = (runs) => {
      runs.#most = 1;
    };
    approve = (runs) => {
      runs.#most = 1;
      runs.#isApproved = true;
    };
    isApproved = (runs) => runs.#isApproved;
    isFull = (runs) => runs.#count >= runs.#most;
    takeBack = (runs) => void runs.#count--;
    countOf = (runs) => runs.#count;
    end = (runs) => {
      runs.#isOver = true;
    };
  }
}

/** Facts of a call that comes in. They hold the count of its runs themselves, where no other can be put in its place. */
export function newFacts(startedAt: number): CallFacts {
  return new BegunRuns(startedAt);
}

/** A person said yes to the call: its tool may run once, whichever gate would repeat it. */
export function allowOneRun(call: ToolCall): void {
  approve(call[FACTS]);
}

/** True if a person said yes to the call. */
export function isUnderYes(call: ToolCall): boolean {
  return isApproved(call[FACTS]);
}

/** True if doing it twice does no more than doing it once. */
export function mayBeRepeated({ effects }: Pick<ToolSpec, 'effects'>): boolean {
  return effects.idempotent === true || effects.readOnly === true;
}

/** True if the call has had the one run that it may have. */
export function hasHadItsRun(call: ToolCall): boolean {
  return isFull(call[FACTS]);
}

/** Notes that the executor is entered; false if the call is over, or has had its run, and must not begin any more. */
export function beginRun(call: ToolCall): boolean {
  const runs = call[FACTS];
  if (!mayBeRepeated(call.spec)) limit(runs);
  if (!begin(runs)) return false;
  // Under a yes the tool must not be able to hang other facts on the call. Every other call is spared what that costs.
  if (isApproved(runs)) Object.preventExtensions(call);
  return true;
}

/** For executors of the crib: the run has not begun by entering the executor, but does when `begin` says so. */
export function deferRun(call: ToolCall): DeferredRun {
  const runs = call[FACTS];
  takeBack(runs);
  return { begin: () => begin(runs), takeBack: () => takeBack(runs) };
}

/** True if the tool of the call may have run. An error code does not say so: a tool can answer with any of them. */
export function hasBegun(call: Pick<ToolCall, typeof FACTS>): boolean {
  return countOf(call[FACTS]) > 0;
}

/** True if the tool has not begun; then it cannot begin any more, and another call may be made in the place of this one. */
export function endUnbegun(call: ToolCall): boolean {
  if (hasBegun(call)) return false;
  end(call[FACTS]);
  return true;
}

/** What times a call. All of it stands still while something holds it. */
export interface CallTime {
  holds: number;
  readonly timers: Set<CallTimer>;
}

interface CallTimer {
  pause(): void;
  resume(): void;
}

interface TimerOptions {
  readonly clock: Clock;
  readonly timeMs: number;
  onEnd(): void;
}

function timeOf(call: ToolCall): CallTime {
  const facts = call[FACTS];
  facts.time ??= { holds: 0, timers: new Set() };
  return facts.time;
}

/** Times a call; returns how to stop. Time in which the call is held does not count. */
export function startCallTimer(call: ToolCall, { clock, timeMs, onEnd }: TimerOptions): () => void {
  const time = timeOf(call);
  let leftMs = timeMs;
  let since = 0;
  let stopTimer: (() => void) | undefined;
  const timer: CallTimer = {
    pause() {
      stopTimer?.();
      stopTimer = undefined;
      leftMs -= clock.now() - since;
    },
    resume() {
      since = clock.now();
      stopTimer = clock.setTimer(Math.max(leftMs, 1), onEnd);
    },
  };
  time.timers.add(timer);
  if (time.holds === 0) timer.resume();
  return () => {
    time.timers.delete(timer);
    stopTimer?.();
  };
}

/** Lets the time of a call stand still, and that of the calls around it, which wait for it. Returns how to let it go on. */
export function holdCallTime(call: ToolCall): () => void {
  const held: CallTime[] = [];
  for (let one: ToolCall | undefined = call; one !== undefined; one = one.parent) held.push(timeOf(one));
  for (const time of held) {
    if (time.holds === 0) for (const timer of time.timers) timer.pause();
    time.holds++;
  }
  return () => {
    for (const time of held.splice(0)) {
      time.holds--;
      if (time.holds === 0) for (const timer of time.timers) timer.resume();
    }
  };
}
