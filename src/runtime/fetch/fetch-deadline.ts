import { FetchError } from './fetch-error.ts';

/** A signal that aborts when somebody's time is up, or somebody else's signal does. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Aborts after `delayMs` unless stopped before. */
  start(delayMs: number, message: () => string): () => void;
  /** Forgets all times. */
  stop(): void;
}

/** Makes a deadline that nothing runs against yet. */
export function createDeadline(outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const timers = new Set<NodeJS.Timeout>();
  return {
    signal: outer === undefined ? controller.signal : AbortSignal.any([outer, controller.signal]),
    start(delayMs, message) {
      const timer = setTimeout(() => controller.abort(new FetchError('timeout', message())), delayMs);
      timers.add(timer);
      return () => clearTimeout(timer);
    },
    stop() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
