import { endFurtherRuns, endUnbegun, mayBeRepeated } from '../core/begun-runs.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import {
  type Stop,
  type StopsInForce,
  type StoredStop,
  type StoredStops,
  stopInWords,
  stoppableOf,
  stoppedError,
  targetsOf,
} from '../core/ports/stored-stops.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { messageOf, ToolcribError, type ToolError, toolError } from '../core/tool-error.ts';
import { idleClock, oneAtATime } from '../system/clock.ts';

/** The stops in force in this process. */
export interface LiveStops extends StopsInForce {
  /** Reads the stops now. Rejects if the store cannot be read; the last known stops stay in force. */
  look(): Promise<readonly Stop[]>;
  /** Takes a stop into force at once. Returns the number of calls in flight that it ended here. */
  enforce(stop: StoredStop): number;
  /** Takes the end of a stop into force at once. */
  lift(target: string): void;
  close(): void;
}

/** Options for creating live stops. */
interface LiveStopsOptions {
  /** Undefined without a store: then stops hold in this process only. */
  readonly stored: Pick<StoredStops, 'list'> | undefined;
  /** True if something may have been stored. Nothing is read before, so that no store is created for it. */
  isStored(): boolean;
  /** The calls in flight that do not end synchronously. */
  running(): readonly ToolCall[];
  /** Ends a call in flight. */
  cancel(call: ToolCall, reason: ToolError): void;
  warn(message: string): void;
  readonly clock?: Clock;
}

/** Poll interval for stops of other processes. */
const LOOK_EVERY_MS = 500;

const NOT_READ = 'The emergency stops cannot be read from the store, so no tool is run. Try again later.';

/** Creates the stops in force. They are read at the first call, and every 500 ms from then on. */
export function createLiveStops(options: LiveStopsOptions): LiveStops {
  const { stored, isStored, warn, clock = idleClock } = options;
  const endCovered = createEnd(options);
  let known: ReadonlyMap<string, StoredStop> = new Map();
  let isKnown = stored === undefined;
  let hasWritten = false;

  const takeOver = (stops: readonly StoredStop[]): void => {
    const before = known;
    known = new Map(stops.map((stop) => [stop.target, stop]));
    for (const stop of stops) endCovered(stop, before.get(stop.target));
  };
  const read = async (): Promise<void> => {
    if (stored !== undefined && (hasWritten || isStored())) takeOver(await stored.list());
    isKnown = true;
  };
  const reading = readRegularly(read, { warn, clock });

  return {
    get isOpen() {
      return isKnown && known.size === 0;
    },
    get isKnown() {
      return isKnown;
    },
    covering: (call) => (known.size === 0 ? [] : targetsOf(call).flatMap((target) => known.get(target) ?? [])),
    async known() {
      try {
        if (!isKnown) await reading.now();
        return undefined;
      } catch (cause) {
        return toolError('unavailable', NOT_READ, { retryable: true, cause });
      }
    },
    async look() {
      if (stored !== undefined) await reading.now();
      return [...known.values()];
    },
    enforce(stop) {
      hasWritten = true;
      const before = known.get(stop.target);
      known = new Map([...known, [stop.target, stop]]);
      return endCovered(stop, before);
    },
    lift(target) {
      known = new Map([...known].filter(([stopped]) => stopped !== target));
    },
    close() {
      isKnown = true; // a closed crib refuses every call, for that reason
      reading.close();
    },
  };
}

interface Reading {
  readonly clock: Clock;
  warn(message: string): void;
}

/** Reads on request, never twice at a time, and regularly after the first request. A store that is not available is read again, without a warning. */
function readRegularly(read: () => Promise<void>, { warn, clock }: Reading) {
  let isClosed = false;
  let stopTimer: (() => void) | undefined;
  const inTurn = oneAtATime(read);
  const poll = async (): Promise<void> => {
    await inTurn().catch((cause) => {
      if (!(cause instanceof ToolcribError) && !isClosed)
        warn(`Reading the emergency stops failed: ${messageOf(cause)}`);
    });
    wait();
  };
  const wait = (): void => {
    if (!isClosed) stopTimer = clock.setTimer(LOOK_EVERY_MS, () => void poll());
  };
  return {
    /** Rejects if that fails. */
    async now(): Promise<void> {
      if (stopTimer === undefined) wait();
      await inTurn();
    },
    close(): void {
      isClosed = true;
      stopTimer?.();
    },
  };
}

/** Ends the calls in flight that a stop covers, and returns their number. `before` is the same stop as it was known before. */
function createEnd({ running, cancel }: Pick<LiveStopsOptions, 'running' | 'cancel'>) {
  return (stop: StoredStop, before: StoredStop | undefined): number => {
    const cancels = stop.cancelId !== undefined && stop.cancelId !== before?.cancelId;
    if (before !== undefined && !cancels) return 0;
    const covered = running().filter((call) => targetsOf(stoppableOf(call)).includes(stop.target));
    let count = 0;
    // Nested calls first: each gets its own reason, not that of the call around it.
    for (const call of covered.toSorted((a, b) => depthOf(b) - depthOf(a))) {
      const isUnbegun = endUnbegun(call);
      endFurtherRuns(call); // a retry would begin after the stop
      if (!isUnbegun && !cancels) continue;
      cancel(call, isUnbegun ? stoppedError(call.spec.name, [stop]) : cancelledError(call, stop));
      count++;
    }
    return count;
  };
}

function depthOf(call: ToolCall): number {
  return call.parent === undefined ? 0 : 1 + depthOf(call.parent);
}

/** The error of a call that was cancelled while its tool ran. */
function cancelledError({ spec }: ToolCall, stop: Stop): ToolError {
  const why = `"${spec.name}" was cancelled: stopped by the operator (${stopInWords(stop)}).`;
  if (mayBeRepeated(spec)) return toolError('cancelled', why);
  return toolError('unknown_outcome', `${why} It may have taken effect: check before you call it again.`);
}
