import { FetchError } from './fetch-error.ts';

/** A signal that aborts when somebody's time is up, or somebody else's signal does. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Aborts after `delayMs` unless stopped before. */
  start(delayMs: number, message: () => string): () => void;
  /** Forgets all times, and the other signal. */
  stop(): void;
}

/** Makes a deadline that nothing runs against yet. */
export function createDeadline(outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  // By hand: `AbortSignal.any` takes several times as long, which every request would pay.
  const follow = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', follow, { once: true });
  if (outer?.aborted === true) follow();
  return {
    signal: controller.signal,
    start(delayMs, message) {
      const timer = setTimeout(() => controller.abort(new FetchError('timeout', message())), delayMs);
      timers.push(timer);
      return () => clearTimeout(timer);
    },
    stop() {
      for (const timer of timers) clearTimeout(timer);
      outer?.removeEventListener('abort', follow);
    },
  };
}
