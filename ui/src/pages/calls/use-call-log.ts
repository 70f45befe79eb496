import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { api } from '../../api/client.ts';
import { useServerEvents } from '../../parts/live-events.ts';
import { type CallFilters, matches, toQuery } from './call-filters.ts';
import { createCallLog, type LogState } from './call-log.ts';
import type { CallRow } from './call-types.ts';

const PAGE = 200;
/** Events are taken in together, so that a busy log is painted a few times a second. */
const FLUSH_MS = 200;

/** Events that a paused log keeps; the oldest are dropped. */
const MOST_WAITING = 5000;

interface CallsAnswer {
  readonly calls: readonly CallRow[];
  readonly nextCursor?: string;
}

interface ShownLog extends LogState {
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  readonly error: Error | null;
  loadOlder(): void;
  showHeld(): void;
  reload(): void;
}

interface LogOptions {
  readonly filters: CallFilters;
  /** New calls are put on top; otherwise they wait behind a count. */
  readonly isFollowing: boolean;
  /** Nothing changes until the user goes on. */
  readonly isPaused: boolean;
}

/** The filtered log: pages of the server below, events of the server on top. */
export function useCallLog({ filters, isFollowing, isPaused }: LogOptions): ShownLog {
  const log = useMemo(createCallLog, []);
  const key = JSON.stringify(filters);
  const pages = usePages(log, key);
  const buffer = useRef<CallRow[]>([]);
  const mode = useRef({ filters, isFollowing, isPaused });
  mode.current = { filters, isFollowing, isPaused };
  useServerEvents(['calls', 'calls-started', 'reset', 'lost'], (name, data) => {
    if (name === 'reset' || name === 'lost') pages.reload();
    else buffer.current.push(toRow(name, data));
    if (buffer.current.length > MOST_WAITING) buffer.current.shift();
  });
  useEffect(() => {
    const timer = setInterval(() => {
      const { filters: wanted, isFollowing: onTop, isPaused: isStill } = mode.current;
      if (isStill || buffer.current.length === 0) return;
      const calls = buffer.current;
      buffer.current = [];
      log.receive(calls, { place: onTop ? 'top' : 'held', isWanted: (call) => matches(call, wanted) });
    }, FLUSH_MS);
    return () => clearInterval(timer);
  }, [log]);
  const state = useSyncExternalStore(log.subscribe, log.state);
  return { ...state, ...pages, showHeld: log.showHeld };
}

function toRow(name: string, data: unknown): CallRow {
  const row = data as CallRow; // the shape of the events
  return name === 'calls-started' ? { ...row, outcome: 'running' } : row;
}

/** The calls in flight are not in the list of recorded calls. */
async function readRunning(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<readonly CallRow[]> {
  if (query.status !== undefined || query.code !== undefined) return [];
  return (await api<CallsAnswer>('/api/calls', { query: { ...query, status: 'running' }, signal })).calls;
}

function usePages(log: ReturnType<typeof createCallLog>, key: string) {
  const [isLoading, setLoading] = useState(true);
  const [error, setError] = useState<Error | null>(null);
  const [cursor, setCursor] = useState<string | undefined>(undefined);
  const [turn, setTurn] = useState(0); // counts reloads
  const busy = useRef(false);
  const read = useCallback(
    async (after: string | undefined, signal: AbortSignal) => {
      busy.current = true;
      setLoading(true);
      try {
        const query = {
          ...toQuery(JSON.parse(key), Date.now()),
          limit: String(PAGE),
          ...(after !== undefined && { cursor: after }),
        };
        const [{ calls, nextCursor }, running] = await Promise.all([
          api<CallsAnswer>('/api/calls', { query, signal }),
          after === undefined ? readRunning(query, signal) : [],
        ]);
        if (signal.aborted) return;
        if (after === undefined) log.reset([...running, ...calls].sort((a, b) => Date.parse(b.at) - Date.parse(a.at)));
        else log.append(calls);
        setCursor(nextCursor);
        setError(null);
      } catch (cause) {
        if (!signal.aborted) setError(cause as Error); // api throws errors alone
      } finally {
        busy.current = false;
        if (!signal.aborted) setLoading(false);
      }
    },
    [log, key],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: a reload begins anew
  useEffect(() => {
    const controller = new AbortController();
    void read(undefined, controller.signal);
    return () => controller.abort();
  }, [read, turn]);
  return {
    isLoading,
    error,
    hasMore: cursor !== undefined,
    reload: useCallback(() => setTurn((before) => before + 1), []),
    loadOlder: () => {
      if (cursor !== undefined && !busy.current) void read(cursor, new AbortController().signal);
    },
  };
}
