import type { Clock } from '../core/ports/ports.ts';

/** Waits for work that never rejects, but no longer than `limitMs`. */
export async function waitAtMost(limitMs: number, work: Promise<void>, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopTimer = clock.setTimer(limitMs, resolve);
  await Promise.race([work, promise]);
  stopTimer();
}
