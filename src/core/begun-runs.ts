import type { Clock } from './ports/crib-context.ts';
import { type CallFacts, FACTS, type ToolCall } from './tool-call.ts';
import { toolError } from './tool-error.ts';
import type { ToolSpec } from './tool-spec.ts';

/** A run whose executor reports when it begins, instead of the pipeline. */
export interface DeferredRun {
  /** Call this right before handing something to the transport. False: the call has ended or has had its run; do not send anything. */
  begin(): boolean;
  /** Call this if it is certain that nothing of the last `begin` was sent. */
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
 * Counts the runs of a call that have begun. The members are private because tools get the call, and a tool must not
 * be able to make a run look as if it had not begun. Only the functions of this file reach them.
 */
export class BegunRuns {
  /** Start of the call in milliseconds since 1970. */
  readonly startedAt: number;
  /** True after the call has returned a result. */
  isOver = false;
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
    isFull = (runs) => runs.#isOver || runs.#count >= runs.#most;
    takeBack = (runs) => void runs.#count--;
    countOf = (runs) => runs.#count;
    end = (runs) => {
      runs.#isOver = true;
    };
  }
}

/** Creates the facts of a new call. The facts hold the run count themselves, so it cannot be replaced. */
export function newFacts(startedAt: number): CallFacts {
  return new BegunRuns(startedAt);
}

/** Marks the call as approved: its tool may run once, even if a gate repeats the call. */
export function allowOneRun(call: ToolCall): void {
  approve(call[FACTS]);
}

/** True if the call was approved. */
export function isUnderYes(call: ToolCall): boolean {
  return isApproved(call[FACTS]);
}

/** True if running the tool twice has the same effect as running it once. */
export function mayBeRepeated({ effects }: Pick<ToolSpec, 'effects'>): boolean {
  return effects.idempotent === true || effects.readOnly === true;
}

/** True if the tool of the call may not begin, or not again. */
export function hasHadItsRun(call: ToolCall): boolean {
  return isFull(call[FACTS]);
}

/** Counts the start of an executor; false if the call has ended or has had its run, so it must not start. */
export function beginRun(call: ToolCall): boolean {
  const runs = call[FACTS];
  if (!mayBeRepeated(call.spec)) limit(runs);
  if (!begin(runs)) return false;
  // Prevents the tool of an approved call from attaching other facts to it. Other calls skip this because it costs time.
  if (isApproved(runs)) Object.preventExtensions(call);
  return true;
}

/** For built-in executors: the run begins with `begin()`, not when the executor is entered. */
export function deferRun(call: ToolCall): DeferredRun {
  const runs = call[FACTS];
  takeBack(runs);
  return { begin: () => begin(runs), takeBack: () => takeBack(runs) };
}

/** True if the tool of the call may have run. The error code cannot tell: a tool can return any code. */
export function hasBegun(call: Pick<ToolCall, typeof FACTS>): boolean {
  return countOf(call[FACTS]) > 0;
}

/** How the call was answered without a run. Undefined if its tool has begun, whatever that tool wrote into the facts. */
export function replayOf(call: Pick<ToolCall, typeof FACTS>): CallFacts['replayed'] {
  const facts = call[FACTS];
  return countOf(facts) > 0 ? undefined : facts.replayed;
}

/** True if the tool has not begun. It then can no longer begin, so another call may replace this one. */
export function endUnbegun(call: ToolCall): boolean {
  if (hasBegun(call)) return false;
  endFurtherRuns(call);
  return true;
}

/** From now on the tool does not begin. A run that has begun goes on. */
export function endFurtherRuns(call: ToolCall): void {
  end(call[FACTS]);
}

/** The timers of a call. They pause while the call is held. */
export interface CallTime {
  holds: number;
  /** Rarely more than one. */
  readonly timers: CallTimer[];
}

interface TimerOptions {
  readonly clock: Clock;
  readonly timeMs: number;
  onEnd(): void;
}

/** A class for speed: almost every call that waits has one. */
class CallTimer {
  readonly #time: CallTime;
  readonly #options: TimerOptions;
  #leftMs: number;
  #since = 0;
  #stopTimer: (() => void) | undefined;

  constructor(time: CallTime, options: TimerOptions) {
    this.#time = time;
    this.#options = options;
    this.#leftMs = options.timeMs;
  }

  pause(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#leftMs -= this.#options.clock.now() - this.#since;
  }

  resume(): void {
    const { clock, onEnd } = this.#options;
    this.#since = clock.now();
    this.#stopTimer = clock.setTimer(Math.max(this.#leftMs, 1), onEnd);
  }

  end(): void {
    const { timers } = this.#time;
    if (timers.length === 1 && timers[0] === this) timers.length = 0;
    else if (timers.includes(this)) timers.splice(timers.indexOf(this), 1);
    this.#stopTimer?.();
  }
}

/** Starts a timer for the call; returns a function that stops it. Time while the call is held does not count. */
export function startCallTimer(call: ToolCall, options: TimerOptions): () => void {
  const time = timeOf(call);
  const timer = new CallTimer(time, options);
  time.timers.push(timer);
  if (time.holds === 0) timer.resume();
  return () => timer.end();
}

function timeOf(call: ToolCall): CallTime {
  const facts = call[FACTS];
  facts.time ??= { holds: 0, timers: [] };
  return facts.time;
}

/** Pauses the timers of a call and of the calls around it, which wait for it. Returns a function that resumes them. */
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

/** A question to a person in the middle of a call: the time of the call stands still, and the question ends with the call. */
export function openQuestion(asking: ToolCall): { readonly call: ToolCall; close(): void } {
  const goOn = holdCallTime(asking);
  const fork = asking.fork();
  const end = () => fork.abort(toolError('cancelled', 'The call that asked has ended.'));
  const facts = asking[FACTS];
  facts.questions ??= new Set();
  facts.questions.add(end);
  const close = () => {
    facts.questions?.delete(end);
    fork.release();
    goOn();
  };
  return { call: fork.call, close };
}

/** The call has answered: its tool no longer begins, and nothing hears the answers to what it still asks. */
export function endCall(call: ToolCall): void {
  const facts = call[FACTS];
  facts.isOver = true;
  end(facts);
  if (facts.questions !== undefined) for (const end of facts.questions) end();
}
