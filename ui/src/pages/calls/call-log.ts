import type { CallRow } from './call-types.ts';

/** The log as the page shows it. */
export interface LogState {
  /** Newest first. */
  readonly rows: readonly CallRow[];
  /** New calls that wait behind a count, newest first. */
  readonly held: readonly CallRow[];
}

/** Keeps the rows of the log: known rows are patched in place, new ones are held back or put on top. */
export interface CallLog {
  readonly state: () => LogState;
  subscribe(listener: () => void): () => void;
  /** Begins anew with a page of the server. */
  reset(rows: readonly CallRow[]): void;
  /** Adds an older page at the end. */
  append(rows: readonly CallRow[]): void;
  /** Takes calls from events, in the order in which they happened. */
  receive(calls: readonly CallRow[], how: Receiving): void;
  /** Puts the held calls on top. */
  showHeld(): void;
}

/** What becomes of calls that the log does not have yet. */
interface Receiving {
  readonly place: 'top' | 'held';
  /** True if the call belongs to the filtered log. */
  isWanted(call: CallRow): boolean;
}

/** Rows that the page keeps while it follows the log; older ones are loaded again when the user scrolls to them. */
const MOST_ROWS = 5000;

export function createCallLog(): CallLog {
  let state: LogState = { rows: [], held: [] };
  const listeners = new Set<() => void>();
  const set = (next: LogState) => {
    state = next;
    for (const listener of listeners) listener();
  };
  return {
    state: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reset: (rows) => set({ rows: mergeRows(rows), held: [] }),
    append: (rows) => set({ ...state, rows: mergeRows([...state.rows, ...rows]) }),
    receive(calls, { place, isWanted }) {
      const news = new Map(calls.map((call) => [call.callId, call]));
      for (const call of calls) news.set(call.callId, patch(news.get(call.callId), call));
      const rows = patchAll(state.rows, news);
      const held = patchAll(state.held, news);
      const fresh = [...news.values()].filter(isWanted).reverse();
      if (fresh.length === 0 && rows === state.rows && held === state.held) return;
      if (place === 'top') set({ rows: [...fresh, ...held, ...rows].slice(0, MOST_ROWS), held: [] });
      else set({ rows, held: [...fresh, ...held].slice(0, MOST_ROWS) });
    },
    showHeld: () => set({ rows: [...state.held, ...state.rows].slice(0, MOST_ROWS), held: [] }),
  };
}

/** Replaces the rows that have news, and takes those out of the news. The list stays the same object if nothing changed. */
function patchAll(rows: readonly CallRow[], news: Map<string, CallRow>): readonly CallRow[] {
  if (news.size === 0) return rows;
  let patched: CallRow[] | undefined;
  for (const [place, row] of rows.entries()) {
    const change = news.get(row.callId);
    if (change === undefined) continue;
    news.delete(row.callId);
    patched ??= [...rows];
    patched[place] = patch(row, change);
    if (news.size === 0) break;
  }
  return patched ?? rows;
}

/** A call that has ended is never running again: events may arrive in another order. */
function patch(before: CallRow | undefined, change: CallRow): CallRow {
  if (before === undefined || before === change) return change;
  if (change.outcome === 'running' && before.outcome !== 'running' && before.outcome !== 'waiting') return before;
  const waited = before.outcome === 'waiting' ? { waitedMs: Date.parse(change.at) - Date.parse(before.at) } : {};
  return { ...before, ...change, ...waited };
}

/** One row for each call: a call that waited for an approval has two rows in the audit log. */
export function mergeRows<Row extends Pick<CallRow, 'callId' | 'outcome' | 'at'>>(
  rows: readonly Row[],
): readonly (Row & Pick<CallRow, 'waitedMs'>)[] {
  const places = new Map<string, number>();
  const merged: (Row & Pick<CallRow, 'waitedMs'>)[] = [];
  for (const row of rows) {
    const place = places.get(row.callId);
    const newer = place === undefined ? undefined : merged[place];
    if (place === undefined || newer === undefined) {
      places.set(row.callId, merged.length);
      merged.push(row);
    } else if (row.outcome === 'waiting')
      merged[place] = { ...newer, waitedMs: Date.parse(newer.at) - Date.parse(row.at) };
  }
  return merged;
}
