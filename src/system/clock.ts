import type { Clock } from '../core/ports/crib-context.ts';

/** The longest delay of setTimeout. With a longer one it would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The clock of the machine. */
export const systemClock: Clock = {
  // Monotonic: a correction of the wall clock must not reopen a rate limit or end a timeout early.
  now: () => performance.timeOrigin + performance.now(),
  setTimer(delayMs, task) {
    const timer = setTimeout(task, Math.min(delayMs, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/**
 * The later of the wall clock and the steady clock. If the wall clock is set back, nothing that has expired becomes valid
 * again. If the machine sleeps, which stops the steady clock, expiry still happens on time.
 */
export const laterClock: Clock = {
  now: () => Math.max(Date.now(), systemClock.now()),
  setTimer: systemClock.setTimer,
};

/** The clock for optional work: its timers do not keep the process alive. */
export const idleClock: Clock = {
  now: systemClock.now,
  setTimer(delayMs, task) {
    const timer = setTimeout(task, Math.min(delayMs, LONGEST_TIMER_MS)).unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Runs `work` on request, never twice at once. Requests during a run share the next run. It begins after they were made,
 * so it sees everything that they saw.
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

/** Repeats `work` with a pause of `delayMs` after each run. Does not keep the process alive. Returns a function that stops it. */
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

/** Waits for work that never rejects, at most `limitMs`. */
export async function waitAtMost(limitMs: number, work: Promise<void>, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopTimer = clock.setTimer(limitMs, resolve);
  await Promise.race([work, promise]);
  stopTimer();
}
