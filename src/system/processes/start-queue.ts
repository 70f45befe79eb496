import { availableParallelism } from 'node:os';

/** Lets a few start at a time, in the order in which they came. */
export interface StartQueue {
  /** Resolves with how to leave when there is a place, or when `isUrgent` resolves; rejects when `signal` aborts. */
  enter(entering: Entering): Promise<LeavePlace>;
}

/** Gives a place back, so that the next can start; more than once does no harm. */
export type LeavePlace = () => void;

interface Entering {
  readonly signal: AbortSignal;
  /** Resolves when a caller waits for the start: then it does not wait for a place. */
  readonly isUrgent: Promise<unknown>;
}

/** As many places as there are cores, but two at least. */
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
