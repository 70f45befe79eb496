import { hasBegun } from '../core/begun-runs.ts';
import type { AuditTrail } from '../core/ports/audit-trail.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import type { AuditOutcome, DraftRow } from '../core/ports/stored-audit.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import { messageOf } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { type EntryTimes, toCallRow, toIntentRow, toLostRow, toManyRow, toStopRow } from './audit-entry.ts';
import { openAuditPlace, type PlaceOptions } from './chain-origin.ts';
import { createCleaner } from './clean-texts.ts';
import { RowQueue } from './row-queue.ts';
import { createRowWriter } from './row-writer.ts';

export interface AuditTrailOptions extends PlaceOptions {
  readonly clock: Clock;
  /** A clock whose timers do not keep the process alive. */
  readonly idleClock: Clock;
  redact(text: string): string;
}

/** An audit log that can be flushed and closed. */
export interface OpenAuditTrail extends AuditTrail {
  /** Resolves when everything recorded so far is written; rejects if that fails. */
  flush(): Promise<void>;
  /** Flushes, then writes a checkpoint. */
  seal(): Promise<void>;
  /** True if something was recorded. */
  isUsed(): boolean;
  /** The public key of this process if its key cannot be stored. */
  passingKey(): string | undefined;
  /** Writes the remaining rows, seals the chain and releases it. */
  close(): Promise<void>;
}

/** Creates the audit log of a crib. Opens and creates nothing before the first call. */
export function createAuditTrail(options: AuditTrailOptions): OpenAuditTrail {
  const { clock, idleClock, now, warn } = options;
  const cleaner = createCleaner(options.redact);
  const times = { steadyNow: clock.now, now };
  const writer = createRowWriter({ ...options, open: () => openAuditPlace(options) });
  const queue = new RowQueue({
    ...options,
    write: (packed) => {
      cleaner.forget(); // new secrets may be known
      return writer.write(packed);
    },
  });
  const toRow = (call: ToolCall, result: ToolResult): DraftRow =>
    toCallRow(call, result, { times, cleaner, maxText: queue.maxText() });
  const floods = createFloods(times, toRow);
  let stopTimer: (() => void) | undefined;
  let closing: Promise<void> | undefined;

  const collect = (which: 'over' | 'all'): void => {
    for (const { first, ...counted } of floods.collect(which)) queue.push(toManyRow(first, counted));
  };
  const watchFloods = (): void => {
    stopTimer ??= idleClock.setTimer(FLOOD_WINDOW_MS, () => {
      stopTimer = undefined;
      collect('over');
      if (floods.isCounting()) watchFloods();
    });
  };
  const close = async (): Promise<void> => {
    stopTimer?.();
    collect('all');
    await queue.flush().catch(() => undefined); // the warning below reports it
    const missing = queue.close();
    if (missing > 0) warn(`${missing} rows of the audit log could not be written and are lost.`);
    await writer.close().catch((cause) => warn(`The audit log could not be sealed: ${messageOf(cause)}`));
  };

  return {
    record(call, result) {
      if (floods.takes(call, result)) return watchFloods();
      queue.push(toRow(call, result));
    },
    recordLost: (call) => queue.push(toLostRow(call, Math.round(now()), cleaner)),
    recordStop: (change) => queue.push(toStopRow(change, Math.round(now()), cleaner)),
    intend(call) {
      const facts = call[FACTS];
      facts.intents = (facts.intents ?? 0) + 1;
      return queue.commit(toIntentRow(call, Math.round(now()), cleaner));
    },
    room: () => queue.room(),
    keepFor: writer.keepFor,
    flush: () => queue.flush(),
    async seal() {
      await queue.flush();
      await writer.seal();
    },
    isUsed: () => queue.isUsed(),
    passingKey: writer.passingKey,
    backlog: () => queue.backlog(),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Refusals that cost the caller nothing, so there may be any number of them. */
const CHEAP: ReadonlySet<AuditOutcome> = new Set<AuditOutcome>(['unknown_tool', 'rate_limited', 'unauthenticated']);

function isCheap(call: ToolCall, outcome: AuditOutcome): boolean {
  return CHEAP.has(outcome) || (call[FACTS].isStopped === true && !hasBegun(call));
}

/** Number of refusals per caller and window with rows of their own. */
const OWN_ROWS = 20;
const FLOOD_WINDOW_MS = 60_000;
/** Beyond this many callers, refusals are counted together. */
const MAX_CALLERS = 1000;
const MAX_ID_LENGTH = 200;

interface Flood {
  readonly since: number;
  own: number;
  /** The first refusal without a row of its own. */
  first: DraftRow | undefined;
  count: number;
  until: number;
}

/** Refusals that share one row. */
interface CountedCalls {
  readonly first: DraftRow;
  readonly count: number;
  readonly until: number;
}

/** Counts masses of refusals, so that a caller can neither fill the store with them nor hide among them. */
interface Floods {
  /** True if the refusal was counted and gets no row of its own. */
  takes(call: ToolCall, result: ToolResult): boolean;
  /** True if some are counted and not collected yet. */
  isCounting(): boolean;
  /** The counts of ended windows, or of all windows. */
  collect(which: 'over' | 'all'): readonly CountedCalls[];
}

function createFloods(times: EntryTimes, toRow: (call: ToolCall, result: ToolResult) => DraftRow): Floods {
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
      if (result.status !== 'failed' || !isCheap(call, result.error.code)) return false;
      const outcome = result.error.code;
      const flood = floodOf(call, outcome);
      if (flood.own < OWN_ROWS) {
        flood.own++;
        return false;
      }
      flood.first ??= toRow(call, result);
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
