import { hasBegun } from '../core/begun-runs.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import type { AuditOutcome, AuditTrail } from '../core/ports/stored-audit.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import { messageOf } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';
import {
  type EndedCall,
  type EntryTimes,
  toCallEntry,
  toEndedCall,
  toGapEntry,
  toIntentEntry,
  toLostEntry,
  toManyEntry,
  toStopEntry,
} from './audit-entry.ts';
import { openAuditPlace, type PlaceOptions } from './chain-origin.ts';
import { type Cleaner, createCleaner } from './clean-texts.ts';
import { type DraftRow, toDraftRow } from './packed-rows.ts';
import { type QueuedRow, RowQueue } from './row-queue.ts';
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
    clock,
    idleClock,
    now,
    warn,
    write: writer.write,
    toRows: (queued) => {
      cleaner.forget();
      return queued.map((one) => toRowOrGap(one, cleaner));
    },
  });
  const floods = createFloods(times);
  let stopTimer: (() => void) | undefined;
  let closing: Promise<void> | undefined;

  const collect = (which: 'over' | 'all'): void => {
    for (const { first, ...counted } of floods.collect(which)) queue.push(toManyEntry(first, cleaner, counted));
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
      queue.push(toQueued(call, result, { times, cleaner }));
    },
    recordLost: (call) => queue.push(toLostEntry(call, Math.round(now()), cleaner)),
    recordStop: (change) => queue.push(toStopEntry(change, Math.round(now()), cleaner)),
    intend(call) {
      const facts = call[FACTS];
      facts.intents = (facts.intents ?? 0) + 1;
      return queue.commit(toIntentEntry(call, Math.round(now()), cleaner));
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

/** A row that waits must not hold much memory, so large arguments are hashed at once. */
function toQueued(
  call: ToolCall,
  result: ToolResult,
  { times, cleaner }: { readonly times: EntryTimes; readonly cleaner: Cleaner },
): QueuedRow {
  try {
    const ended = toEndedCall(call, result, times);
    return isSmall(ended.call.input) ? ended : toCallEntry(ended, cleaner);
  } catch {
    const at = Math.round(times.now());
    return toGapEntry(1, at, at); // a tool may have broken the members of its call
  }
}

/** A row that cannot be built must not block the rows behind it: it is recorded as lost. */
function toRowOrGap(queued: QueuedRow, cleaner: Cleaner): DraftRow {
  try {
    return toDraftRow('call' in queued ? toCallEntry(queued, cleaner) : queued);
  } catch {
    return toDraftRow(toGapEntry(1, queued.at, queued.at));
  }
}

/** Characters plus members. */
const SMALL = 2000;

/** True if the data is small; stops as soon as it is not. */
function isSmall(value: unknown): boolean {
  return roomLeft(value, SMALL) >= 0;
}

function roomLeft(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length;
  if (typeof value !== 'object' || value === null || room < 0) return room - 1;
  let left = room - 1;
  for (const key in value) {
    left = roomLeft((value as Record<string, unknown>)[key], left - key.length); // an enumerable key
    if (left < 0) return left;
  }
  return left;
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
  first: EndedCall | undefined;
  count: number;
  until: number;
}

/** Refusals that share one row. */
interface CountedCalls {
  readonly first: EndedCall;
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

function createFloods(times: EntryTimes): Floods {
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
