import type { Clock } from '../core/ports/ports.ts';

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
