import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) now = Date.now();
  timer ??= setInterval(() => {
    now = Date.now();
    for (const tell of listeners) tell();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time by a clock that all parts of the page share. It ticks once a second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** How long ago, in the words of a list: now, 12 s ago, 4 min ago, 3 h ago, 2 d ago. */
function toRelative(at: number, since: number): string {
  const seconds = Math.round((since - at) / 1000);
  if (seconds < 2) return 'now';
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** A time to read: 16 Nov 2026, 18:04:05. */
export function toAbsolute(at: number): string {
  return Number.isNaN(at)
    ? 'unknown'
    : new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
}

/** A time relative to now; the absolute one is shown on hover. */
export function RelativeTime({ at }: { readonly at: string }) {
  const since = useNow();
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={toAbsolute(time)}>
      {toRelative(time, since)}
    </time>
  );
}

/** A duration: 0.4 ms, 12 ms, 1.2 s, 3 min 5 s. */
export function toDuration(ms: number): string {
  if (ms < 0.05) return '0 ms';
  if (ms < 1) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
}
