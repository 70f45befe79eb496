import type { Clock } from '../core/ports/crib-context.ts';

/** The longest that setTimeout can wait; beyond it, it would not wait at all. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's time. */
export const systemClock: Clock = {
  // Monotonic: a corrected wall clock must not reopen a rate limit or end a timeout early.
  now: () => performance.timeOrigin + performance.now(),
  setTimer(delayMs, task) {
    const timer = setTimeout(task, Math.min(delayMs, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/**
 * The later of the two times the machine has. A wall clock that is set back reopens nothing that was over;
 * a machine that slept, which stops the steady clock, does not take what is over for valid.
 */
export const laterClock: Clock = {
  now: () => Math.max(Date.now(), systemClock.now()),
  setTimer: systemClock.setTimer,
};

/** The machine's time for what may as well not happen any more: its timers keep no process alive. */
export const idleClock: Clock = {
  now: systemClock.now,
  setTimer(delayMs, task) {
    const timer = setTimeout(task, Math.min(delayMs, LONGEST_TIMER_MS)).unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Runs `work` when asked, never twice at once. Whoever asks while it runs gets the run after that one, shared with all
 * others who do: it begins after they asked, so it sees what they saw.
 */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const run = (): Promise<void> => {
    const begun = work().finally(() => {
      if (running === begun) running = undefined;
    });
    running = begun;
    return begun;
  };
  return () => {
    if (running === undefined) return run();
    next ??= running.then(again, again);
    return next;
  };
  function again(): Promise<void> {
    next = undefined;
    return run();
  }
}

/** Does `work` every `delayMs`, counted from the end of the last time; keeps no process alive. Returns how to stop. */
export function repeat(delayMs: number, work: () => Promise<unknown>): () => void {
  let timer: NodeJS.Timeout;
  let isStopped = false;
  const wait = (): void => {
    if (!isStopped) timer = setTimeout(() => void work().then(wait, wait), delayMs).unref();
  };
  wait();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** Waits for work that never rejects, but no longer than `limitMs`. */
export async function waitAtMost(limitMs: number, work: Promise<void>, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopTimer = clock.setTimer(limitMs, resolve);
  await Promise.race([work, promise]);
  stopTimer();
}
