import type { Clock } from '../core/ports/ports.ts';

/** Counts work that has begun, so that closing can wait for it. */
export interface InFlight {
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when nothing is under way any more, or after `limitMs`. */
  drained(limitMs: number): Promise<void>;
}

export function createInFlight(clock: Clock): InFlight {
  let count = 0;
  let onIdle: (() => void) | undefined;
  const leave = () => {
    count--;
    if (count === 0) onIdle?.();
  };
  return {
    track(work) {
      count++;
      work.then(leave, leave);
      return work;
    },
    drained(limitMs) {
      if (count === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const stopTimer = clock.setTimer(limitMs, resolve);
        onIdle = () => {
          stopTimer();
          resolve();
        };
      });
    },
  };
}
