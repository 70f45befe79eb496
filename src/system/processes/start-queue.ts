import { availableParallelism } from 'node:os';

/** Limits how many starts run at a time, in order of arrival. */
export interface StartQueue {
  /** Resolves with a function that gives the place back, once a place is free or `isUrgent` resolves. Rejects when `signal` aborts. */
  enter(entering: Entering): Promise<LeavePlace>;
}

/** Gives the place back, so that the next can start. Calling it twice is harmless. */
export type LeavePlace = () => void;

interface Entering {
  readonly signal: AbortSignal;
  /** Resolves when a caller waits for this start, which then does not wait for a place. */
  readonly isUrgent: Promise<unknown>;
}

/** Creates a queue with one place per CPU core, at least two. */
export function createStartQueue(places: number = Math.max(2, availableParallelism())): StartQueue {
  const waiting = new Set<() => void>();
  let taken = 0;
  const admitNext = (): void => {
    for (const admit of waiting) {
      if (taken >= places) return;
      admit();
    }
  };
  const take = (): LeavePlace => {
    taken++;
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      taken--;
      admitNext();
    };
  };
  return {
    async enter({ signal, isUrgent }) {
      signal.throwIfAborted();
      if (taken < places) return take();
      const { promise, resolve, reject } = Promise.withResolvers<LeavePlace>();
      const admit = (): void => {
        if (waiting.delete(admit)) resolve(take());
      };
      const giveUp = (): void => {
        if (waiting.delete(admit)) reject(signal.reason);
      };
      waiting.add(admit);
      signal.addEventListener('abort', giveUp);
      isUrgent.then(admit, admit);
      return promise.finally(() => signal.removeEventListener('abort', giveUp));
    },
  };
}
