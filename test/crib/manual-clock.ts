import { vi } from 'vitest';
import type { Clock } from '../../src/index.ts';

/** A clock that stands still until it is moved. */
export interface ManualClock extends Clock {
  advance(byMs: number): void;
  /** Number of pending timers. */
  count(): number;
}

export function manualClock(start = Date.now()): ManualClock {
  let now = start;
  const timers = new Map<object, { readonly at: number; readonly task: () => void }>();
  return {
    now: () => now,
    setTimer(delayMs, task) {
      const key = {};
      timers.set(key, { at: now + delayMs, task });
      return () => timers.delete(key);
    },
    advance(byMs) {
      now += byMs;
      for (const [key, { at, task }] of [...timers]) {
        if (at > now || !timers.delete(key)) continue;
        task();
      }
    },
    count: () => timers.size,
  };
}

/** The time that is stored, from now on: it stands still until it is moved. `vi.useRealTimers` ends it. */
export function stillTime(): (byMs: number) => void {
  vi.useFakeTimers({ toFake: ['Date'] });
  return (byMs) => void vi.setSystemTime(Date.now() + byMs);
}
