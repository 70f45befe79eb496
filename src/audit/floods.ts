import type { AuditOutcome } from '../core/ports/stored-audit.ts';
import type { ToolCall } from '../core/tool-call.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { type EndedCall, type EntryTimes, toEndedCall } from './audit-entry.ts';

/** Refusals that cost whoever makes them nothing, so that there may be any number of them. */
const CHEAP: ReadonlySet<AuditOutcome> = new Set<AuditOutcome>(['unknown_tool', 'rate_limited', 'unauthenticated']);
/** So many of one caller in one window have rows of their own. */
const OWN_ROWS = 20;
export const FLOOD_WINDOW_MS = 60_000;
/** Beyond so many callers they are counted together. */
const MAX_CALLERS = 1000;
const MAX_ID_LENGTH = 200;

interface Flood {
  readonly since: number;
  own: number;
  /** The first that got no row of its own. */
  first: EndedCall | undefined;
  count: number;
  until: number;
}

/** Refusals that are told in one row. */
interface CountedCalls {
  readonly first: EndedCall;
  readonly count: number;
  readonly until: number;
}

/** Counts refusals that come in masses, so that nobody can fill the store with them, or hide among them. */
export interface Floods {
  /** True if the refusal is counted, and gets no row of its own. */
  takes(call: ToolCall, result: ToolResult): boolean;
  /** True if some were counted and not collected yet. */
  isCounting(): boolean;
  /** What was counted in windows that are over, or in all. */
  collect(which: 'over' | 'all'): readonly CountedCalls[];
}

export function createFloods(times: EntryTimes): Floods {
  const floods = new Map<string, Flood>();
  const isOver = ({ since }: Flood): boolean => times.steadyNow() - since >= FLOOD_WINDOW_MS;
  const floodOf = (call: ToolCall, outcome: AuditOutcome): Flood => {
    const own = `${outcome} ${(call.caller.id ?? '').slice(0, MAX_ID_LENGTH)}`;
    const key = floods.has(own) || floods.size < MAX_CALLERS ? own : outcome;
    const known = floods.get(key);
    if (known !== undefined && (known.count > 0 || !isOver(known))) return known;
    const begun: Flood = { since: times.steadyNow(), own: 0, first: undefined, count: 0, until: 0 };
    floods.set(key, begun);
    return begun;
  };
  return {
    takes(call, result) {
      if (result.status !== 'failed' || !CHEAP.has(result.error.code)) return false;
      const outcome = result.error.code;
      const flood = floodOf(call, outcome);
      if (flood.own < OWN_ROWS) {
        flood.own++;
        return false;
      }
      flood.first ??= toEndedCall(call, result, times);
      flood.count++;
      flood.until = times.now();
      return true;
    },
    isCounting: () => floods.values().some(({ count }) => count > 0),
    collect(which) {
      const over = [...floods].filter(([, flood]) => which === 'all' || isOver(flood));
      for (const [key] of over) floods.delete(key);
      return over.flatMap(([, { first, count, until }]) => (first ? [{ first, count, until }] : []));
    },
  };
}
