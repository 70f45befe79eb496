import type { Clock } from '../core/ports.ts';

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
